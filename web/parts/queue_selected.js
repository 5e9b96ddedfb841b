// Several rows at once: one action, one project, each sent by itself.
import {useState} from "preact/hooks";
import {newKey, send, toast} from "../lib/acting.js";
import {html} from "../lib/html.js";
import {mayNot} from "../lib/session.js";
import {countText} from "./impact.js";

const ASKED = ["approve_once", "deny"];
const LABELS = {approve_once: "Approve once", deny: "Deny"};

async function sendAll(rows, id, reason) {
  let count = 0;
  for (const row of rows) {
    const action = row.actions.find((one) => one.id === id);
    try {
      await send(action, {...action.body, reason}, newKey());
      count++;
    } catch (problem) {
      toast.set({text: `${problem.title}. ${count} of ${rows.length} were decided.`});
      return;
    }
  }
  toast.set({text: `${countText(count, "package")} decided.`});
}

export function SelectedBar({rows, clear}) {
  const [reason, setReason] = useState("");
  if (rows.length === 0) return null;
  const one = rows.every((row) => row.project === rows[0].project);
  const ids = ASKED.filter((id) => rows.every((row) => row.actions.some((action) => action.id === id && !mayNot(action))));
  const begin = (id) => { if (one && reason.trim()) sendAll(rows, id, reason.trim()).then(() => { setReason(""); clear(); }); };
  const off = !one || !reason.trim();
  return html`<div class="bar card pad" role="group" aria-label="Selected"><b>${countText(rows.length, "package")} selected</b>
    <input aria-label="Reason" placeholder="Reason" value=${reason} onInput=${(event) => setReason(event.target.value)} />
    ${ids.map((id) => html`<button key=${id} class="btn" aria-disabled=${off} onClick=${() => begin(id)}>${LABELS[id]}, ${rows.length}</button>`)}
    <button class="btn" onClick=${clear}>Clear</button>${off && html`<span class="why-off">${one ? "Say why first." : "They must be of one project."}</span>`}</div>`;
}
