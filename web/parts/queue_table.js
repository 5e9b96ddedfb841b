// The rows of the queue in their groups; a cursor that is one row, wherever the focus is.
import {useEffect, useMemo, useRef, useState} from "preact/hooks";
import {newKey, send, takeBack, undoOf} from "../lib/acting.js";
import {mayNot} from "../lib/api.js";
import {html, useValue} from "../lib/html.js";
import {link, tell} from "../lib/page.js";
import {cursor, useWindow} from "../lib/queue.js";
import {useResource} from "../lib/resource.js";
import {Age, When, serverNow} from "../lib/time.js";
import {countText} from "./action_dialog.js";
import {ActionButton, MoreActions} from "./actions.js";
import {Id, Quote, Sign, StateSign, Text} from "./marks.js";
import {Decided, Held, Waited} from "./plots.js";

// ---- How much waits, for how long, and the three plots.

const WORDS = {package_held: ["package held", "packages held"], plan_waits_for_approval: ["plan to decide", "plans to decide"], plan_sent_back: ["plan sent back", "plans sent back"],
  package_failed: ["package failed", "packages failed"], run_silent: ["silent run", "silent runs"], project_without_root: ["project without a folder", "projects without a folder"]};

function Ready({ready}) {
  if (!ready?.count) return null;
  return html` ${countText(ready.count, "package")} ready, taken by nobody for <${Age} since=${ready.oldestSince} />.`;
}

export function QueueHead({page}) {
  const {items, counts} = page;
  const parts = Object.entries(WORDS).filter(([kind]) => counts[kind]).map(([kind, [one, many]]) => countText(counts[kind], one, many));
  const {data: stats} = useResource("/v1/stats");
  useEffect(() => { document.title = `(${items.length}) Queue - admitd`; }, [items.length]);
  return html`<div class="head"><h1 tabindex="-1">${items.length === 0 ? "Nothing waits for a person" : `${items.length} wait${items.length === 1 ? "s" : ""} for a person`}</h1>
    <p>${parts.join(", ")}${parts.length > 0 && "."} ${items[0] && html`The oldest has waited <${Age} since=${items[0].since} />.`}<${Ready} ready=${counts.ready} /></p></div>
    ${stats ? html`<div class="plots"><${Held} stats=${stats} /><${Waited} stats=${stats} items=${items} /><${Decided} stats=${stats} /></div>` : html`<div class="plots"><div class="plot plot-room"></div></div>`}`;
}

export function hashOf(item) {
  if (item.packageId) return link("packages", item.packageId);
  return item.task ? link("tasks", item.task) : link("projects", item.project);
}

export const nameOf = (item) => item.label ?? item.title ?? item.task ?? item.project;

export const aboutOf = (item) => html`Asked for by <${Text} of=${nameOf(item)} />${item.agent && html`, agent <${Text} of=${item.agent} />`}, project <${Text} of=${item.project} />`;

function Capabilities({names}) {
  return html`<code class="m"><${Text} of=${names.join(", ")} /></code>`;
}

function Why({item, inGroup, cleared}) {
  if (item.gone) return html`Cleared${cleared?.actor && html` by <${Text} of=${cleared.actor.principal} />, <${Age} since=${cleared.at} /> ago`}`;
  if (item.reason) return html`<${Text} of=${item.words.headline} /> <span class="m"><${Text} of=${item.reason} /></span>`;
  if (item.kind === "plan_waits_for_approval") return item.blocked?.length ? `${item.packages === 1 ? "Its package" : `${item.blocked.length} of ${item.packages} packages`} ${item.blocked.length === 1 ? "is" : "are"} blocked` : "Nothing blocks it";
  const state = item.operatorState;
  if (!state) return html`<${Text} of=${item.words.headline} /> <span class="m"><${Quote} of=${item.facts?.reason} /></span>`;
  if (inGroup && item.facts?.missing?.length) return html`Needs <${Capabilities} names=${item.facts.missing} />`;
  if (inGroup) return html`Waits for <${Text} of=${item.mcpId} />`;
  return html`<${Text} of=${state.headline} /> <span class="m"><${Because} item=${item} /></span>`;
}

/** What stands behind a headline, in half a line; the package's own page has the whole sentence. */
function Because({item: {arm, facts, operatorState}}) {
  if (facts?.actor && facts.reason) return html`by <${Text} of=${facts.actor.principal} />: <${Quote} of=${facts.reason} />`;
  if (facts?.attempt) return `by attempt ${facts.attempt}`;
  if (arm === "never_approved" && facts?.missing) return html`<code><${Text} of=${facts.missing.join(", ")} /></code>`;
  return html`<${Text} of=${operatorState.body} />`;
}

const Opens = ({item}) => !item.gone && html`<${Text} of=${item.besides} />`;

