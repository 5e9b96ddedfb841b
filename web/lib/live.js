// Events as they happen. HTTP/1.1 gives an origin six connections, so of all tabs of one token one holds the stream (a Web Lock) and tells
// the others (a BroadcastChannel).
import {loadSession, reachable, request, session, signedOut} from "./api.js";
import {value} from "./html.js";
import {serverNow, setServerTime} from "./time.js";

// ---- Server-sent events from a fetch: EventSource can't send Authorization.
function parse(block) {
  const event = {type: "message", id: null, data: ""};
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    const text = line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") event.type = text;
    else if (name === "id") event.id = text;
    else if (name === "data") event.data += text;
  }
  return event;
}

/** Calls onEvent for each event until the stream ends. */
export async function readStream(body, onEvent) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks.map(parse)) if (block.data) onEvent(block);
  }
}

const SILENT_MS = 35000;
const POLL_MS = 10000;
const AGAIN_MS = [500, 1000, 2000, 4000, 8000];

export const liveness = value({state: "connecting", since: 0}); // live, stale, offline
const listeners = new Set();
let channel = null;
let ending = null;
let heardAt = 0;
let lastId = null;

export function onEvents(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tell(message) {
  if (message.serverTime) setServerTime(message.serverTime);
  heardAt = Date.now();
  if (liveness.get().state !== "live") liveness.set({state: "live", since: serverNow()});
  if (message.events) for (const listener of [...listeners]) listener(message.events);
}

function share(message) {
  channel?.postMessage(message);
  tell(message);
}

function heard(event) {
  if (event.id) lastId = event.id;
  const data = JSON.parse(event.data);
  if (event.type === "beat") share({serverTime: data.serverTime});
  else if (event.type === "reset") share({events: [{type: "reset"}], serverTime: data.serverTime});
  else share({events: [data]});
}

async function hold(signal) {
  const headers = {Accept: "text/event-stream"};
  if (lastId) headers["Last-Event-ID"] = lastId;
  const answer = await request("GET", "/v1/events", {headers, signal});
  if (!lastId) share({events: [{type: "reset"}]}); // what is shown was read before the stream began
  await readStream(answer.body, heard);
}

const wait = (ms, signal) => new Promise((done) => {
  const timer = setTimeout(done, ms);
  signal.addEventListener("abort", () => { clearTimeout(timer); done(); }, {once: true});
});

async function holdOn(signal) {
  for (let tries = 0; !signal.aborted && !signedOut.get(); tries++) {
    const began = Date.now();
    await hold(signal).catch(() => {});
    if (Date.now() - began > SILENT_MS) tries = 0;
    judge();
    await wait(AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)] * (0.75 + Math.random() / 2), signal);
  }
}

/** What the top bar says: an unreachable daemon, or one that has been silent. */
function judge() {
  const now = liveness.get().state;
  if (!reachable.get() && now !== "offline") liveness.set({state: "offline", since: serverNow()});
  else if (reachable.get() && now === "offline") liveness.set({state: "stale", since: serverNow()});
  else if (reachable.get() && (now === "live" || now === "connecting") && Date.now() - heardAt > SILENT_MS) liveness.set({state: "stale", since: serverNow() - (Date.now() - heardAt)});
}

function poll() {
  judge();
  if (liveness.get().state === "live" || signedOut.get()) return;
  loadSession().then(() => {
    judge();
    for (const listener of [...listeners]) listener([{type: "reset"}]);
  }, judge);
}

export function stopLive() {
  ending?.abort();
  channel?.close();
  ending = channel = null;
  lastId = null;
}

export function startLive() {
  stopLive();
  ending = new AbortController();
  const {signal} = ending;
  const name = `admitd.live.${session.get().token}`;
  channel = new BroadcastChannel(name);
  channel.onmessage = (event) => tell(event.data);
  heardAt = Date.now();
  const timer = setInterval(poll, POLL_MS);
  const unfollow = reachable.follow(judge);
  signal.addEventListener("abort", () => { clearInterval(timer); unfollow(); }, {once: true});
  if (navigator.locks) navigator.locks.request(name, {signal}, () => holdOn(signal)).catch(() => {});
  else holdOn(signal);
}
