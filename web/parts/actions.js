// Buttons of actions that came as data. One that may not be pressed stays, and says why.
import {newKey, openDialog, send, toast} from "../lib/acting.js";
import {reachable} from "../lib/api.js";
import {html} from "../lib/html.js";
import {mayNot, whyNot} from "../lib/session.js";
import {done} from "../lib/undo.js";
import {useValue} from "../lib/value.js";
import {Menu} from "./menu.js";

async function once(action) {
  try {
    done(action, await send(action, action.body, newKey()));
  } catch (problem) {
    toast.set({text: `${problem.title}. ${problem.detail ?? ""}`});
  }
}

/** Opens its dialog, or does it where there is nothing to ask. */
export function start(action, others, about) {
  if (mayNot(action) || !reachable.get()) return;
  if (action.inputs.length === 0 && !action.label.endsWith("…")) once(action);
  else openDialog(action, others, about);
}

export function ActionButton({action, others, about, kind = "btn"}) {
  const online = useValue(reachable);
  const off = !online ? "Offline" : mayNot(action) ? whyNot(action) : null;
  return html`<button class=${kind} data-action=${action.id} aria-disabled=${Boolean(off)} title=${off ?? undefined} aria-label=${off ? `${action.label} (${off})` : undefined}
    onClick=${() => start(action, others, about)}>${action.label}</button>`;
}

export function MoreActions({actions, others, about, kind}) {
  if (actions.length === 0) return null;
  return html`<${Menu} label="More actions" face="⋯" kind=${kind}>${actions.map((action) => html`
    <button key=${action.id + action.href} data-action=${action.id} aria-disabled=${mayNot(action)} title=${mayNot(action) ? whyNot(action) : undefined}
      onClick=${() => start(action, others, about)}>${action.label}</button>`)}<//>`;
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
