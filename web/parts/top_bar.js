// Screens, find, live, server time, who.
import {html} from "../lib/html.js";
import {useNow} from "../lib/clock.js";
import {keysAreOn, setKeys} from "../lib/keys.js";
import {liveness, stopLive} from "../lib/live.js";
import {forgetAll, useResource} from "../lib/resource.js";
import {link, route} from "../lib/router.js";
import {forget} from "../lib/session.js";
import {setTheme, theme} from "../lib/theme.js";
import {clockText} from "../lib/time.js";
import {useValue} from "../lib/value.js";
import {QUEUE} from "../lib/queue.js";
import {Find} from "./find.js";
import {openKeys} from "./footer.js";
import {Menu} from "./menu.js";
import {Text} from "./text.js";

const SCREENS = [["queue", "Queue", ["package", "packages", "tasks"]], ["projects", "Projects", []], ["decisions", "Decisions", []], ["log", "Log", []],
  ["trends", "Trends", []], ["rules", "Rules", []]];
const WORDS = {live: "Live", stale: "Not live", offline: "Offline", connecting: "Connecting"};

function Nav() {
  const {screen} = useValue(route);
  const {data} = useResource(QUEUE, {every: true});
  return html`<nav aria-label="Main">${SCREENS.map(([name, label, also]) => html`
    <a key=${name} href=${link(name)} aria-current=${screen === name || also.includes(screen) ? "page" : undefined}>${label}${name === "queue" && data && html` <span class="n">${data.items.length}</span>`}</a>`)}</nav>`;
}

function Live() {
  const {state} = useValue(liveness);
  const now = useNow(1000);
  const kind = {live: "live on", stale: "live stale", offline: "live off"}[state] ?? "live stale";
  return html`<div class=${kind}><svg aria-hidden="true"><use href=${state === "live" ? "#i-live" : "#i-off"} /></svg><b>${WORDS[state]}</b><span>${clockText(now)}</span></div>`;
}

function signOut() {
  stopLive();
  forgetAll();
  forget();
}

function Who({who}) {
  const face = html`<b><${Text} of=${who.principal} /></b> <span class="roles">${who.roles.join(", ")}</span>`;
  const mark = (name) => (theme() === name ? " ✓" : "");
  return html`<div class="who"><${Menu} label=${`${who.principal}, ${who.roles.join(", ")}`} face=${face} kind="btn">
    <button onClick=${() => setTheme("auto")}>Colours as the machine${mark("auto")}</button><button onClick=${() => setTheme("light")}>Light${mark("light")}</button>
    <button onClick=${() => setTheme("dark")}>Dark${mark("dark")}</button><hr />
    <button onClick=${() => openKeys.set(true)}>All keys</button><button onClick=${() => setKeys(!keysAreOn())}>${keysAreOn() ? "Switch keys off" : "Switch keys on"}</button><hr />
    <button onClick=${signOut}>Sign out</button><//></div>`;
}

export function TopBar({who}) {
  return html`<header class="top"><div class="brand"><svg aria-hidden="true"><use href="#i-gate" /></svg>admitd</div><${Nav} /><div class="sp"></div>
    <${Find} /><${Live} /><${Who} who=${who} /></header>`;
}
