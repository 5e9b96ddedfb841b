// The server's time, and times as people read them.
import {useEffect, useState} from "preact/hooks";
import {html} from "./html.js";

// ---- The server's time: ages never use this machine's.

let ahead = 0;

export function setServerTime(text) {
  ahead = Date.parse(text) - Date.now();
}

export const serverNow = () => Date.now() + ahead;

/** The server's time, again each `everyMs`. */
export function useNow(everyMs = 1000) {
  const [now, set] = useState(serverNow());
  useEffect(() => {
    const timer = setInterval(() => set(serverNow()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

// ---- Times as people read them.
const two = (number) => String(number).padStart(2, "0");

export function age(fromMs, nowMs) {
  const seconds = Math.max(0, Math.floor((nowMs - fromMs) / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (seconds < 60) return `${seconds} s`;
  if (minutes < 60) return `${minutes} min`;
  if (hours < 24) return `${hours} h ${two(minutes % 60)} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function clockText(ms) {
  const at = new Date(ms);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

const sameDay = (a, b) => new Date(a).toDateString() === new Date(b).toDateString();

/** 7 Dec: days are written so everywhere. */
export const dayText = (ms) => new Date(ms).toLocaleDateString("en-GB", {day: "numeric", month: "short"});

/** 09:03 today, 7 Dec 09:41 on another day. */
export function moment(text, nowMs) {
  const ms = Date.parse(text);
  const hour = clockText(ms).slice(0, 5);
  if (sameDay(ms, nowMs)) return hour;
  return `${dayText(ms)} ${hour}`;
}

/** 7 Dec 2026, 09:41:20. */
const wholeText = (text) => `${dayText(text)} ${new Date(text).getFullYear()}, ${clockText(text)}`;

// ---- Ages and moments, by the server's clock.

export function Age({since}) {
  const now = useNow(1000);
  return html`<time datetime=${since} title=${wholeText(since)}>${age(Date.parse(since), now)}</time>`;
}

export const When = ({at}) => html`<time datetime=${at} title=${wholeText(at)}>${moment(at, serverNow())}</time>`;
