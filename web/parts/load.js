// Errors in full, and what a screen shows before it has anything.
import {useEffect, useState} from "preact/hooks";
import {html} from "../lib/html.js";
import {Words} from "./marks.js";

// ---- An error in full: what, why, its code and the request it belongs to.

export function ProblemBox({problem, again}) {
  if (!problem) return null;
  return html`<div class="problem" role="alert"><b>${problem.title ?? "Something in the console broke"}</b>
    ${problem.detail && html`<p><${Words} of=${problem.detail} /></p>`}
    ${problem.body?.roleNeeded && html`<p>Needs role ${problem.body.roleNeeded.join(" or ")}.</p>`}
    ${problem.body?.faults?.map((fault) => html`<p><code>${fault.pointer}</code> <${Words} of=${fault.detail ?? fault.reason} /></p>`)}
    <p><code>${problem.code} ${problem.instance ?? ""}</code> ${again && html`<button class="btn" onClick=${again}>Try again</button>`}</p></div>`;
}

// ---- What a screen shows before it has anything: nothing for a moment, then grey rows, or the error.

const PATIENCE_MS = 150;
const ROWS = [1, 2, 3, 4, 5, 6];

function useLater(ms) {
  const [is, set] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => set(true), ms);
    return () => clearTimeout(timer);
  }, [ms]);
  return is;
}

export function Ghost() {
  if (!useLater(PATIENCE_MS)) return null;
  return html`<div class="tbl" aria-busy="true"><table class="ghost"><tbody>${ROWS.map((row) => html`<tr key=${row}><td><span></span></td></tr>`)}</tbody></table></div>`;
}

/** The error of a resource above its old data, or what stands for data that isn't there yet. That the daemon is lost, or a token, is said once for all. */
export function Loading({of}) {
  if (of.problem && !(of.data && (of.problem.status === 0 || of.problem.status === 401))) return html`<${ProblemBox} problem=${of.problem} again=${of.reload} />`;
  return of.data ? null : html`<${Ghost} />`;
}

/** The queue's title while there is no queue yet, and its error above what is shown. */
export const Load = ({resource}) => html`${!resource.data && html`<div class="head"><h1 tabindex="-1">Queue</h1></div>`}<${Loading} of=${resource} />`;