function What({item, inGroup}) {
  const more = item.packageId ? [!inGroup && item.project, item.agent].filter(Boolean) : [item.project, item.planRevision && `revision ${item.planRevision}`].filter(Boolean);
  return html`<a class="l open" href=${hashOf(item)} tabindex="-1"><${Text} of=${nameOf(item)} /></a> <span class="m"><${Text} of=${more.join(", ")} /></span>`;
}

function Frees({item}) {
  if (item.gone) return null;
  if (item.kind === "plan_waits_for_approval" && !item.reason) return html`<a class="btn p" href=${hashOf(item)}>Review plan</a>`;
  const [first, ...rest] = item.actions;
  return first && html`<${ActionButton} action=${first} others=${item.actions} about=${aboutOf(item)} kind="btn p" /><${MoreActions} actions=${rest} others=${item.actions} about=${aboutOf(item)} />`;
}

const old = (item) => serverNow() - Date.parse(item.since) > 24 * 3600 * 1000;

let broughtIn = null; // the row that was scrolled to: once, else it would be scrolled back to when it is drawn anew

function Row({item, inGroup, isCursor, isSelected, cleared, index}) {
  const box = useRef(null);
  useEffect(() => {
    // The cursor itself, not what was drawn: else a row that lost it takes the focus back, the focus gives it the cursor, and so on for ever.
    if (!isCursor || cursor.get() !== item.id) return;
    if (broughtIn !== item.id) box.current.scrollIntoView({block: "nearest"});
    broughtIn = item.id;
    const at = document.activeElement;
    if (at === document.body || at.id === "main" || (at.closest("tr[data-row]") && !box.current.contains(at))) box.current.focus({preventScroll: true});
  }, [isCursor]);
  const names = [inGroup && "in", isCursor && "cur", item.gone && "gone"].filter(Boolean).join(" ");
  return html`<tr ref=${box} class=${names} data-row=${item.id} aria-rowindex=${index} aria-selected=${isSelected} tabindex=${isCursor ? 0 : -1} onPointerDown=${() => cursor.set(item.id)} onFocusIn=${() => cursor.set(item.id)}>
    <td class="sg">${item.gone ? html`<${Sign} name="ok" tone="green" />` : html`<${StateSign} state=${item.words} />`}</td>
    <td class="what">${isSelected && html`<b class="pick">✓<span class="hid"> selected</span></b>`}<${What} item=${item} inGroup=${inGroup} /></td>
    <td class="why"><${Why} item=${item} inGroup=${inGroup} cleared=${cleared} /></td>
    <td class=${old(item) ? "num old" : "num"}>${!item.gone && html`<${Age} since=${item.since} />`}</td>
    <td class="act"><${Frees} item=${item} /></td><td class="opens"><${Opens} item=${item} /></td></tr>`;
}

function CauseHead({group}) {
  const first = group.rows.find((row) => !row.gone) ?? group.rows[0];
  const action = group.cause.actions[0];
  return html`<div class="gi"><${StateSign} state=${first.operatorState} /><b><${Text} of=${group.cause.headline} /></b>
    <span class="q">${first.facts?.actor ? html`by <${Text} of=${first.facts.actor.principal} /> at <${When} at=${first.facts.at} />${first.facts.reason && ": "}<${Quote} of=${first.facts.reason} />` : html`<${Text} of=${first.operatorState.body} />`}</span>
    <span class="end">${action && html`<span><${Text} of=${group.cause.does} /></span><${ActionButton} action=${action} others=${[action]} about=${html`For ${group.cause.count} packages of <${Id} of=${first.project} />`} />`}</span></div>`;
}

const TITLES = {plans: "Plans to decide", one: "One by one"};

function GroupHead({group}) {
  if (group.key === "all") return null;
  return html`<tr class="g"><th colspan="6" scope="rowgroup">${group.cause ? html`<${CauseHead} group=${group} />` : html`<b>${TITLES[group.key] ?? TITLES.one}</b> <span class="m">${group.rows.length}</span>`}</th></tr>`;
}

function Group({group, part, alone, common}) {
  return html`<tbody>${!alone && html`<${GroupHead} group=${group} />`}${part.map(([item, index]) => html`<${Row} key=${item.id} item=${item} index=${index} inGroup=${Boolean(item.cause) && item.cause.key === group.key} isCursor=${item.id === common.cursorId}
    isSelected=${common.selected.includes(item.id)} cleared=${item.gone ? common.cleared[item.packageId ?? item.task] : null} />`)}</tbody>`;
}

const pad = (key, rows, px) => (rows > 0 ? html`<tbody key=${key} aria-hidden="true"><tr class="room"><td colspan="6" style=${{height: `${rows * px}px`}}></td></tr></tbody>` : null);

