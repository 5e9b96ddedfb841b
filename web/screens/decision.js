// A decision: which rule decided, capability by capability; its inputs and how they differ from another's; replayed and judged again.
import {useState} from "preact/hooks";
import {ask, job} from "../lib/api.js";
import {html} from "../lib/html.js";
import {back, link, useKeys} from "../lib/page.js";
import {useResource} from "../lib/resource.js";
import {When} from "../lib/time.js";
import {Loading, ProblemBox} from "../parts/load.js";
import {CopyId, Id, StateSign, Text, Words} from "../parts/marks.js";
import {Crumb, Inputs} from "../parts/story.js";

// ---- The decisions that were recorded, newest first.

export function Decisions() {
  const load = useResource("/v1/decisions?limit=100");
  const items = load.data?.items;
  return html`<div class="head"><h1 tabindex="-1">Decisions</h1><p>Known by their inputs: the same inputs are the same decision.</p></div><${Loading} of=${load} />
    ${items?.length === 0 && html`<p class="card empty">Nothing was decided yet.</p>`}
    ${items?.length > 0 && html`<div class="tbl"><table class="rowlist"><thead><tr><th scope="col">Decision</th><th scope="col">Package</th><th scope="col">Catalog</th><th scope="col">Engine</th><th scope="col">First made</th></tr></thead><tbody>${items.map((one) => html`
      <tr key=${one.id}><td><a class="l" href=${link("decisions", one.id)}><${Id} of=${one.id} short=${true} /></a></td><td data-k="Package"><${Id} of=${one.packageDigest} short=${true} /></td><td data-k="Catalog"><${Id} of=${one.catalogDigest} short=${true} /></td><td data-k="Engine">${one.engineRevision}</td><td data-k="First made"><${When} at=${one.createdAt} /></td></tr>`)}</tbody></table></div>`}`;
}

function Rule({data: {words}}) {
  if (!words) return null;
  return html`<section class=${`state t-${words.tone}`}><div class="hd"><${StateSign} state=${words} /><h2 tabindex="-1"><${Text} of=${words.headline} /></h2></div>${words.detail && html`<p><${Words} of=${words.detail} /></p>`}</section>`;
}

const Step = ({step}) => html`<div class=${step.met ? "rule-row met" : "rule-row"}><code>${step.row}</code><span><${Text} of=${step.asks} /> <b><${Text} of=${step.answer} /></b>: <${Words} of=${step.because} /></span></div>`;

function Trace({trace}) {
  const [open, setOpen] = useState(false);
  const before = trace.filter((step) => !step.met);
  return html`${before.length > 0 && html`<div class="rule-row"><button class="ta" aria-expanded=${open} onClick=${() => setOpen(!open)}>${before.length === 1 ? "row" : "rows"} ${before[0].row}${before.length > 1 ? `–${before.at(-1).row}` : ""} didn’t apply (${open ? "hide" : "show"})</button></div>`}
    ${trace.filter((step) => step.met || open).map((step) => html`<${Step} key=${step.row} step=${step} />`)}`;
}

const Said = ({state}) => html`<span class=${`v t-${state.tone}`}><${StateSign} state=${state} /><${Text} of=${state.headline} /></span>`;

function CapabilityRow({one}) {
  return html`<tr><td data-k="as written"><${Id} of=${one.asWritten} /></td><td data-k="read as"><${Id} of=${one.capability ?? "unsafe text"} />${one.nearest && html` <span class="faint">closest known: <${Id} of=${one.nearest} /></span>`}</td><td data-k="class"><${Text} of=${one.classWords} /></td>
    <td data-k="rule">${one.rule} <span class="faint"><${Text} of=${one.because} /></span></td><td data-k="covered by"><${Text} of=${one.coverage} /> ${one.coveredBy && html`<${Id} of=${one.coveredBy} short=${true} />`}</td><td data-k="verdict"><${Said} state=${one.verdict} />${one.prohibitedBy && html`<span class="m">by <${Text} of=${one.prohibitedBy} /></span>`}</td></tr>`;
}

const Capabilities = ({rows}) => html`<div class="scroll"><table class="rowlist"><thead><tr>${["as written", "read as", "class", "rule", "covered by", "verdict"].map((name) => html`<th key=${name} scope="col">${name}</th>`)}</tr></thead>
  <tbody>${rows.map((one, at) => html`<${CapabilityRow} key=${at} one=${one} />`)}</tbody></table></div>`;

function Requirement({one}) {
  return html`<section class="card"><div class="sec"><h2><${Text} of=${one.mcpId || "unknown server"} /></h2><p><${Text} of=${one.requirementKey} />, <${Text} of=${one.level} />, for <${Text} of=${one.agent} />, <code><${Text} of=${one.pointer} /></code></p><${Said} state=${one.operatorState} /></div><${Trace} trace=${one.trace} /><${Capabilities} rows=${one.capabilities} /></section>`;
}

function Subtasks({rows}) {
  if (!rows.length) return null;
  return html`<section class="card"><div class="sec"><h2>Subtasks</h2></div>${rows.map((one, at) => html`<div key=${at} class="rule-row"><code>${at + 1}</code><span><${Text} of=${one.subtaskId} /> uses <${Text} of=${one.requirementKey || "no requirement"} />: <${Text} of=${one.when} /></span></div>`)}<${Capabilities} rows=${rows} /></section>`;
}

