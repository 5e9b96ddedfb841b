// For this package once, or for the project always: the two are actions of their own, side by side.
import {html} from "../lib/html.js";
import {endsAt} from "./ends.js";
import {Sign} from "./sign.js";

const SCOPES = {approve_once: ["This package, once", "One attempt, then it asks again"], approve_always: ["The project, always", "Every package, until it ends"]};

export function Scope({action, others, choose}) {
  if (!SCOPES[action.id]) return null;
  const both = others.filter((one) => SCOPES[one.id]);
  const list = ["approve_once", "approve_always"].map((id) => (id === action.id ? action : both.find((one) => one.id === id))).filter(Boolean);
  if (list.length < 2) return null;
  return html`<span>For</span><div class="rad" role="radiogroup" aria-label="For">${list.map((one) => html`
    <label key=${one.id}><input type="radio" name="scope" checked=${one.id === action.id} onChange=${() => choose(one)} /><b>${SCOPES[one.id][0]}</b><span>${SCOPES[one.id][1]}</span></label>`)}</div>`;
}

const project = (action) => decodeURIComponent(action.href.split("/")[3]);
const day = (text) => new Date(text).toLocaleDateString("en-GB", {day: "numeric", month: "short"});

export function Warning({action, body}) {
  if (action.id !== "approve_always") return null;
  const until = body.expiresAt ? `Until ${day(body.expiresAt)} any` : "From now on, without an end, any";
  const may = body.capabilities.map((name) => name.split(".").pop()).join(", ");
  return html`<div class="warn"><${Sign} name="setup" tone="amber" /><div><b>This opens ${project(action)} to plans nobody has seen yet.</b> ${until} plan in
    ${" "}${project(action)} may use ${may} on its files without asking.</div></div>`;
}
