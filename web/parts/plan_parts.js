// The packages of a plan, in rows and as a graph.
import {useState} from "preact/hooks";
import {html} from "../lib/html.js";
import {link} from "../lib/page.js";
import {countText} from "./action_dialog.js";
import {ActionButton, MoreActions} from "./actions.js";
import {Sign, StateSign, Text, Words, plain, signOf} from "./marks.js";

// ---- The packages of a plan: those that are blocked with what frees them, the others folded.

const DONE = {completed: ["ok", "green"], running: ["run", "slate"], failed: ["plan", "red"], ready: ["dot", "neutral"]};

function Blocked({one, about}) {
  const [first, ...rest] = one.actions ?? [];
  return html`<tr><td class="sg"><${StateSign} state=${one.operatorState} /></td><td class="what"><a class="l" href=${link("packages", one.packageId)}><${Text} of=${one.label} /></a></td>
    <td class="why"><${Text} of=${one.operatorState?.headline} /> <span class="m"><${Words} of=${one.operatorState?.body} /></span></td>
    <td class="act">${first && html`<${ActionButton} action=${first} others=${one.actions} about=${about(one)} kind="btn p" /><${MoreActions} actions=${rest} others=${one.actions} about=${about(one)} />`}</td></tr>`;
}

function Free({one}) {
  const [sign, tone] = DONE[one.status] ?? ["ok", "green"];
  const said = one.operatorState;
  return html`<tr><td class="sg"><${Sign} name=${sign} tone=${tone} /></td><td class="what"><a class="l" href=${link("packages", one.packageId)}><${Text} of=${one.label} /></a></td>
    <td class="why">${said ? html`<${Text} of=${said.headline} /> <span class="m"><${Words} of=${said.body} /></span>` : one.status}</td><td></td></tr>`;
}

/** Rows from the preview if there is one, else from the plan. */
function rowsOf(task, preview) {
  if (preview) return preview.packages.map((one) => ({...one, isBlocked: one.status === "blocked"}));
  return task.packages.map((one) => ({...one, packageId: one.id, isBlocked: Boolean(one.hold)}));
}

export function PlanRows({task, preview}) {
  const rows = rowsOf(task, preview);
  const free = rows.filter((one) => !one.isBlocked);
  const blocked = rows.filter((one) => one.isBlocked);
  const [open, setOpen] = useState(true);
  const about = (one) => html`Asked for by <${Text} of=${one.label} />, plan <${Text} of=${task.title} />`;
  return html`<div class="tbl"><table class="plan-rows" aria-label="Packages of the plan"><colgroup><col class="c-sign" /><col class="c-what" /><col /><col class="c-act" /></colgroup>
    <thead><tr><th><span class="hid">Sign</span></th><th scope="col">Package</th><th scope="col">State</th><th scope="col">What frees it</th></tr></thead>
    <tbody>${blocked.map((one) => html`<${Blocked} key=${one.packageId} one=${one} about=${about} />`)}</tbody>
    ${free.length > 0 && html`<tbody><tr class="g"><th colspan="4" scope="rowgroup"><div class="gi"><${Sign} name="ok" tone="green" /><b>${countText(free.length, blocked.length ? "more can go ahead" : "can go ahead", blocked.length ? "more can go ahead" : "can go ahead")}</b>
      <span class="end"><button class="ta" aria-expanded=${open} onClick=${() => setOpen(!open)}>${open ? "hide" : "show"}</button></span></div></th></tr>${open && free.map((one) => html`<${Free} key=${one.packageId} one=${one} />`)}</tbody>`}</table></div>`;
}

// ---- Packages as a graph: what depends on what, from left to right.

const BOX = {width: 190, height: 34, gapX: 56, gapY: 12};
const LABEL_MAX = 22;

/** {id: how many others must be done before}. */
export function depths(packages) {
  const byId = new Map(packages.map((one) => [one.id, one]));
  const depth = new Map();
  const of = (one, path) => {
    if (depth.has(one.id)) return depth.get(one.id);
    if (path.has(one.id)) return 0;
    const before = one.dependsOn.map((id) => byId.get(id)).filter(Boolean);
    const found = before.length ? 1 + Math.max(...before.map((other) => of(other, new Set([...path, one.id])))) : 0;
    depth.set(one.id, found);
    return found;
  };
  for (const one of packages) of(one, new Set());
  return depth;
}

function place(packages) {
  const depth = depths(packages);
  const rows = new Map();
  return new Map(packages.map((one) => {
    const column = depth.get(one.id);
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    return [one.id, {x: column * (BOX.width + BOX.gapX), y: row * (BOX.height + BOX.gapY)}];
  }));
}

const TONES = {completed: "green", running: "slate", failed: "red", cancelled: "neutral", superseded: "neutral"};
const SIGNS = {completed: "ok", running: "run", failed: "plan"};
const cutLabel = (text) => (text.length > LABEL_MAX ? `${text.slice(0, LABEL_MAX - 1)}…` : text);

function Box({one, at, said}) {
  const tone = said?.tone ?? TONES[one.status] ?? (one.hold ? "amber" : "neutral");
  const sign = said ? signOf(said) : SIGNS[one.status] ?? "dot";
  return html`<a href=${link("packages", one.id)} class=${`t-${tone}`} aria-label=${plain(`${one.label}, ${said?.headline ?? one.status}`)}><rect x=${at.x + 0.5} y=${at.y + 0.5} width=${BOX.width} height=${BOX.height} rx="6" />
    <use href=${`#i-${sign}`} x=${at.x + 10} y=${at.y + 9} width="16" height="16" /><text x=${at.x + 34} y=${at.y + 21}>${cutLabel(plain(one.label))}</text><title>${plain(one.label)}</title></a>`;
}

function Edge({from, to}) {
  const [x1, y1, x2, y2] = [from.x + BOX.width, from.y + BOX.height / 2, to.x, to.y + BOX.height / 2];
  const middle = (x1 + x2) / 2;
  return html`<path class="e" d=${`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2 - 5} ${y2}`} marker-end="url(#arrow)" />`;
}

export function Graph({packages, preview}) {
  if (packages.length < 2) return null;
  const at = place(packages);
  const spots = [...at.values()];
  const width = Math.max(...spots.map((spot) => spot.x)) + BOX.width + 1;
  const height = Math.max(...spots.map((spot) => spot.y)) + BOX.height + 1;
  const said = new Map((preview?.packages ?? []).map((one) => [one.packageId, one.operatorState]));
  return html`<section class="card graph-box" aria-label="What depends on what"><div class="sec"><h2>What depends on what</h2></div><div class="pad scroll">
    <svg class="graph" viewBox=${`0 0 ${width} ${height}`} style=${{maxWidth: `${width}px`}} role="group"><defs><marker id="arrow" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0L6 3L0 6z" class="tip" /></marker></defs>
    ${packages.flatMap((one) => one.dependsOn.filter((id) => at.has(id)).map((id) => html`<${Edge} key=${id + one.id} from=${at.get(id)} to=${at.get(one.id)} />`))}
    ${packages.map((one) => html`<${Box} key=${one.id} one=${one} at=${at.get(one.id)} said=${said.get(one.id) ?? one.operatorState} />`)}</svg></div></section>`;
}