/** The decision before this one of the same package. */
function useBefore({id, places}) {
  const of = places[0]?.packageId;
  const items = useResource(of ? `/v1/decisions?package=${encodeURIComponent(of)}&limit=500` : null).data?.items ?? [];
  const at = items.findIndex((one) => one.id === id);
  return at >= 0 ? items[at + 1]?.id : null;
}

function InputList({data, other}) {
  const {inputs} = data;
  const before = useBefore(data);
  return html`<section class="card"><div class="sec"><h2>Inputs</h2>${other && html`<p>that differ from <a href=${link("decisions", other)}><${Id} of=${other} short=${true} /></a></p>`}
    ${other ? html`<a href=${link("decisions", data.id)}>All inputs</a>` : before && html`<a href=${link("decisions", data.id, {with: before})}>Differences only</a>`}</div><div class="pad">
    ${other ? (data.changedInputs.length ? html`<div class="diff"><${Inputs} of=${data.changedInputs} /></div>` : html`<p>The same inputs.</p>`) : html`<dl class="kv"><dt>Contract</dt><dd>${inputs.contractVersion}, engine ${inputs.engineRevision}</dd><dt>Catalog</dt><dd><${CopyId} of=${inputs.catalogDigest} /></dd><dt>Package</dt><dd><${CopyId} of=${inputs.packageDigest} /></dd>
      <dt>Health</dt><dd>${Object.entries(inputs.health).map(([id, row]) => html`<p key=${id}><${Text} of=${id} />: ${row.observed ? row.status.replaceAll("_", " ") : "not observed"}</p>`)}</dd>
      <dt>Grants</dt><dd>${Object.entries(inputs.grants).map(([id, row]) => html`<p key=${id}><${Text} of=${id} />: ${row.phase} <span class="faint">${row.source}</span></p>`)}</dd><dt>Prompt text</dt><dd>${inputs.prompt.length || "none"}</dd></dl>`}</div></section>`;
}

/** Replay and judge again: what came of it, said in place. */
function Trials({data}) {
  const [said, setSaid] = useState(null);
  const [problem, setProblem] = useState(null);
  const attempt = (promise, tell) => { setSaid("…"); setProblem(null); promise.then((answer) => setSaid(tell(answer)), (fault) => { setSaid(null); setProblem(fault); }); };
  const replay = () => attempt(ask("POST", `/v1/decisions/${data.id}/replay`), (answer) => (answer.same ? "Same bytes: replayed with its own catalog, it came out as recorded." : `Another result: ${answer.resultDigest.replayed} in place of ${answer.resultDigest.recorded}.`));
  const again = () => attempt(job("POST", "/v1/rejudge", {decisionId: data.id}, () => {}), (answer) => (answer.result.counts.changed ? `The catalog of now decides otherwise. ${[...answer.result.changes, ...answer.result.reasons].map((one) => one.wordsAfter.headline).join(" ")}` : "The catalog of now decides the same."));
  return html`<div class="acts plan-acts"><button class="btn lg" onClick=${replay}>Replay</button><button class="btn lg" onClick=${again}>Judge again</button>${said && html`<span role="status"><${Text} of=${said} /></span>`}</div><${ProblemBox} problem=${problem} />`;
}

/** Where it was made: the last place, the others when they are asked for. */
function Places({places}) {
  const [open, setOpen] = useState(false);
  const shown = open ? places : places.slice(0, 1);
  return html`${shown.map((one, at) => html`<span key=${at}><b>${one.surface[0].toUpperCase()}${one.surface.slice(1)}</b> <${When} at=${one.at} />${one.packageId && html`, <a href=${link("packages", one.packageId)}><${Text} of=${one.label} /></a> in <a href=${link("tasks", one.task)}><${Text} of=${one.task} /></a>`}</span>`)}
    ${places.length > shown.length && html`<button class="ta" onClick=${() => setOpen(true)}>${places.length - 1} more</button>`}`;
}

export function Decision({id, query}) {
  const other = query.with;
  const load = useResource(`/v1/decisions/${encodeURIComponent(id)}${other ? `?with=${encodeURIComponent(other)}` : ""}`, {live: false});
  useKeys({Escape: back});
  const data = load.data;
  if (!data) return html`<h1 tabindex="-1" class="big">Decision <${Id} of=${id} short=${true} /></h1><${Loading} of=${load} />`;
  return html`<${Crumb} steps=${[["Decisions", "#/decisions"]]} /><div class="title"><h1 class="big" tabindex="-1">Decision <${Id} of=${id} short=${true} /></h1></div><div class="meta"><${CopyId} of=${data.id} /><${Places} places=${data.places} /><span>First made <${When} at=${data.createdAt} /></span></div>
    <${Rule} data=${data} /><${Trials} data=${data} />${data.requirements.map((one) => html`<${Requirement} key=${one.requirementKey} one=${one} />`)}<${Subtasks} rows=${data.subtasks} /><${InputList} data=${data} other=${other} />`;
}
