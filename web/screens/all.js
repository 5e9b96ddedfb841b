// Every screen, by the first word of its route; with an id where it has one of those. The queue is there at once, the others are read
// when they are wanted, or when nothing else is to do.
import {useEffect, useState} from "preact/hooks";
import {Queue} from "./queue.js";

const loaded = {queue: Queue};
const screens = {
  queue: async () => Queue,
  projects: async () => (await import("./project.js")).Projects,
  decisions: async () => (await import("./decision.js")).Decisions,
  log: async () => (await import("./log.js")).Log,
  trends: async () => (await import("./trends.js")).Trends,
  rules: async () => (await import("./rules.js")).Rules,
  "packages/": async () => (await import("./package.js")).Package,
  "tasks/": async () => (await import("./plan.js")).Plan,
  "projects/": async () => (await import("./project.js")).Project,
  "decisions/": async () => (await import("./decision.js")).Decision,
};
const IDLE_MS = 1500;

export const isScreen = (name) => Object.hasOwn(screens, name);

async function load(name) {
  loaded[name] ??= await screens[name]();
}

/** {Found, problem, again} of a screen: its component, null while it is being read, and what kept it from being read. */
export function useScreen(name) {
  const [{problem, tries}, set] = useState({problem: null, tries: 0});
  const Found = loaded[name] ?? null; // as it is drawn: it may have come by the time the effect runs, and must be drawn then too
  useEffect(() => {
    if (isScreen(name) && !Found) load(name).then(() => set({problem: null, tries: tries + 1}), (fault) => set({problem: fault, tries}));
  }, [name, tries]);
  return {Found, problem: Found ? null : problem, again: () => set({problem: null, tries: tries + 1})};
}

/** Reads all of them once the first one stands. */
export function useAllSoon() {
  useEffect(() => {
    const timer = setTimeout(() => Promise.all(Object.keys(screens).map(load)).catch(() => {}), IDLE_MS);
    return () => clearTimeout(timer);
  }, []);
}
