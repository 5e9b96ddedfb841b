// The chained log: searched, exported, checked.
import {useState} from "preact/hooks";
import {get, job} from "../lib/api.js";
import {download} from "../lib/download.js";
import {words} from "../lib/events.js";
import {html} from "../lib/html.js";
import {useResource} from "../lib/resource.js";
import {link, setQuery} from "../lib/page.js";
import {Loading, ProblemBox} from "../parts/load.js";
import {Id, Quote, Sign, Text} from "../parts/marks.js";
import {When} from "../lib/time.js";

const FILTERS = ["project", "task", "package", "actor", "type"];
const FILES_ROWS = 500;

const hrefOf = (query, more) => `/v1/audit?${new URLSearchParams({...Object.fromEntries(FILTERS.filter((name) => query[name]).map((name) => [name, query[name]])), ...more})}`;

function subject(row) {
  if (row.package) return link("packages", row.package);
  return row.task ? link("tasks", row.task) : row.project ? link("projects", row.project) : null;
}

function Row({row}) {
  const say = words(row);
  const where = subject(row);
  return html`<tr><td data-k="Number">${row.sequence}</td><td data-k="Time"><${When} at=${row.at} /></td><td data-k="Who"><${Text} of=${row.actor?.principal ?? "the daemon"} /></td><td data-k="Did"><span class="v"><${Sign} name=${say.sign} tone=${say.tone} /><${Text} of=${say.head} /></span></td>
    <td data-k="On">${where ? html`<a href=${where}><${Id} of=${row.package ?? row.task ?? row.project} short=${true} /></a>` : html`<${Id} of=${row.subject?.id} short=${true} />`}</td><td data-k="Decision">${row.decisionId && html`<a href=${link("decisions", row.decisionId)}><${Id} of=${row.decisionId} short=${true} /></a>`}</td><td data-k="Reason"><${Quote} of=${row.payload?.reason} /></td></tr>`;
}

function Filters({query}) {
  const [draft, setDraft] = useState(query);
  const submit = (event) => { event.preventDefault(); setQuery(draft); };
  return html`<form onSubmit=${submit} role="search" aria-label="The log">${FILTERS.map((name) => html`<input key=${name} aria-label=${name} placeholder=${name} value=${draft[name] ?? ""} onInput=${(event) => setDraft({...draft, [name]: event.target.value.trim()})} />`)}<button class="btn">Search</button></form>`;
}

function Verify() {
  const [said, setSaid] = useState(null);
  const [problem, setProblem] = useState(null);
  const verify = () => { setSaid("Checking…"); setProblem(null); job("GET", "/v1/audit/verify", undefined, () => {}).then(({result}) => setSaid(result), (fault) => { setSaid(null); setProblem(fault); }); };
  return html`<button class="btn" onClick=${verify}>Verify</button>${said && html`<span role="status" class="v">${said.rows === undefined ? said : html`<${Sign} name=${said.ok ? "ok" : "plan"} tone=${said.ok ? "green" : "red"} />${said.ok ? `Chain whole to ${said.head.sequence}` : `Broken: ${said.faults.length} faults`}`}</span>`}<${ProblemBox} problem=${problem} />`;
}

/** Every page of what is searched for, as JSON lines. */
async function exportLines(query) {
  let next = hrefOf(query, {limit: String(FILES_ROWS)});
  const lines = [];
  while (next) {
    const page = await get(next);
    lines.push(...page.items.map((row) => JSON.stringify(row)));
    next = page.next;
  }
  download("admitd-log.jsonl", "application/x-ndjson", `${lines.join("\n")}\n`);
}

export function Log({query}) {
  const [cursor, setCursor] = useState(null);
  const load = useResource(cursor ?? hrefOf(query, {limit: "100"}));
  const [problem, setProblem] = useState(null);
  const items = load.data?.items;
  return html`<div class="head"><h1 tabindex="-1">Log</h1><p>Who did what, chained: a changed row breaks the chain.</p></div>
    <div class="bar"><${Filters} query=${query} /><span class="sp"></span><button class="btn" onClick=${() => exportLines(query).catch(setProblem)}>Export</button><${Verify} /></div><${ProblemBox} problem=${problem} /><${Loading} of=${load} />
    ${items?.length === 0 && html`<p class="card empty">Nothing matches. <a href=${link("log")}>Clear filters</a></p>`}
    ${items?.length > 0 && html`<div class="tbl"><table class="rowlist log"><thead><tr>${["Number", "Time", "Who", "Did", "On", "Decision", "Reason"].map((name) => html`<th key=${name} scope="col">${name}</th>`)}</tr></thead><tbody>${items.map((row) => html`<${Row} key=${row.sequence} row=${row} />`)}</tbody></table></div>
      <div class="bar pad">${cursor && html`<button class="btn" onClick=${() => setCursor(null)}>From the start</button>`}${load.data.next && html`<button class="btn" onClick=${() => setCursor(load.data.next)}>Next 100</button>`}</div>`}`;
}
