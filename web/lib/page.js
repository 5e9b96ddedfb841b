// What the browser's page has: its address, keys, clipboard, colours, and the line that is read aloud.
import {useEffect} from "preact/hooks";
import {value} from "./html.js";

// ---- Routes live in the fragment, so ids reach no log.

function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [screen = "", ...rest] = path.split("/").map(decodeURIComponent);
  return {screen: screen || "queue", id: rest[0] ?? null, query: Object.fromEntries(new URLSearchParams(query)), hash};
}

function safeParse() {
  try {
    return parse(location.hash);
  } catch {
    return parse("");
  }
}

export const route = value(safeParse());
addEventListener("hashchange", () => route.set(safeParse()));

export const link = (screen, id, query) => {
  const tail = query ? `?${new URLSearchParams(query)}` : "";
  return `#/${screen}${id ? `/${encodeURIComponent(id)}` : ""}${tail}`;
};

export const go = (hash) => { location.hash = hash; };

/** Changes the query without a step in the history. */
export function setQuery(changes) {
  const {screen, id, query} = route.get();
  const next = Object.fromEntries(Object.entries({...query, ...changes}).filter(([, text]) => text));
  history.replaceState(null, "", link(screen, id, Object.keys(next).length ? next : null));
  route.set(safeParse());
}

// ---- The one line that screen readers hear by themselves: at most one each five seconds.

const QUIET_MS = 5000;
export const spoken = value("");
let saidAt = 0;
let timer = 0;

export function say(text) {
  clearTimeout(timer);
  const delay = Math.max(0, saidAt + QUIET_MS - Date.now());
  timer = setTimeout(() => {
    saidAt = Date.now();
    spoken.set(text);
  }, delay);
}

// ---- Copying, said aloud.

export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied`);
  } catch {
    say(`${what} couldn't be copied`);
  }
}

// ---- Light, dark, or as the machine has it.
const KEPT = "admitd.theme";

export const theme = () => localStorage.getItem(KEPT) ?? "auto";

export function setTheme(name) {
  localStorage.setItem(KEPT, name);
  applyTheme();
}

export function applyTheme() {
  if (theme() === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme();
}

// ---- Keys: one letter each, off in fields and dialogs, and none of them decides anything.

const OFF = "admitd.keys";
const SCREENS = {q: "#/queue", p: "#/projects", d: "#/decisions", l: "#/log", t: "#/trends", r: "#/rules"};
const layers = [];
let going = false;

export const keysAreOn = () => localStorage.getItem(OFF) !== "off";
export const setKeys = (on) => localStorage.setItem(OFF, on ? "on" : "off");

const isField = (target) => target.closest?.("input, textarea, select, [contenteditable], dialog, .menu");
const isButton = (target) => target.closest?.("a, button, summary");

function screenKey(key) {
  const hash = going ? SCREENS[key] : null;
  going = key === "g" && !going;
  if (hash) go(hash);
  return Boolean(hash);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target) || !keysAreOn()) return;
  if (event.key === "Enter" && isButton(event.target)) return;
  if (screenKey(event.key)) return;
  for (const layer of [...layers].reverse()) {
    if (layer[event.key]) {
      event.preventDefault();
      layer[event.key](event);
      return;
    }
  }
}

addEventListener("keydown", onKey);

/** Keys of a component while it is there: {j() {…}}. The newest component's go first. */
export function useKeys(keys) {
  useEffect(() => {
    layers.push(keys);
    return () => layers.splice(layers.indexOf(keys), 1);
  });
}
