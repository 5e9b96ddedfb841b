// What stands around every screen: the bars, find, keys, the sign-in.
import {useEffect, useRef, useState} from "preact/hooks";
import {Problem, forget, get, isToken, keepToken, loadSession, signedOut} from "../lib/api.js";
import {dialog, drafts} from "../lib/acting.js";
import {html, useValue, value} from "../lib/html.js";
import {liveness, stopLive} from "../lib/live.js";
import {go, keysAreOn, link, route, say, setKeys, setTheme, theme, toast, useKeys} from "../lib/page.js";
import {QUEUE, cursor, order} from "../lib/queue.js";
import {forgetAll, useResource} from "../lib/resource.js";
import {clockText, useNow} from "../lib/time.js";
import {Dialog} from "./action_dialog.js";
import {Menu, step} from "./actions.js";
import {ProblemBox} from "./load.js";
import {Id, Text} from "./marks.js";

// ---- The line under the top bar when what is shown may be old.

export function Strip() {
  const {state, since} = useValue(liveness);
  useEffect(() => { if (state === "stale") say("Not live", "live"); }, [state]);
  if (state === "offline") return html`<div class="strip off" role="alert">Offline since ${clockText(since)}. What is shown is from before; nothing can be decided, drafts are kept.</div>`;
  if (state === "stale") return html`<div class="strip">Not live since ${clockText(since)}. Reading again every 10 seconds.</div>`;
  return html`<${Upkeep} />`;
}

const UPKEEP_MS = 30000; // no event tells of it

/** What the daemon does unasked and can't, in its words. */
function Upkeep() {
  const {data, reload} = useResource("/v1/health", {live: false});
  useEffect(() => { const timer = setInterval(reload, UPKEEP_MS); return () => clearInterval(timer); }, []);
  return data?.upkeep.filter((one) => one.failing).map((one) => html`<div key=${one.name} class="strip off" role="alert">${one.detail}.</div>`);
}

// ---- Find by label or id.

const WAIT_MS = 120;
const PLACES = {package: "packages", task: "tasks", project: "projects", decision: "decisions"};
const hashOf = (item) => link(PLACES[item.kind] ?? "log", item.kind === "grant" || item.kind === "run" ? item.packageId : item.id);

const look = (text) => get(`/v1/search?${new URLSearchParams({q: text, limit: "8"})}`).then((answer) => answer.items);

/** What has this text, once that is known: null before. */
function useFound(text) {
  const [found, setFound] = useState({});
  useEffect(() => {
    if (text.length < 2) return undefined;
    let is = true;
    const timer = setTimeout(() => look(text).then((items) => is && setFound({text, items}), () => {}), WAIT_MS);
    return () => { is = false; clearTimeout(timer); };
  }, [text]);
  return text.length > 1 && found.text === text ? found.items : null;
}

export function Find() {
  const [text, setText] = useState("");
  const wanted = text.trim();
  const found = useFound(wanted);
  const box = useRef(null);
  useKeys({"/": () => box.current.focus()});
  const open = (item) => { setText(""); box.current.blur(); go(hashOf(item)); };
  const onKeyDown = (event) => {
    if (event.key === "Escape") { setText(""); box.current.blur(); }
    if (event.key === "Enter" && event.target === box.current && wanted) look(wanted).then((items) => items[0] && open(items[0]), () => {});
    if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); step(event.currentTarget, event.key === "ArrowDown" ? 1 : -1); }
  };
  return html`<div class="find" role="search" onKeyDown=${onKeyDown}><svg class="s" aria-hidden="true"><use href="#i-find" /></svg>
    <input ref=${box} aria-label="Find a plan, package or id" placeholder="Find" value=${text} onInput=${(event) => setText(event.target.value)} /><kbd>/</kbd>
    ${found && html`<div class="menu">${found.length === 0 && html`<span role="status">Nothing has this name or id.</span>`}${found.map((item) => html`<a key=${item.kind + item.id} href=${hashOf(item)} onClick=${() => open(item)}><${Text} of=${item.label ?? item.id} /> <span class="faint">${item.kind}</span></a>`)}</div>`}</div>`;
}

// ---- Keys of the screen, versions; the sheet of all keys.

export const openKeys = value(false);

const QUEUE_KEYS = [["j k", "move"], ["↵", "open"], ["a", "approve…"], ["d", "deny…"], ["r", "request changes…"], ["x", "select"], ["?", "all keys"]];
const PACKAGE_KEYS = [["a", "approve…"], ["A", "always allow…"], ["d", "deny…"], ["r", "request changes…"], ["w", "why"], ["c", "copy id"], ["Esc", "back to the row"]];
const OTHER_KEYS = [["Esc", "back"], ["/", "find"], ["?", "all keys"]];
const ALL = [["j k", "move"], ["Enter", "open"], ["Esc", "back"], ["J K", "next, previous package"], ["a", "approve once…"], ["A", "always allow…"], ["d", "deny…"],
  ["r", "request changes…"], ["x", "select"], ["w", "why"], ["c", "copy id"], ["n", "show new rows"], ["/", "find"], ["g q", "queue"], ["g p", "projects"],
  ["g d", "decisions"], ["g l", "log"], ["g t", "trends"], ["g r", "rules"], ["Ctrl Enter", "confirm, for “once” only"], ["?", "all keys"]];

function Versions() {
  const {data} = useResource("/v1/version", {live: false});
  if (!data) return null;
  return html`<span class="faint">catalog <${Id} of=${data.catalogDigest} short=${true} /> · contract ${data.contractVersion} · admitd ${data.version}</span>`;
}

