// The chained log, newest first: searched, exported, checked.
import {useEffect, useState} from "preact/hooks";
import {job, request} from "../lib/api.js";
import {download} from "../lib/download.js";
import {html} from "../lib/html.js";
import {useResource} from "../lib/resource.js";
import {link, setQuery} from "../lib/page.js";
import {Loading, ProblemBox} from "../parts/load.js";
import {Id, Quote, Sign, StateSign, Text} from "../parts/marks.js";
import {When} from "../lib/time.js";

const FIELDS = ["project", "task", "package", "actor"];
const TYPES = ["audit.trimmed", "catalog.replaced", "due.recorded", "grant.recorded", "health.changed", "hold.changed", "hold.cleared", "hold.opened", "package.status",
  "project.changed", "run.claimed", "run.ended", "store.restored", "surface.approval", "surface.handoff", "surface.preview", "task.status", "token.issued", "token.revoked"];
const FILTERS = [...FIELDS, "type", "from", "to"];
const PAGE = 100;

const filtersOf = (query) => Object.fromEntries(FILTERS.filter((name) => query[name]).map((name) => [name, query[name]]));
const hrefOf = (query, more) => `/v1/audit?${new URLSearchParams({...filtersOf(query), ...more})}`;
const newest = (query, limit) => hrefOf(query, {order: "newest", limit});

function On({row}) {
  const [screen, id] = row.package ? ["packages", row.package] : row.task ? ["tasks", row.task] : ["projects", row.project];
  return id ? html`<a href=${link(screen, id)}><${Text} of=${row.label ?? id} /></a>` : html`${row.subject.kind} <${Id} of=${row.subject.id} short=${true} />`;
}

function Row({row}) {
  const {words} = row;
  return html`<tr><td><${When} at=${row.at} /></td><td><${Text} of=${row.actor?.principal ?? "the daemon"} /></td><td><span class="v"><${StateSign} state=${words} /><span><${Text} of=${words.headline} />${words.detail && html`<span class="m"><${Text} of=${words.detail} /></span>`}</span></span></td>
    <td data-k="On"><${On} row=${row} /></td><td data-k="Decision">${row.decisionId && html`<a href=${link("decisions", row.decisionId)}><${Id} of=${row.decisionId} short=${true} /></a>`}</td><td data-k="Reason"><${Quote} of=${words.quote?.text} /></td></tr>`;
}

function Verify() {
  const [said, setSaid] = useState(null);
  const [problem, setProblem] = useState(null);
  const verify = () => { setSaid("Checking…"); setProblem(null); job("GET", "/v1/audit/verify", undefined, () => {}).then(({result}) => setSaid(result), (fault) => { setSaid(null); setProblem(fault); }); };
  return html`<button type="button" class="btn" onClick=${verify}>Verify</button>${said && html`<span role="status" class="v">${said.rows === undefined ? said : html`<${Sign} name=${said.ok ? "ok" : "plan"} tone=${said.ok ? "green" : "red"} />${said.ok ? `Chain whole to ${said.head.sequence}` : `Broken: ${said.faults.length} faults`}`}</span>`}<${ProblemBox} problem=${problem} />`;
}

/** All that is searched for, as the daemon's own lines. */
async function exportLines(query) {
  const answer = await request("GET", hrefOf(query), {headers: {Accept: "application/x-ndjson"}});
  download("admitd-log.jsonl", "application/x-ndjson", await answer.text());
}

function Filters({query, setProblem}) {
  const [draft, setDraft] = useState(query);
  const submit = (event) => { event.preventDefault(); setQuery(draft); };
  const change = (name) => (event) => setDraft({...draft, [name]: event.target.value.trim()});
  return html`<form onSubmit=${submit} role="search" aria-label="The log">${FIELDS.map((name) => html`<label key=${name}>${name}<input value=${draft[name] ?? ""} onInput=${change(name)} /></label>`)}
    <label>type<select onChange=${change("type")}><option value="">any</option>${TYPES.map((type) => html`<option key=${type} selected=${draft.type === type}>${type}</option>`)}</select></label><button class="btn">Search</button>
    <button type="button" class="btn" onClick=${() => exportLines(query).catch(setProblem)}>Export</button><${Verify} /></form>`;
}

/** A page of rows that stays as it is while it is read; whether newer ones have come. */
function usePage(query, cursor) {
  const load = useResource(cursor ?? newest(query, PAGE), {live: false});
  const last = useResource(cursor ? null : newest(query, 1)).data?.items[0];
  const had = Boolean(load.data);
  useEffect(() => { if (had) load.reload(); }, []);
  return {load, isOld: Boolean(last && load.data && last.sequence > (load.data.items[0]?.sequence ?? 0))};
}

function Rows({query}) {
  const [cursors, setCursors] = useState([]);
  const {load, isOld} = usePage(query, cursors.at(-1));
  const items = load.data?.items;
  return html`<${Loading} of=${load} />${isOld && html`<div class="bar"><button class="fresh" onClick=${load.reload}>Show newer rows</button></div>`}
    ${items?.length === 0 && html`<p class="card empty">Nothing matches. <a href=${link("log")}>Clear filters.</a></p>`}
    ${items?.length > 0 && html`<div class="tbl"><table class="rowlist log"><thead><tr>${["Time", "Who", "Did what", "On what", "Decision", "Reason"].map((name) => html`<th key=${name} scope="col">${name}</th>`)}</tr></thead><tbody>${items.map((row) => html`<${Row} key=${row.sequence} row=${row} />`)}</tbody></table></div>
      <div class="bar pad">${cursors.length > 0 && html`<button class="btn" onClick=${() => setCursors(cursors.slice(0, -1))}>Newer</button>`}${load.data.next && html`<button class="btn" onClick=${() => setCursors([...cursors, load.data.next])}>Older</button>`}</div>`}`;
}

export function Log({query}) {
  const [problem, setProblem] = useState(null);
  const key = hrefOf(query);
  return html`<div class="head"><h1 tabindex="-1">Log</h1><p>Who did what, chained: a changed row breaks the chain.${query.from && html` From <${When} at=${query.from} /> to <${When} at=${query.to} />.`} ${Object.keys(filtersOf(query)).length > 0 && html`<a href=${link("log")}>Clear filters</a>`}</p></div>
    <div class="bar"><${Filters} key=${key} query=${query} setProblem=${setProblem} /></div><${ProblemBox} problem=${problem} /><${Rows} key=${key} query=${query} />`;
}