/** The groups with each row's place, cut to [from, to). */
function cut(groups, from, to) {
  let start = 0;
  return groups.map((group) => {
    const first = Math.max(0, from - start);
    const part = group.rows.slice(first, Math.max(first, to - start)).map((item, at) => [item, start + first + at + 1]);
    start += group.rows.length;
    return {group, part};
  });
}

/** What is drawn: the rows in sight, the cursor's by itself where it is elsewhere, and room for the others. */
function drawn(groups, total, {from, to, px}, kept, common) {
  const away = kept >= 0 && (kept < from || kept >= to);
  const spans = away ? [[kept, kept + 1, true], [from, to]].sort((a, b) => a[0] - b[0]) : [[from, to]];
  let end = 0;
  const found = spans.flatMap(([first, last, alone]) => {
    const before = first - end;
    end = last;
    return [pad(`pad${alone}`, before, px), ...cut(groups, first, last).filter(({part}) => part.length)
      .map(({group, part}) => html`<${Group} key=${alone ? "alone" : group.key} group=${group} part=${part} alone=${alone} common=${common} />`)];
  });
  return [...found, pad("end", total - end, px)];
}

export function QueueTable({groups, cleared, selected, windowed}) {
  const cursorId = useValue(cursor);
  const total = groups.reduce((sum, group) => sum + group.rows.length, 0);
  const flat = useMemo(() => groups.flatMap((group) => group.rows), [groups]);
  const box = useRef(null);
  const range = useWindow(box, total, windowed);
  useEffect(() => () => { broughtIn = null; }, []);
  useEffect(() => { if (!flat.some((row) => row.id === cursor.get()) && flat[0]) cursor.set(flat[0].id); });
  return html`<div class="tbl" ref=${box}><table aria-rowcount=${total} aria-label="What waits for a person"><colgroup><col class="c-sign" /><col class="c-what" /><col /><col class="c-since" /><col class="c-act" /><col class="c-opens" /></colgroup>
    <thead><tr><th><span class="hid">Sign</span></th><th scope="col">What</th><th scope="col">Why</th><th scope="col" aria-sort="ascending">Since</th><th scope="col">What frees it</th><th scope="col">Opens besides</th></tr></thead>
    ${drawn(groups, total, range, flat.findIndex((row) => row.id === cursorId), {cursorId, selected, cleared})}</table></div>`;
}

// ---- Several rows at once: one action, one project, each sent by itself.

const ASKED = ["approve_once", "deny"];
const LABELS = {approve_once: "Approve once", deny: "Deny"};

/** Whether all were decided; what was is taken back together. */
async function sendAll(rows, id, reason) {
  const undos = [];
  for (const row of rows) {
    const action = row.actions.find((one) => one.id === id);
    try {
      undos.push(undoOf(await send(action, {...action.body, reason}, newKey())));
    } catch (problem) {
      tell(`${problem.title}. ${undos.length} of ${rows.length} were decided.`, {problem});
      return false;
    }
  }
  tell(`${countText(undos.length, "package")} decided.`, {undo: undos.every(Boolean) && (async () => { for (const undo of undos) await takeBack(undo); })});
  return true;
}

function effectOf(id, rows) {
  return id === "approve_once" ? `opens ${new Set(rows.flatMap((row) => row.opens?.once ?? [])).size}` : rows.length;
}

function offBecause(rows, ids, reason) {
  if (rows.some((row) => row.project !== rows[0].project)) return "They must be of one project.";
  if (ids.length === 0) return "Nothing can be done to all of them at once.";
  return reason.trim() ? null : "Say why first.";
}

export function SelectedBar({rows, clear}) {
  const [reason, setReason] = useState("");
  const busy = useRef(false);
  if (rows.length === 0) return null;
  const ids = ASKED.filter((id) => rows.every((row) => row.actions.some((action) => action.id === id && !mayNot(action))));
  const off = offBecause(rows, ids, reason);
  const begin = (id) => {
    if (off || busy.current) return;
    busy.current = true;
    sendAll(rows, id, reason.trim()).then((all) => { busy.current = false; if (all) { setReason(""); clear(); } });
  };
  return html`<div class="bar card pad" role="group" aria-label="Selected"><b>${countText(rows.length, "package")} selected</b>
    <input aria-label="Reason" placeholder="Reason" value=${reason} onInput=${(event) => setReason(event.target.value)} />
    ${ids.map((id) => html`<button key=${id} class="btn" aria-disabled=${Boolean(off)} aria-describedby="all-off" onClick=${() => begin(id)}>${LABELS[id]}, ${effectOf(id, rows)}</button>`)}
    <button class="btn" onClick=${clear}>Clear</button><span class="why-off" id="all-off">${off}</span></div>`;
}
