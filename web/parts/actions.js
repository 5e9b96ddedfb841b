// Buttons and menus of actions that came as data, and what was just done.
import {useEffect, useRef, useState} from "preact/hooks";
import {done, leave, newKey, openDialog, send} from "../lib/acting.js";
import {mayNot, reachable, whyNot} from "../lib/api.js";
import {html, useValue} from "../lib/html.js";
import {tell, toast} from "../lib/page.js";
import {plain} from "./marks.js";

// ---- A button with a menu of more actions.

function useOutside(box, close) {
  useEffect(() => {
    const onDown = (event) => { if (!box.current?.contains(event.target)) close(); };
    addEventListener("pointerdown", onDown);
    return () => removeEventListener("pointerdown", onDown);
  });
}

export function step(menu, by) {
  const items = [...menu.querySelectorAll("button, a, input")];
  const at = items.indexOf(document.activeElement);
  items[(at + by + items.length) % items.length]?.focus();
}

export function Menu({label, face, children, kind = "btn more"}) {
  const [open, setOpen] = useState(false);
  const box = useRef(null);
  const close = () => setOpen(false);
  useOutside(box, close);
  useEffect(() => { if (open) box.current.querySelector(".menu button, .menu a")?.focus(); }, [open]);
  const onKeyDown = (event) => {
    if (event.key === "Escape" && open) { event.stopPropagation(); close(); box.current.querySelector("button").focus(); }
    if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); step(box.current.querySelector(".menu") ?? box.current, event.key === "ArrowDown" ? 1 : -1); }
  };
  return html`<span class="has-menu" ref=${box} onKeyDown=${onKeyDown}>
    <button class=${kind} aria-label=${label} aria-expanded=${open} aria-haspopup="true" onClick=${() => setOpen(!open)}>${face}</button>
    ${open && html`<div class="menu" onClick=${close}>${children}</div>`}</span>`;
}

// ---- Buttons of actions that came as data. One that may not be pressed stays, and says why.

async function once(action) {
  try {
    done(action, await send(action, action.body, newKey()));
    leave();
  } catch (problem) {
    tell(`${problem.title}. ${problem.detail ?? ""}`, {problem});
  }
}

/** Opens its dialog, or does it where there is nothing to ask. */
export function start(action, others, about) {
  if (mayNot(action) || !reachable.get()) return;
  if (action.inputs.length === 0 && !action.label.endsWith("…")) once(action);
  else openDialog(action, others, about);
}

const offOf = (action, online) => (!online ? "Offline" : mayNot(action) ? whyNot(action) : undefined);

export function ActionButton({action, others, about, kind = "btn"}) {
  const off = offOf(action, useValue(reachable));
  return html`<button class=${kind} data-action=${action.id} aria-disabled=${Boolean(off)} title=${off} aria-label=${off ? `${plain(action.label)} (${off})` : undefined}
    onClick=${() => start(action, others, about)}>${plain(action.label)}</button>`;
}

export function MoreActions({actions, others, about, kind}) {
  const online = useValue(reachable);
  if (actions.length === 0) return null;
  return html`<${Menu} label="More actions" face="⋯" kind=${kind}>${actions.map((action) => html`
    <button key=${action.id + action.href} data-action=${action.id} aria-disabled=${Boolean(offOf(action, online))} title=${offOf(action, online)}
      onClick=${() => start(action, others, about)}>${plain(action.label)}</button>`)}<//>`;
}

/** The first few as buttons, the rest in a menu. */
export function ActionRow({actions, about, show = 3}) {
  return html`<div class="acts">${actions.slice(0, show).map((action, at) => html`
    <${ActionButton} key=${action.id + action.href} action=${action} others=${actions} about=${about} kind=${at === 0 ? "btn p lg" : "btn lg"} />`)}
    <${MoreActions} actions=${actions.slice(show)} others=${actions} about=${about} kind="btn lg" /></div>`;
}

/** The action of a key, if it is there. */
export function startById(actions, id, about) {
  const action = actions?.find((one) => one.id === id);
  if (action) start(action, actions, about);
}

// ---- What was just done, and its undo.

const SHOWN_MS = 12000;

export function Toast() {
  const now = useValue(toast);
  useEffect(() => {
    if (now?.problem) return undefined;
    const timer = setTimeout(() => toast.set(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [now]);
  if (!now) return null;
  const undo = () => { if (toast.get() === now) { toast.set(null); now.undo(); } };
  return html`<div class="toast" role=${now.problem ? "alert" : undefined}><span>${now.text}${now.problem && html` <code>${now.problem.code} ${now.problem.instance}</code>`}</span>${now.undo && html`<button onClick=${undo}>Undo</button>`}
    <button aria-label="Close" onClick=${() => toast.set(null)}>×</button></div>`;
}
