// What a package shows: its state, what it asks for, one decision in three places, its run.
import {admitctl, curl, newKey} from "../lib/acting.js";
import {html} from "../lib/html.js";
import {copy, link} from "../lib/page.js";
import {useResource} from "../lib/resource.js";
import {Age, When} from "../lib/time.js";
import {countText} from "./action_dialog.js";
import {ActionRow} from "./actions.js";
import {CopyId, Id, Quote, StateSign, Text, Words} from "./marks.js";
import {Inputs, parts} from "./story.js";

// ---- The state in which something is, with the daemon's words, since when, and what frees it.

const Opening = ({title, lines}) => html`<div><h3>${title}</h3><ul>${lines.map((line, at) => html`<li key=${at}>${line.sign ? html`<${StateSign} state=${line} /><div><${Text} of=${line.text} /></div>` : html`<span><${Text} of=${line.text} /></span>`}</li>`)}</ul></div>`;

const Opens = ({opens}) => opens && html`<div class="opensbox"><${Opening} title="Approve once opens" lines=${opens.lines.once} /><${Opening} title="Always allow opens" lines=${opens.lines.always} /></div>`;

export function StatePanel({state, since, actions, about, opens, note}) {
  return html`<section class=${`state t-${state.tone}`} aria-labelledby="state"><div class="hd"><${StateSign} state=${state} /><h2 id="state" tabindex="-1"><${Text} of=${state.headline} /></h2>
    ${since && html`<span class="since">Held for <${Age} since=${since} />, since <${When} at=${since} /></span>`}</div>
    <p><${Words} of=${state.body} /></p>${note}${actions?.length > 0 && html`<${ActionRow} actions=${actions} about=${about} />`}<${Opens} opens=${opens} /></section>`;
}

// ---- What a package asks for: each requirement with its capabilities, how they reach the agent, and the verdict in the daemon's words.

function Requirement({of, decisionId}) {
  return html`<tr class="req"><th colspan="4" scope="rowgroup"><b><${Text} of=${of.mcpId || "unknown server"} /></b>, <${Text} of=${of.level} />, for <${Text} of=${of.agent} />. ${of.goesOnWithout ? "Goes on without it" : "Can’t go on without it"}</th></tr>
    ${of.capabilities.map((one, at) => html`<${Capability} key=${at} one=${one} decisionId=${decisionId} />`)}`;
}

function Capability({one, decisionId}) {
  return html`<tr><td><${Id} of=${one.capability ?? one.asWritten} /></td><td class="muted"><${Text} of=${one.reaches} /></td><td><span class=${`v t-${one.verdict.tone}`}><${StateSign} state=${one.verdict} /><${Text} of=${one.verdict.headline} /></span></td>
    <td class="nw"><a href=${link("decisions", decisionId)} aria-label=${`Why ${one.capability}`}>Why</a></td></tr>`;
}

const Subtasks = ({of, decisionId}) => of.map((one, at) => html`${one.subtaskId !== of[at - 1]?.subtaskId && html`<tr class="req"><th colspan="4" scope="rowgroup"><b>Subtask</b> <${Text} of=${one.subtaskId} />, for <${Text} of=${one.agent} /></th></tr>`}
  <${Capability} key=${at} one=${one} decisionId=${decisionId} />`);

export function Asks({decision: {id, requirements, subtasks}, foot}) {
  const count = requirements.reduce((sum, one) => sum + one.capabilities.length, 0);
  const tasks = new Set(subtasks.map((one) => one.subtaskId)).size;
  return html`<section class="card"><div class="sec"><h2>What it asks for</h2><p>${countText(requirements.length, "requirement")}, ${countText(count, "capability", "capabilities")}, ${countText(tasks, "subtask")}</p><a href=${link("decisions", id)}>Explain the decision</a></div>
    <table class="caps"><colgroup><col class="c-cap" /><col class="c-reach" /><col /><col class="c-why" /></colgroup><thead><tr><th scope="col">Capability</th><th scope="col">Reaches the agent as</th><th scope="col">Verdict</th><th><span class="hid">Why</span></th></tr></thead>
    <tbody>${requirements.map((one) => html`<${Requirement} key=${one.requirementKey} of=${one} decisionId=${id} />`)}<${Subtasks} of=${subtasks} decisionId=${id} /></tbody></table>${foot}</section>`;
}

