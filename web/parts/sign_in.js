// Signing in with a token: looked at by the daemon before it is kept.
import {useState} from "preact/hooks";
import {loadSession} from "../lib/api.js";
import {html} from "../lib/html.js";
import {forget, keepToken, signedOut} from "../lib/session.js";
import {ProblemBox} from "./problem.js";

async function signIn(text, again) {
  keepToken(text);
  try {
    await loadSession();
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
  return html`<section class="card sign"><h1>${title}</h1>
    <p class="muted">${again ? "What is shown stays. Sign in to go on." : "With a token of yours. It stays in this tab and goes with it."}</p>
    <form onSubmit=${submit}><label for="token">Token</label>
      <input id="token" type="password" autocomplete="off" spellcheck="false" autofocus value=${text} onInput=${(event) => setText(event.target.value)} />
      <button class="btn p lg">Sign in</button></form>
    <${ProblemBox} problem=${problem} />
    ${!again && html`<p class="muted">An admin makes one: <code>admitctl token create ana --role approver</code></p>`}</section>`;
}
