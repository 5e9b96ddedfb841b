// What was read, kept by address: a screen shows what it had at once and what is new when it comes. Events make everything on the screen
// be read again, at most four times a second, and more seldom where reading takes long.
import {useEffect, useReducer} from "preact/hooks";
import {all, get, reachable} from "./api.js";
import {onEvents} from "./live.js";

const LEAST_MS = 250;
const SHARE = 10; // reading takes at most a tenth of the time
const kept = new Map();

const KEPT_MAX = 200;

function entry(href, read) {
  if (kept.size > KEPT_MAX) for (const one of kept.values()) if (!one.users.size && !one.asking) kept.delete(one.href);
  if (!kept.has(href)) kept.set(href, {href, read, data: null, problem: null, users: new Set(), asking: null, again: false, took: 0, at: 0});
  return kept.get(href);
}

const show = (one) => { for (const draw of [...one.users]) draw(); };

async function read(one) {
  const began = performance.now();
  try {
    one.data = await one.read(one.href);
    one.problem = null;
  } catch (problem) {
    one.problem = problem;
  }
  one.took = performance.now() - began;
  one.at = performance.now();
  one.asking = null;
  show(one);
  if (one.again) refresh(one);
}

function refresh(one) {
  one.again = Boolean(one.asking);
  if (one.asking) return;
  const earliest = one.at ? one.at + Math.max(LEAST_MS, one.took * SHARE) : 0;
  const delay = Math.max(0, earliest - performance.now());
  one.asking = new Promise((done) => setTimeout(done, delay)).then(() => read(one));
}

function refreshAll() {
  for (const one of kept.values()) {
    if (one.users.size > 0 && one.live) refresh(one);
    else if (one.live) one.at = 0;
  }
}

// ---- What nobody sees is read seldom, and at once when it is seen again.

const HIDDEN_MS = 30000;
let skipped = false;
let allAt = 0;

function onNews() {
  skipped = document.hidden && performance.now() - allAt < HIDDEN_MS;
  if (skipped) return;
  allAt = performance.now();
  refreshAll();
}

onEvents(onNews);
document.addEventListener("visibilitychange", () => skipped && onNews());
reachable.follow((is) => is && refreshAll());

export function forgetAll() {
  kept.clear();
}

/** Begins to read an address before anything shows it. */
export const warm = (href) => refresh(Object.assign(entry(href, all), {live: true}));

export const peek = (href) => kept.get(href)?.data ?? null;

/** {data, problem, reload} of an address; null asks nothing. `live` false: it never changes. */
export function useResource(href, {every = false, live = true} = {}) {
  const [, draw] = useReducer((count) => count + 1, 0);
  const one = href ? entry(href, every ? all : get) : null;
  useEffect(() => {
    if (!one) return undefined;
    one.users.add(draw);
    one.live = live;
    if (!one.asking && (live || !one.data)) refresh(one);
    return () => one.users.delete(draw);
  }, [one]);
  return {data: one?.data ?? null, problem: one?.problem ?? null, reload: () => one && refresh(one)};
}
