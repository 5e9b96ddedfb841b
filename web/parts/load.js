// What a screen shows before it has anything: nothing for a moment, then grey rows, or the error.
import {useEffect, useState} from "preact/hooks";
import {html} from "../lib/html.js";
import {ProblemBox} from "./problem.js";

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

/** The error of a resource above its old data, or what stands for data that isn't there yet. */
export function Loading({of}) {
  if (of.problem) return html`<${ProblemBox} problem=${of.problem} again=${of.reload} />`;
  return of.data ? null : html`<${Ghost} />`;
}
