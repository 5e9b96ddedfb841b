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

/** Back, or to the queue where a link led here from elsewhere. */
export const back = () => (globalThis.navigation?.canGoBack ?? history.length > 1 ? history.back() : go("#/queue"));

/** Changes the query without a step in the history. */
export function setQuery(changes) {
  const {screen, id, query} = route.get();
  const next = Object.fromEntries(Object.entries({...query, ...changes}).filter(([, text]) => text));
  history.replaceState(null, "", link(screen, id, Object.keys(next).length ? next : null));
  route.set(safeParse());
}

// ---- The one line that screen readers hear by themselves: at most one each five seconds, with all that was to be said since.

const QUIET_MS = 5000;
export const spoken = value("");
const waiting = new Map();
let saidAt = 0;
let timer = 0;

/** `about`: what it takes the place of, if that hasn't been said yet. */
export function say(text, about = text) {
  waiting.set(about, text);
  clearTimeout(timer);
  timer = setTimeout(() => {
    const all = [...waiting.values()].join(". ");
    waiting.clear();
    saidAt = performance.now();
    spoken.set(all === spoken.get() ? `${all}\u00a0` : all);
  }, saidAt && Math.max(0, saidAt + QUIET_MS - performance.now()));
}

// ---- What was just done: shown for a while and read aloud. What went wrong stays until it is closed.

export const toast = value(null); // {text, undo, problem}

export function tell(text, more) {
  toast.set({text, ...more});
  if (!more?.problem) say(text);
}

/** Says it, and shows it unless that would take away an undo. */
export async function copy(text, what) {
  const show = toast.get()?.undo ? say : tell;
  await Promise.resolve().then(() => navigator.clipboard.writeText(text)).then(() => show(`${what} copied`), () => show(`${what} couldn't be copied`));
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

export const keysAreOn = value(localStorage.getItem(OFF) !== "off");

export function setKeys(on) {
  localStorage.setItem(OFF, on ? "on" : "off");
  keysAreOn.set(on);
}

const isField = (target) => target.closest?.("input, textarea, select, [contenteditable], dialog, .menu");
const isButton = (target) => target.closest?.("a, button, summary");

function screenKey(key) {
  const hash = going ? SCREENS[key] : null;
  going = key === "g" && !going;
  if (hash) go(hash);
  return Boolean(hash);
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target) || !keysAreOn.get() || document.querySelector("dialog[open]")) return;
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
