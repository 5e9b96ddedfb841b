// An error in full: what, why, its code and the request it belongs to.
import {html} from "../lib/html.js";
import {Words} from "./text.js";

export function ProblemBox({problem, again}) {
  if (!problem) return null;
  return html`<div class="problem" role="alert"><b>${problem.title ?? "Something in the console broke"}</b>
    ${problem.detail && html`<p><${Words} of=${problem.detail} /></p>`}
    ${problem.body?.roleNeeded && html`<p>Needs role ${problem.body.roleNeeded.join(" or ")}.</p>`}
    ${problem.body?.faults?.map((fault) => html`<p><code>${fault.pointer}</code> <${Words} of=${fault.detail ?? fault.reason} /></p>`)}
    <p><code>${problem.code} ${problem.instance ?? ""}</code> ${again && html`<button class="btn" onClick=${again}>Try again</button>`}</p></div>`;
}
