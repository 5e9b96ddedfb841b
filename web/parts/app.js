// Who is signed in decides what is there: the sign-in, or the bars with one screen between them.
import {useEffect, useLayoutEffect, useRef, useState} from "preact/hooks";
import {loadSession, session, signedOut, token} from "../lib/api.js";
import {html, useValue} from "../lib/html.js";
import {startLive} from "../lib/live.js";
import {route, spoken} from "../lib/page.js";
import {screenOf} from "../screens/all.js";
import {ActionDialog} from "./action_dialog.js";
import {Footer, SignIn, Strip, TopBar} from "./bars.js";
import {ProblemBox} from "./load.js";
import {Toast} from "./actions.js";
import {Text, plain} from "./marks.js";

function useStart() {
  const [problem, setProblem] = useState(null);
  const [known, setKnown] = useState(!token());
  useEffect(() => { if (token()) loadSession().catch(setProblem).finally(() => setKnown(true)); }, []);
  return {problem, known};
}

/** A screen that comes begins at its top, with a title, and takes the focus that the one before it had. */
function useArrival(screen, id) {
  const main = useRef(null);
  const first = useRef(true);
  useLayoutEffect(() => {
    document.title = plain(`${screen[0].toUpperCase()}${screen.slice(1)}${id ? ` ${id}` : ""} - admitd`);
    if (!first.current) scrollTo(0, 0);
  }, [screen, id]);
  useEffect(() => {
    if (!first.current && document.activeElement === document.body) main.current.focus({preventScroll: true});
    first.current = false;
  }, [screen, id]);
  return main;
}

const NONE = ({name}) => html`<h1 tabindex="-1">No such page</h1><p class="muted">The console has no <${Text} of=${name} />.</p>`;

function Screen() {
  const {screen, id, query} = useValue(route);
  const main = useArrival(screen, id);
  const Found = screenOf(id ? `${screen}/` : screen) ?? NONE;
  return html`<main class="page" id="main" ref=${main} tabindex="-1" style=${{outline: 0}}><${Found} key=${`${screen}/${id}`} id=${id} query=${query} name=${screen} /></main>`;
}

function Signed() {
  const who = useValue(session);
  const out = useValue(signedOut);
  useEffect(() => startLive(), [who.token, out]);
  return html`<a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.querySelector("h1")?.focus(); }}>To the content</a>
    <${TopBar} who=${who} /><${Strip} />${out && html`<${SignIn} again=${who.principal} />`}<${Screen} /><${Footer} /><${ActionDialog} /><${Toast} />`;
}

const Spoken = () => html`<div class="hid" role="status">${useValue(spoken)}</div>`;

export function App() {
  const {problem, known} = useStart();
  const who = useValue(session);
  const refused = problem && problem.status !== 401;
  return html`<div class="app">${who ? html`<${Signed} key=${who.principal} />` : refused ? html`<main class="page"><${ProblemBox} problem=${problem} again=${() => location.reload()} /></main>` :
    known && html`<${SignIn} />`}<${Spoken} /></div>`;
}
