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

/** The component of a screen; null while it is being read. */
export function useScreen(name) {
  const [, draw] = useState(0);
  useEffect(() => { if (isScreen(name) && !loaded[name]) load(name).then(() => draw((count) => count + 1)); }, [name]);
  return loaded[name] ?? null;
}

/** Reads all of them once the first one stands. */
export function useAllSoon() {
  useEffect(() => {
    const timer = setTimeout(() => Promise.all(Object.keys(screens).map(load)).catch(() => {}), IDLE_MS);
    return () => clearTimeout(timer);
  }, []);
}
