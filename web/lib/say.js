// The one line that screen readers hear by themselves: at most one each five seconds.
import {value} from "./value.js";

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
