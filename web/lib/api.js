// Who is signed in, and the one way to the daemon.
import {value} from "./html.js";
import {setServerTime} from "./time.js";

// ---- Who is signed in. The token stays in this tab: no cookie, no other tab, gone with it.

const KEPT = "admitd.token";

export const session = value(null); // what GET /v1/session says
export const signedOut = value(false); // a token that was one, and is none now

export const token = () => sessionStorage.getItem(KEPT);

export function keepToken(text) {
  sessionStorage.setItem(KEPT, text);
}

/** A token is one word of plain letters: nothing else can be sent. */
export const isToken = (text) => /^[\x21-\x7e]+$/.test(text);

export function forget() {
  sessionStorage.removeItem(KEPT);
  session.set(null);
  signedOut.set(false);
}

export const mayNot = (action) => action.allowed === false;

/** Why an action is off, in words. */
export const whyNot = (action) => action.because;

// ---- The one way to the daemon. Addresses begin with /v1/ and nothing else is ever asked.

export const reachable = value(true);

/** An RFC 9457 problem, or no answer at all (`code` "unreachable"). */
export class Problem extends Error {
  constructor(status, body) {
    super(body.title);
    Object.assign(this, {status, body, title: body.title, detail: body.detail, code: body.code, instance: body.instance});
  }
}

const UNREACHABLE = {title: "The daemon can't be reached", code: "unreachable", detail: "Nothing was sent, or its answer was lost."};

function fields(body, key) {
  const all = {Accept: "application/json"};
  if (token()) all.Authorization = `Bearer ${token()}`;
  if (body !== undefined) all["Content-Type"] = "application/json";
  if (key) all["Idempotency-Key"] = key;
  return all;
}

export function checkHref(href) {
  if (!href.startsWith("/v1/")) throw new Error("an address that isn't the API's");
  return href;
}

/** The response, or a Problem. */
export async function request(method, href, {body, key, headers, signal} = {}) {
  const init = {method, headers: {...fields(body, key), ...headers}, signal, cache: "no-store"};
  if (body !== undefined) init.body = typeof body === "string" ? body : JSON.stringify(body);
  let answer;
  try {
    answer = await fetch(checkHref(href), init);
  } catch (fault) {
    if (fault.name === "AbortError") throw fault;
    reachable.set(false);
    throw new Problem(0, UNREACHABLE);
  }
  reachable.set(true);
  if (!answer.ok) throw await problemOf(answer);
  return answer;
}

async function problemOf(answer) {
  const body = await answer.json().catch(() => ({title: `HTTP ${answer.status}`, code: String(answer.status)}));
  if (answer.status === 401 && session.get()) signedOut.set(true);
  return new Problem(answer.status, body);
}

export async function ask(method, href, options) {
  const answer = await request(method, href, options);
  return answer.status === 204 ? null : answer.json().catch(() => { throw new Problem(0, UNREACHABLE); });
}

export const get = (href, options) => ask("GET", href, options);

/** The lines of a job: onLine(progress) for each, the last one's `result`. */
export async function job(method, href, body, onLine) {
  const answer = await request(method, href, {body, headers: {Accept: "application/x-ndjson, application/json"}});
  let last = null;
  for (const line of (await answer.text()).split("\n").filter(Boolean)) {
    last = JSON.parse(line);
    onLine(last);
  }
  return last;
}

/** Every page of a list. */
export async function all(href) {
  const first = await get(href);
  let next = first.next;
  while (next) {
    const page = await get(next);
    first.items.push(...page.items);
    next = page.next;
  }
  return first;
}

/** `before` is told who it is before anything else is. */
export async function loadSession(before) {
  const found = await get("/v1/session");
  before?.(found);
  setServerTime(found.serverTime);
  session.set(found);
  signedOut.set(false);
  return found;
}