function Sheet() {
  const close = () => openKeys.set(false);
  return html`<${Dialog} title="Keys" about="No single key decides anything: it opens a dialog, a second press makes it." close=${close}
    footer=${html`<button class="btn lg" data-first onClick=${close}>Close</button>`}>
    <dl class="kv pad">${ALL.map(([key, does]) => html`<dt key=${key}>${key.split(" ").map((one) => html`<kbd>${one}</kbd> `)}</dt><dd>${does}</dd>`)}</dl><//>`;
}

export function Footer() {
  const {screen} = useValue(route);
  const open = useValue(openKeys);
  const on = useValue(keysAreOn);
  useKeys({"?": () => openKeys.set(true)});
  const keys = screen === "queue" ? QUEUE_KEYS : screen === "packages" ? PACKAGE_KEYS : OTHER_KEYS;
  return html`<footer class="foot">${on && keys.map(([key, does]) => html`<span key=${key}>${key.split(" ").map((one) => html`<kbd>${one}</kbd>`)}${does}</span>`)}<i class="sp"></i><${Versions} /></footer>${open && html`<${Sheet} />`}`;
}

// ---- Screens, find, live, server time, who.

const SCREENS = [["queue", "Queue", ["package", "packages", "tasks"]], ["projects", "Projects", []], ["decisions", "Decisions", []], ["log", "Log", []],
  ["trends", "Trends", []], ["rules", "Rules", []]];
const WORDS = {live: "Live", stale: "Not live", offline: "Offline", connecting: "Connecting"};

function Nav() {
  const {screen} = useValue(route);
  const {data} = useResource(QUEUE, {every: true});
  const links = SCREENS.map(([name, label]) => html`<a key=${name} href=${link(name)}>${label}</a>`);
  return html`<nav aria-label="Main">${SCREENS.map(([name, label, also]) => html`
    <a key=${name} href=${link(name)} aria-current=${screen === name || also.includes(screen) ? "page" : undefined}>${label}${name === "queue" && data && html` <span class="n">${data.items.length}</span>`}</a>`)}<${Menu} label="Screens" face="☰">${links}<//></nav>`;
}

function Live() {
  const {state} = useValue(liveness);
  const now = useNow(1000);
  const kind = {live: "live on", stale: "live stale", offline: "live off"}[state] ?? "live stale";
  return html`<div class=${kind}><svg aria-hidden="true"><use href=${state === "live" ? "#i-live" : "#i-off"} /></svg><b>${WORDS[state]}</b><span>${clockText(now)}</span></div>`;
}

/** What somebody saw and began isn't the next one's. */
function forgetPeople() {
  forgetAll();
  drafts.clear();
  for (const one of [toast, dialog, cursor]) one.set(null);
  order.ids = [];
}

function signOut() {
  stopLive();
  forgetPeople();
  document.title = "admitd";
  forget();
}

function Who({who}) {
  const face = html`<b><${Text} of=${who.principal} /></b> <span class="roles">${who.roles.join(", ")}</span>`;
  const mark = (name) => (theme() === name ? " ✓" : "");
  return html`<div class="who"><${Menu} label=${`${who.principal}, ${who.roles.join(", ")}`} face=${face} kind="btn">
    <button onClick=${() => setTheme("auto")}>Colours as the machine${mark("auto")}</button><button onClick=${() => setTheme("light")}>Light${mark("light")}</button>
    <button onClick=${() => setTheme("dark")}>Dark${mark("dark")}</button><hr />
    <button onClick=${() => openKeys.set(true)}>All keys</button><button onClick=${() => setKeys(!keysAreOn.get())}>${keysAreOn.get() ? "Switch keys off" : "Switch keys on"}</button><hr />
    <button onClick=${signOut}>Sign out</button><//></div>`;
}

export function TopBar({who}) {
  return html`<header class="top"><div class="brand"><svg aria-hidden="true"><use href="#i-gate" /></svg>admitd</div><${Nav} /><div class="sp"></div>
    <${Find} /><${Live} /><${Who} who=${who} /></header>`;
}

// ---- Signing in with a token: looked at by the daemon before it is kept.

async function signIn(text, again) {
  if (!isToken(text)) throw new Problem(0, {title: "That isn't a token", detail: "It has letters that no token has.", code: "unauthenticated"});
  keepToken(text);
  try {
    await loadSession((found) => found.principal !== again && forgetPeople());
  } catch (problem) {
    if (again) signedOut.set(true);
    else forget();
    throw problem;
  }
}

export function SignIn({again}) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState(null);
  const submit = (event) => {
    event.preventDefault();
    if (text.trim()) signIn(text.trim(), again).then(() => setText(""), setProblem);
  };
  const title = again ? `${again}'s token is none any more` : "Sign in";
  return html`<section class="card sign">${again ? html`<h2>${title}</h2>` : html`<h1>${title}</h1>`}
    <p class="muted">${again ? "What is shown stays. Sign in to go on." : "With a token of yours. It stays in this tab and goes with it."}</p>
    <form onSubmit=${submit}><label for="token">Token</label>
      <input id="token" type="password" autocomplete="off" spellcheck="false" autofocus value=${text} onInput=${(event) => setText(event.target.value)} />
      <button class="btn p lg">Sign in</button></form>
    <${ProblemBox} problem=${problem} />
    ${!again && html`<p class="muted">An admin makes one: <code>admitctl token create ana --role approver</code></p>`}</section>`;
}
