// What is known: every capability of the catalog, one explained, and what another catalog would change.
import {useEffect, useState} from "preact/hooks";
import {ask, get} from "../lib/api.js";
import {html} from "../lib/html.js";
import {useResource} from "../lib/resource.js";
import {link, setQuery} from "../lib/page.js";
import {Loading, ProblemBox} from "../parts/load.js";
import {Id, Sign, StateSign, Text, Words} from "../parts/marks.js";

function Explained({name}) {
  const [found, set] = useState({});
  useEffect(() => { if (name) get(`/v1/capabilities/${encodeURIComponent(name)}`).then((data) => set({data}), (problem) => set({problem})); }, [name]);
  if (!name) return null;
  if (!found.data) return html`<${ProblemBox} problem=${found.problem} />`;
  const {data} = found;
  return html`<dl class="kv pad" aria-live="polite"><dt>Read as</dt><dd><${Id} of=${data.capability} /></dd><dt>Class</dt><dd><b>${data.class.replaceAll("_", " ")}</b> by rule ${data.rule}: <${Words} of=${data.because} /></dd><dt>Owner</dt><dd>${data.owner ?? "none"}</dd>
    ${data.nearest && html`<dt>Closest known</dt><dd><button class="ta" onClick=${() => setQuery({capability: data.nearest})}><${Id} of=${data.nearest} /></button></dd>`}${data.spellings.length > 0 && html`<dt>Spellings</dt><dd>${data.spellings.join(", ")}</dd>`}</dl>`;
}

function Explain({query}) {
  const [text, setText] = useState(query.capability ?? "");
  const submit = (event) => { event.preventDefault(); setQuery({capability: text.trim()}); };
  return html`<section class="card"><div class="sec"><h2>Explain a capability</h2></div><div class="bar pad"><form onSubmit=${submit} style=${{flex: 1}}><input aria-label="Capability" placeholder="github.issues.read" style=${{flex: "1 1 128px", maxWidth: "40ch"}} value=${text} onInput=${(event) => setText(event.target.value)} /><button class="btn">Explain</button></form></div><${Explained} name=${query.capability} /></section>`;
}

function Change({one: {decisionId, label, project, wordsBefore, wordsAfter}}) {
  const same = wordsBefore.headline === wordsAfter.headline;
  const side = (words) => html`<div class="v"><${StateSign} state=${words} /><span><${Text} of=${words.headline} />${same && html`<span class="m"><${Words} of=${words.detail} /></span>`}</span></div>`;
  return html`<tr><td data-k="Package"><a class="l" href=${link("decisions", decisionId)}>${label ? html`<${Text} of=${label} />` : html`<${Id} of=${decisionId} short=${true} />`}</a><span class="m"><${Text} of=${project} /></span></td><td data-k="Now">${side(wordsBefore)}</td><td data-k="Then">${side(wordsAfter)}</td></tr>`;
}

const ChangeList = ({list}) => list.length > 0 && html`<table class="rowlist"><thead><tr><th scope="col">Package</th><th scope="col">Now</th><th scope="col">Then</th></tr></thead><tbody>${list.map((one) => html`<${Change} key=${one.decisionId} one=${one} />`)}</tbody></table>`;

function Changes({answer}) {
  const {counts, changes, reasons} = answer.decisions;
  return html`<div class="pad" role="status"><p><b>${counts.outcomes} of ${counts.judged} decisions would change.</b> ${counts.notKept ? `${counts.notKept} can't be judged: their documents aren't kept.` : ""}</p>
    <p class="muted">Capabilities: ${answer.changes.capabilities.added.length} added, ${answer.changes.capabilities.removed.length} removed, ${answer.changes.capabilities.reclassified.length} in another class.</p>
    <${ChangeList} list=${changes} />${counts.reasons > 0 && html`<details><summary>${counts.reasons} more keep their outcome, for another reason</summary><${ChangeList} list=${reasons} /></details>`}</div>`;
}

function Compare() {
  const [answer, setAnswer] = useState(null);
  const [problem, setProblem] = useState(null);
  const read = async (event) => {
    const file = event.target.files[0];
    event.target.value = "";
    if (!file) return;
    setAnswer(null);
    setProblem(null);
    await file.text().then((text) => ask("PUT", "/v1/catalog?dryRun=true", {body: text})).then(setAnswer, setProblem);
  };
  return html`<section class="card"><div class="sec"><h2>What would other rules change?</h2><p>Nothing is replaced.</p></div><div class="pad"><label class="btn">Compare a file…<input class="hid" type="file" accept=".json,application/json" onChange=${read} /></label></div><${ProblemBox} problem=${problem} />${answer && html`<${Changes} answer=${answer} />`}</section>`;
}

/** [[sign, tone, name, what it is]] of a server, each name once: what comes first here decides there too. */
const known = (id, server) => listed(id, server).filter(([, , name], at, all) => all.findIndex((one) => one[2] === name) === at);

const listed = (id, server) => [...server.runtime.capabilities.map((name) => ["ok", "green", name, "safe read"]), ...server.safeReadSupplement.map((name) => ["ok", "green", name, "safe read, supplement"]),
  ...server.planningOnly.map((name) => ["text", "neutral", name, "planning only"]), ...Object.entries(server.deferred).flatMap(([resource, list]) => list.map((verb) => ["later", "slate", `${id}.${resource}.${verb}`, "live, not offered yet"])),
  ...Object.entries(server.aliases).map(([name, to]) => ["again", "neutral", name, `short for ${to}`])];

function Server({id, server, text}) {
  const rows = known(id, server).filter(([, , name]) => name.includes(text));
  return rows.length > 0 && html`<section class="card"><div class="sec"><h2><${Text} of=${server.displayName} /></h2><p><code>${id}</code> <${Words} of=${server.description} /></p></div><ul class="known pad">
    ${rows.map(([sign, tone, name, is]) => html`<li key=${name} class="v"><${Sign} name=${sign} tone=${tone} /><button class="ta" onClick=${() => setQuery({capability: name})}><code>${name}</code></button><span class="faint">${is}</span></li>`)}</ul></section>`;
}

function Catalog({mcps}) {
  const [text, setText] = useState("");
  const servers = Object.entries(mcps);
  const isNone = !servers.some(([id, server]) => known(id, server).some(([, , name]) => name.includes(text)));
  return html`<div class="bar pad"><label>Only names with${" "}<input value=${text} onInput=${(event) => setText(event.target.value.trim().toLowerCase())} /></label>${isNone && html`<span role="status">No name has this.</span>`}</div>
    ${servers.map(([id, server]) => html`<${Server} key=${id} id=${id} server=${server} text=${text} />`)}`;
}

export function Rules({query}) {
  const load = useResource("/v1/catalog", {live: false});
  return html`<div class="head"><h1 tabindex="-1">Rules</h1><p>The catalog: what is known, and as what. What isn't listed fails closed.</p></div><div class="grid2"><${Explain} key=${query.capability} query=${query} /><${Compare} /></div><${Loading} of=${load} />
    ${load.data && html`<${Catalog} mcps=${load.data.mcps} />`}`;
}
