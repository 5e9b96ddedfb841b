// Somebody else was first: what they did, and that nothing of ours was written. The draft can be copied out.
import {useNow} from "../lib/clock.js";
import {html} from "../lib/html.js";
import {age} from "../lib/time.js";
import {Dialog} from "./dialog.js";
import {ProblemBox} from "./problem.js";
import {Quote, Text} from "./text.js";

export function Conflict({problem, draft, close}) {
  const now = useNow(1000);
  const current = problem.body.current;
  const footer = html`<button class="btn lg" onClick=${close}>Close</button><span class="sp"></span>
    <button class="btn p lg" data-first onClick=${close}>Decide on the new record</button>`;
  return html`<${Dialog} title="Nothing of yours was written" close=${close} footer=${footer}>
    ${current?.actor && html`<p class="plain"><b><${Text} of=${current.actor.principal} /></b> decided this ${age(Date.parse(current.at), now)} ago. <${Quote} of=${current.reason} /></p>`}
    <${ProblemBox} problem=${problem} />
    ${problem.body.blocked?.map((one) => html`<p class="plain"><b><${Text} of=${one.label} /></b> ${one.operatorState?.headline}</p>`)}
    ${draft.reason && html`<p class="plain">Your reason is kept here: <${Quote} of=${draft.reason} /></p>`}<//>`;
}
