// The queue as the API lists it, and the order in which it is shown: frozen, so that nothing moves under the cursor. What has come
// since waits to be shown; what has gone stays, muted, until the cursor leaves it.
import {useEffect, useState} from "preact/hooks";
import {value} from "./html.js";

export const QUEUE = "/v1/recovery?limit=500";
export const cursor = value(null); // the id of a row; Back returns to it

/** The cursor when no press is under way: what leaves with it would else slip from under the press. */
export const settled = value(null);
let pressed = false;
cursor.follow((id) => pressed || settled.set(id));
addEventListener("pointerdown", () => { pressed = true; }, true);
for (const name of ["pointerup", "pointercancel"]) addEventListener(name, () => setTimeout(() => { pressed = false; settled.set(cursor.get()); }), true);

export const order = {ids: []}; // packages as the queue showed them last: what is next of one that has left it

/** What is shown of `items`, given what was shown before: {rows, fresh}. A row is an item, with `gone` if it isn't held any more: until the cursor has moved. */
export function arrange(before, items, cursorId, moved) {
  const now = new Map(items.map((item) => [item.id, item]));
  const known = new Set(before.map((row) => row.id));
  const rows = [];
  for (const row of before) {
    if (now.has(row.id)) rows.push(now.get(row.id));
    else if (!moved || !row.gone || row.id === cursorId) rows.push({...row, gone: true});
  }
  return {rows, fresh: items.filter((item) => !known.has(item.id))};
}

const ONE_BY_ONE = "one";

/** [{key, cause, rows}]: plans, then causes that hold several, then the rest. `places`: the group of each row that has been shown; it stays. */
export function grouped(rows, places) {
  const groups = new Map([["plans", []]]);
  const count = new Map();
  for (const row of rows) if (row.cause) count.set(row.cause.key, (count.get(row.cause.key) ?? 0) + 1);
  const keyOf = (row) => places.get(row.id) ?? (row.tag === "plans" ? "plans" : row.cause && count.get(row.cause.key) > 1 ? row.cause.key : ONE_BY_ONE);
  for (const row of rows) {
    places.set(row.id, keyOf(row));
    const key = keyOf(row);
    if (key !== ONE_BY_ONE && !groups.has(key)) groups.set(key, []);
    if (key !== ONE_BY_ONE) groups.get(key).push(row);
  }
  groups.set(ONE_BY_ONE, rows.filter((row) => keyOf(row) === ONE_BY_ONE));
  return [...groups].filter(([, list]) => list.length).map(([key, list]) => ({key, rows: list, cause: list.find((row) => row.cause?.key === key)?.cause}));
}

// ---- Long lists: only the rows that can be seen are there, with room above and below for the others.

const MARGIN = 20;
const ROW_PX = 36;

/** {from, to, px}: the rows to draw and how high one is, as they are drawn now. */
function seen(box) {
  const rows = [...box.querySelectorAll("tr[data-row]")];
  const px = rows.reduce((sum, row) => sum + row.offsetHeight, 0) / rows.length || ROW_PX;
  const from = Math.max(0, Math.floor(-box.getBoundingClientRect().top / px) - MARGIN);
  return {from, to: from + Math.ceil(innerHeight / px) + 2 * MARGIN, px};
}

/** {from, to, px} of the rows to draw: all, unless `windowed`. */
export function useWindow(box, total, windowed) {
  const [range, setRange] = useState({from: 0, to: 3 * MARGIN, px: ROW_PX});
  useEffect(() => {
    if (!windowed) return undefined;
    let first = true;
    const look = () => setRange((before) => { const now = seen(box.current); return !first && Math.abs(now.from - before.from) < MARGIN / 2 ? before : now; });
    look();
    first = false;
    for (const name of ["scroll", "resize"]) addEventListener(name, look, {passive: true});
    return () => { for (const name of ["scroll", "resize"]) removeEventListener(name, look); };
  }, [windowed]);
  return windowed ? {...range, from: Math.min(range.from, total), to: Math.min(range.to, total)} : {from: 0, to: total, px: ROW_PX};
}