// ---- One decision, three places: the same id is a solid line, another a dashed one, with what changed in between.

const PLACES = [["preview", "Preview"], ["approval", "Approval"], ["handoff", "Handoff"]];

const digest = (id) => id.replace("sha256:", "").slice(0, 8).replace(/(....)/, "$1 ");

function Place({label, event, before, next}) {
  if (!event) return html`<div class=${next ? "void other" : "void last"}><b>${label}</b><em>not yet</em></div>`;
  const turned = before && before.decisionId !== event.decisionId;
  const line = next ? (next.decisionId === event.decisionId ? "same" : "other") : "last";
  return html`<div class=${turned ? `turn ${line}` : line}><b>${label}</b><a href=${link("decisions", event.decisionId)}><code>${digest(event.decisionId)}</code></a>
    <em><${When} at=${event.at} />${event.changed?.status === "blocked" ? ", blocked" : event.surface === "approval" && html`, by <${Text} of=${event.actor?.principal} />`}</em></div>`;
}

function between(events) {
  return PLACES.slice(1).map(([surface, label], at) => ({from: PLACES[at][1], to: label, inputs: events[surface]?.changed?.changedInputs ?? []})).filter((one) => one.inputs.length);
}

/** The latest event of each surface. */
export function latest(events) {
  const found = {};
  for (const event of events) if (event.surface) found[event.surface] = event;
  return found;
}

export function Track({events}) {
  const at = latest(events);
  if (!Object.keys(at).length) return null;
  const list = PLACES.map(([surface]) => at[surface]);
  return html`<section class="card ident" aria-label="One decision, three places"><h2>One decision, three places</h2>
    <div class="track">${PLACES.map(([surface, label], k) => html`<${Place} key=${surface} label=${label} event=${list[k]} before=${list[k - 1]} next=${list[k + 1]} />`)}</div>
    ${between(at).map((one) => html`<div class="diff" key=${one.to}><p>${countText(one.inputs.flatMap(parts).length, "input")} changed between ${one.from.toLowerCase()} and ${one.to.toLowerCase()}</p><${Inputs} of=${one.inputs} /></div>`)}</section>`;
}

// ---- A package's run: who has it, until when, what it was given.

function Packet({packet}) {
  if (!packet) return null;
  return html`<dt>Packet</dt><dd>${packet.bytes} bytes, ${packet.included} included, ${packet.omitted} left out</dd>`;
}

export function RunCard({id}) {
  const run = useResource(id && `/v1/runs/${id}`).data;
  if (!run) return null;
  return html`<section class="card"><div class="sec"><h2>Its run</h2><p>attempt ${run.attempt}</p></div><dl class="kv pad"><dt>Id</dt><dd><${CopyId} of=${run.id} /></dd>
    <dt>Claimed</dt><dd><${When} at=${run.claimedAt} /> by <${Text} of=${run.claimedBy?.principal} /> ${run.worker && html`on <${Text} of=${run.worker} />`}</dd>
    ${run.lease && html`<dt>Lease</dt><dd>until <${When} at=${run.lease.expiresAt ?? run.lease.until ?? run.claimedAt} /></dd>`}
    <dt>Given</dt><dd>${Object.keys(run.grants ?? {}).length} grant${Object.keys(run.grants ?? {}).length === 1 ? "" : "s"}</dd><${Packet} packet=${run.packet ?? run.context} />
    ${run.outcome && html`<dt>Outcome</dt><dd>${run.outcome} <${Quote} of=${run.summary} /></dd>`}</dl></section>`;
}

// ---- The first action as a command.

export function TerminalLine({action}) {
  const command = action && admitctl(action, action.body);
  if (!command) return null;
  return html`<div class="curl"><span class="nw">In a terminal</span><code>${command}</code><button class="btn end" onClick=${() => copy(command, "command")}>Copy</button>
    <button class="btn" onClick=${() => copy(curl(action, action.body, newKey()), "curl command")}>Copy as curl</button></div>`;
}
