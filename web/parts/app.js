// Who is signed in decides what is there: the sign-in, or the bars with one screen between them.
import {useEffect, useState} from "preact/hooks";
import {loadSession, session, signedOut, token} from "../lib/api.js";
import {html, useValue} from "../lib/html.js";
import {startLive} from "../lib/live.js";
import {route, spoken} from "../lib/page.js";
import {screenOf} from "../screens/all.js";
import {ActionDialog} from "./action_dialog.js";
import {Footer, SignIn, Strip, TopBar} from "./bars.js";
import {ProblemBox} from "./load.js";
import {Toast} from "./actions.js";

function useStart() {
  const [problem, setProblem] = useState(null);
  const [known, setKnown] = useState(!token());
  useEffect(() => { if (token()) loadSession().catch(setProblem).finally(() => setKnown(true)); }, []);
  return {problem, known};
}

function Screen() {
  const {screen, id, query} = useValue(route);
  const Found = screenOf(id ? `${screen}/` : screen);
  if (!Found) return html`<main class="page" id="main"><h1 tabindex="-1">No such page</h1><p class="muted">The console has no ${screen}.</p></main>`;
  return html`<main class="page" id="main"><${Found} key=${`${screen}/${id}`} id=${id} query=${query} /></main>`;
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
  return html`<div class="app">${who ? html`<${Signed} />` : refused ? html`<main class="page"><${ProblemBox} problem=${problem} again=${() => location.reload()} /></main>` :
    known && html`<${SignIn} />`}<${Spoken} /></div>`;
}
