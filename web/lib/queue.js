// The queue as the API lists it, and the order in which it is shown: frozen, so that nothing moves under the cursor. What has come
// since waits to be shown; what has gone stays, muted, until the cursor leaves it.
import {useEffect, useState} from "preact/hooks";
import {value} from "./html.js";

export const QUEUE = "/v1/recovery?limit=500";
export const cursor = value(null); // the id of a row; Back returns to it

export const KINDS = [["", "All"], ["plans", "Plans"], ["access", "Access"], ["setup", "Set-up"], ["changes", "Plan changes"], ["other", "Other"]];
const OF_STATE = {needs_project_context: "access", mcp_needs_setup: "setup", plan_needs_changes: "changes"};

export function kindOf(item) {
  if (item.kind === "plan_waits_for_approval") return "plans";
  return OF_STATE[item.operatorState?.key] ?? "other";
}

/** What is shown of `items`, given what was shown before: {rows, fresh}. A row is an item, with `gone` if it isn't held any more. */
export function arrange(before, items, cursorId) {
  const now = new Map(items.map((item) => [item.id, item]));
  const known = new Set(before.map((row) => row.id));
  const rows = [];
  for (const row of before) {
    if (now.has(row.id)) rows.push(now.get(row.id));
    else if (!row.gone || row.id === cursorId || row.keep) rows.push({...row, gone: true, keep: !row.gone});
  }
  return {rows, fresh: items.filter((item) => !known.has(item.id))};
}

const ONE_BY_ONE = "one";

/** [{key, title, cause, rows}]: plans, then causes that hold several, then the rest. */
export function grouped(rows) {
  const groups = new Map([["plans", []]]);
  const count = new Map();
  for (const row of rows) if (row.cause) count.set(row.cause.key, (count.get(row.cause.key) ?? 0) + 1);
  const keyOf = (row) => (kindOf(row) === "plans" ? "plans" : row.cause && count.get(row.cause.key) > 1 ? row.cause.key : ONE_BY_ONE);
  for (const row of rows) {
    const key = keyOf(row);
    if (key !== ONE_BY_ONE && !groups.has(key)) groups.set(key, []);
    if (key !== ONE_BY_ONE) groups.get(key).push(row);
  }
  groups.set(ONE_BY_ONE, rows.filter((row) => keyOf(row) === ONE_BY_ONE));
  return [...groups].filter(([, list]) => list.length).map(([key, list]) => ({key, rows: list, cause: list.find((row) => row.cause?.key === key)?.cause}));
}

// ---- Long lists: only the rows that can be seen are there, with room above and below for the others, and the cursor's is always among them.

const MARGIN = 20;

function seen(box, rowPx) {
  const top = box.getBoundingClientRect().top;
  const from = Math.max(0, Math.floor(-top / rowPx) - MARGIN);
  return [from, from + Math.ceil(innerHeight / rowPx) + 2 * MARGIN];
}

/** [from, to) of the rows to draw: all, unless `windowed`. `kept`: a row that must be among them, or -1. */
export function useWindow(box, total, rowPx, windowed, kept) {
  const [range, setRange] = useState([0, 3 * MARGIN]);
  useEffect(() => {
    if (!windowed) return undefined;
    const onScroll = () => setRange((before) => { const now = seen(box.current, rowPx); return Math.abs(now[0] - before[0]) < MARGIN / 2 && before[1] > 3 * MARGIN ? before : now; });
    onScroll();
    addEventListener("scroll", onScroll, {passive: true});
    return () => removeEventListener("scroll", onScroll);
  }, [windowed, rowPx]);
  if (!windowed) return [0, total];
  const inside = kept < 0 || (kept >= range[0] && kept < range[1]);
  const [from, to] = inside ? range : [Math.max(0, kept - MARGIN), kept + 2 * MARGIN];
  return [Math.min(from, total), Math.min(to, total)];
}
