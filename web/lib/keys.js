// Keys: one letter each, off in fields and dialogs, and none of them decides anything.
import {useEffect} from "preact/hooks";
import {go} from "./router.js";

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
