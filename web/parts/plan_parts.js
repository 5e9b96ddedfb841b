// The packages of a plan, in rows and as a graph.
import {useMemo, useState} from "preact/hooks";
import {html} from "../lib/html.js";
import {layOut} from "../lib/layers.js";
import {link} from "../lib/page.js";
import {countText} from "./action_dialog.js";
import {ActionButton, MoreActions} from "./actions.js";
import {Sign, StateSign, Text, Words, plain, signOf} from "./marks.js";

// ---- The packages of a plan: those that are blocked with what frees them, the others folded.

const DONE = {completed: ["ok", "green"], running: ["run", "slate"], failed: ["plan", "red"], ready: ["dot", "neutral"]};

/** What is missing, where it is capabilities; else the daemon's words. */
const Needs = ({one}) => (one.missing?.length ? one.missing.map((name) => html`<code key=${name} class="m"><${Text} of=${name} /></code> `) : html`<span class="m"><${Words} of=${one.operatorState?.body} /></span>`);

function Blocked({one, about}) {
  const [first, ...rest] = one.actions ?? [];
  return html`<tr><td class="sg"><${StateSign} state=${one.operatorState} /></td><td class="what"><a class="l" href=${link("packages", one.packageId)}><${Text} of=${one.label} /></a></td>
    <td class="why"><${Text} of=${one.operatorState?.headline} /> <${Needs} one=${one} /></td>
    <td class="act">${first && html`<${ActionButton} action=${first} others=${one.actions} about=${about(one)} kind="btn p" /><${MoreActions} actions=${rest} others=${one.actions} about=${about(one)} />`}</td></tr>`;
}

function Free({one}) {
  const [sign, tone] = DONE[one.status] ?? ["ok", "green"];
  const said = one.operatorState;
  return html`<tr><td class="sg"><${Sign} name=${sign} tone=${tone} /></td><td class="what"><a class="l" href=${link("packages", one.packageId)}><${Text} of=${one.label} /></a></td>
    <td class="why" colspan="2">${said ? html`<${Text} of=${said.headline} /> <span class="m"><${Words} of=${said.body} /></span>` : one.status}</td></tr>`;
}

/** Rows from the preview if there is one, else from the plan. */
function rowsOf(task, preview) {
  const missing = new Map(task.packages.map((one) => [one.id, one.hold?.facts?.missing]));
  const rows = preview ? preview.packages.map((one) => ({...one, isBlocked: one.status === "blocked"})) : task.packages.map((one) => ({...one, packageId: one.id, isBlocked: Boolean(one.hold)}));
  return rows.map((one) => ({...one, missing: missing.get(one.packageId)}));
}

export function PlanRows({task, preview}) {
  const rows = rowsOf(task, preview);
  const free = rows.filter((one) => !one.isBlocked);
  const blocked = rows.filter((one) => one.isBlocked);
  const [shown, setOpen] = useState(null);
  const open = shown ?? blocked.length === 0;
  const about = (one) => html`Asked for by <${Text} of=${one.label} />, plan <${Text} of=${task.title} />`;
  return html`<div class="tbl"><table class="plan-rows" aria-label="Packages of the plan"><colgroup><col class="c-sign" /><col class="c-what" /><col /><col class="c-act" /></colgroup>
    <thead><tr><th><span class="hid">Sign</span></th><th scope="col">Package</th><th scope="col">State</th><th scope="col">What frees it</th></tr></thead>
    <tbody>${blocked.map((one) => html`<${Blocked} key=${one.packageId} one=${one} about=${about} />`)}</tbody>
    ${free.length > 0 && html`<tbody><tr class="g"><th colspan="4" scope="rowgroup"><div class="gi"><${Sign} name="ok" tone="green" /><b>${countText(free.length, blocked.length ? "more can go ahead" : "can go ahead", blocked.length ? "more can go ahead" : "can go ahead")}</b>
      <span class="end"><button class="ta" aria-expanded=${open} onClick=${() => setOpen(!open)}>${open ? "hide" : "show"}</button></span></div></th></tr>${open && free.map((one) => html`<${Free} key=${one.packageId} one=${one} />`)}</tbody>`}</table></div>`;
}

// ---- Packages as a graph: what depends on what, from left to right.

const LABEL_MAX = 22;
const TONES = {completed: "green", running: "slate", failed: "red", cancelled: "neutral", superseded: "neutral"};
const SIGNS = {completed: "ok", running: "run", failed: "plan"};
const cutLabel = (text) => (text.length > LABEL_MAX ? `${text.slice(0, LABEL_MAX - 1)}…` : text);

function Box({one, at, box, said, after}) {
  const tone = said?.tone ?? TONES[one.status] ?? (one.hold ? "amber" : "neutral");
  const sign = said ? signOf(said) : SIGNS[one.status] ?? "dot";
  const name = plain([one.label, said?.headline ?? one.status, ...(after.length ? [`after ${after.join(", ")}`] : [])].join(", "));
  return html`<a href=${link("packages", one.id)} class=${`t-${tone}`} aria-label=${name}><rect x=${at.x + 0.5} y=${at.y + 0.5} width=${box.width} height=${box.height} rx="6" />
    <use href=${`#i-${sign}`} x=${at.x + 10} y=${at.y + 9} width="16" height="16" /><text x=${at.x + 34} y=${at.y + 21}>${cutLabel(plain(one.label))}</text><title>${name}</title></a>`;
}

export function Graph({packages, preview}) {
  const {box, spots, paths, width, height} = useMemo(() => layOut(packages), [packages]);
  if (paths.length === 0) return null;
  const said = new Map((preview?.packages ?? []).map((one) => [one.packageId, one.operatorState]));
  const labels = new Map(packages.map((one) => [one.id, one.label]));
  return html`<section class="card graph-box" aria-label="What depends on what"><div class="sec"><h2>What depends on what</h2></div><div class="pad scroll">
    <svg class="graph" width=${width} height=${height} role="group"><defs><marker id="arrow" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0L6 3L0 6z" class="tip" /></marker></defs>
    ${paths.map(({key, path}) => html`<path key=${key} class="e" d=${path} marker-end="url(#arrow)" />`)}
    ${packages.map((one) => html`<${Box} key=${one.id} one=${one} at=${spots.get(one.id)} box=${box} said=${said.get(one.id) ?? one.operatorState} after=${one.dependsOn.map((id) => labels.get(id)).filter(Boolean)} />`)}</svg></div></section>`;
}
