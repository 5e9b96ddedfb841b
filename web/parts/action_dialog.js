// Every action that asks first: its scope, what it needs from a person, what it would do, and a button that says so.
import {useEffect, useRef, useState} from "preact/hooks";
import {curl, dialog, done, draftKey, drafts, isGrant, leave, newKey, openDialog, rehearse, send} from "../lib/acting.js";
import {all, mayNot, reachable, whyNot} from "../lib/api.js";
import {html, useValue} from "../lib/html.js";
import {onEvents} from "../lib/live.js";
import {copy, tell} from "../lib/page.js";
import {QUEUE} from "../lib/queue.js";
import {age, serverNow, useNow} from "../lib/time.js";
import {ProblemBox} from "./load.js";
import {Quote, Sign, StateSign, Text} from "./marks.js";
import {Inputs} from "./story.js";

// ---- A native dialog: the browser keeps the focus in it and gives it back.

export function Dialog({title, about, close, children, footer}) {
  const box = useRef(null);
  useEffect(() => {
    const before = document.activeElement;
    box.current.showModal();
    box.current.querySelector("[data-first]")?.focus();
    return () => leave(before);
  }, []);
  const onCancel = (event) => { event.preventDefault(); close(); };
  return html`<dialog class="dlg" ref=${box} aria-labelledby="dialog-title" onCancel=${onCancel}>
    <header><h2 id="dialog-title">${title}</h2>${about && html`<p>${about}</p>`}</header>
    ${children}<footer>${footer}</footer></dialog>`;
}

// ---- When an approval ends. "Always" begins with a week; that it never ends must be chosen.

const DAY_MS = 24 * 3600 * 1000;
const CHOICES = [["1", "in 1 day"], ["7", "in 7 days"], ["30", "in 30 days"], ["90", "in 90 days"]];

export const endsAt = (days) => (days ? new Date(Math.ceil((serverNow() + days * DAY_MS) / 3600000) * 3600000).toISOString() : null);

const timeText = (at) => new Date(at).toLocaleString("en-GB", {weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit"});

/** Without a choice: as the action comes. */
export function Ends({of, set, action}) {
  return html`<select id="ends" value=${of} onChange=${(event) => set(event.target.value)}>
    ${CHOICES.map(([days, text]) => html`<option key=${days} value=${days} selected=${of === days}>${text}, ${timeText(endsAt(days))}</option>`)}
    <option value="" selected=${of === ""}>${action.id === "approve_once" ? "after one attempt" : action.body.expiresAt ? `as now, ${timeText(action.body.expiresAt)}` : "no end"}</option></select>`;
}

// ---- For this package once, or for the project always: the two are actions of their own, side by side.

const SCOPES = {approve_once: ["This package, once", "One attempt, then it asks again"], approve_always: ["The project, always", "Every package, until it ends"]};

export function Scope({action, others, choose}) {
  if (!SCOPES[action.id]) return null;
  const both = others.filter((one) => SCOPES[one.id]);
  const list = ["approve_once", "approve_always"].map((id) => (id === action.id ? action : both.find((one) => one.id === id))).filter(Boolean);
  if (list.length < 2) return null;
  return html`<span>For</span><div class="rad" role="radiogroup" aria-label="For">${list.map((one) => html`
    <label key=${one.id}><input type="radio" name="scope" checked=${one.id === action.id} onChange=${() => choose(one)} /><b>${SCOPES[one.id][0]}</b><span>${SCOPES[one.id][1]}</span></label>`)}</div>`;
}

const projectOf = (action) => decodeURIComponent(action.href.split("/")[3]);
const day = (text) => new Date(text).toLocaleDateString("en-GB", {day: "numeric", month: "short"});

export function Warning({action, body}) {
  if (action.id !== "approve_always") return null;
  const until = body.expiresAt ? `Until ${day(body.expiresAt)} any` : "From now on, without an end, any";
  const may = body.capabilities.map((name) => name.split(".").pop()).join(", ").replace(/, ([^,]*)$/, " and $1");
  return html`<div class="warn"><${Sign} name="setup" tone="amber" /><div><b>This opens ${projectOf(action)} to plans nobody has seen yet.</b> ${until} plan in
    ${" "}${projectOf(action)} may ${may} its files without asking.</div></div>`;
}

// ---- What an approval or denial would do, as the daemon rehearsed it.

export const countText = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

export function Impact({impact, checkedAt, was}) {
  const now = useNow(1000);
  if (!impact) return html`<section class="imp" aria-busy="true"><h3>Asking what it would do…</h3></section>`;
  return html`<section class="imp" aria-live="polite"><h3><${Text} of=${impact.headline} /> <span>${was && `was: ${was}, `}checked ${age(checkedAt, now)} ago</span></h3><ul>${impact.lines.map((line, at) => html`
    <li key=${at}><${StateSign} state=${line} /><b><${Text} of=${line.text} /></b><span><${Text} of=${line.does} /></span></li>`)}</ul></section>`;
}

// ---- Somebody else was first: what they did, and that nothing of ours was written. The draft can be copied out.

/** The same action as it is now, from the queue read again; its draft comes along. */
async function decideAnew(action, draft, about, close) {
  const page = await all(QUEUE).catch(() => ({items: []}));
  const item = page.items.find((one) => one.actions.some((other) => other.id === action.id && other.href === action.href));
  close();
  if (item) openDialog(item.actions.find((other) => other.id === action.id && other.href === action.href), item.actions, about, draft.reason);
  else tell("Nothing of it waits any more.");
}

export function Conflict({problem, draft, action, about, close}) {
  const now = useNow(1000);
  const current = problem.body.current;
  const footer = html`<button class="btn lg" onClick=${close}>Close</button><span class="sp"></span>
    <button class="btn p lg" data-first onClick=${() => decideAnew(action, draft, about, close)}>Decide on the new record</button>`;
  return html`<${Dialog} title=${action.id === "approve" ? "Nothing was approved" : "Nothing of yours was written"} close=${close} footer=${footer}>
    ${current?.actor && html`<p class="plain"><b><${Text} of=${current.actor.principal} /></b> decided this ${age(Date.parse(current.at), now)} ago. <${Quote} of=${current.reason} /></p>`}
    <${ProblemBox} problem=${problem} />
    ${problem.body.blocked?.map((one) => html`<p class="plain"><b><${Text} of=${one.label} /></b> <${Text} of=${one.operatorState?.headline} /></p>${one.changedInputs.length > 0 && html`<div class="plain"><p class="muted">Changed since the ${one.comparedWith?.surface ?? "preview"}</p><div class="diff"><${Inputs} of=${one.changedInputs} /></div></div>`}`)}
    ${draft.reason && html`<p class="plain">Your reason is kept: <${Quote} of=${draft.reason} /></p>`}<//>`;
}

const DEAD_MS = 400;
const CHANGED_MS = 1000;
const AGAIN_MS = 500;
const REASON_MAX = 500;
const bare = (label) => label.replace(/…$/, "");
const CONFLICTS = ["revision_conflict", "root_changed", "plan_revision_conflict", "task_status", "package_status", "already_covered", "nothing_to_revoke",
  "admission_blocked"];

/** A button that can't be pressed by who just came, or just after what it says has changed: from the moment that it is drawn so. */
function useAwake(label) {
  const [awake, setAwake] = useState(null); // the label that has been there long enough
  const first = useRef(true);
  useEffect(() => {
    const timer = setTimeout(() => setAwake(label), first.current ? DEAD_MS : CHANGED_MS);
    first.current = false;
    return () => { clearTimeout(timer); setAwake(null); };
  }, [label]);
  return awake === label;
}

/** Asked again when something happens: what is said to open is what opens. `was`: what was said before, if it was something else. */
function useRehearsal(action, body) {
  const [found, setFound] = useState({impact: null, at: 0, problem: null});
  const asked = JSON.stringify([action.href, body]);
  useEffect(() => {
    if (!isGrant(action)) return undefined;
    let is = true;
    let timer = 0;
    const show = (impact, problem, fresh) => is && setFound((before) => ({impact, problem, at: serverNow(),
      was: fresh ? null : before.impact?.brief === impact?.brief ? before.was : before.impact?.brief}));
    const ask = (fresh) => { timer = 0; rehearse(action, body).then((answer) => show(answer.impact, null, fresh), (problem) => show(null, problem, fresh)); };
    timer = setTimeout(ask, 30, true);
    const leaveAlone = onEvents(() => { timer ||= setTimeout(ask, AGAIN_MS); });
    return () => { is = false; clearTimeout(timer); leaveAlone(); };
  }, [asked]);
  return found;
}

/** Whether a person chooses what may be read: a package is approved as a whole. */
const isChosen = (action) => action.id === "approve_always" || action.id === "narrow";

function bodyOf(action, draft) {
  const body = {...action.body};
  if (body.capabilities && isChosen(action)) body.capabilities = body.capabilities.filter((name) => !draft.without.includes(name));
  if (action.inputs.includes("expiresAt") && endsAt(draft.ends)) body.expiresAt = endsAt(draft.ends);
  if (action.inputs.includes("root")) body.root = draft.root;
  return body;
}

const withReason = (action, draft, body) => (action.inputs.includes("reason") && draft.reason.trim() ? {...body, reason: draft.reason.trim()} : body);

function buttonText(action, impact) {
  const text = bare(action.label);
  return impact?.brief ? `${text}, ${impact.brief}` : text;
}

function startDraft(action, reason = "") {
  return {reason, root: "", without: [], ends: action.id === "approve_always" ? "7" : ""};
}

function Fields({action, draft, change}) {
  const needs = (name) => action.inputs.includes(name);
  return html`${action.body.capabilities && html`<span>May read</span><div class="row">${action.body.capabilities.map((name) => html`
      <label class="tick" key=${name}><input type="checkbox" checked=${!draft.without.includes(name)} disabled=${!isChosen(action)}
        onChange=${(event) => change({without: event.target.checked ? draft.without.filter((one) => one !== name) : [...draft.without, name]})} /><code>${name}</code></label>`)}</div>`}
    ${needs("expiresAt") && html`<label for="ends">Ends</label><div class="row"><${Ends} of=${draft.ends} set=${(ends) => change({ends})} action=${action} /></div>`}
    ${needs("root") && html`<label for="root">Folder</label><input id="root" data-first value=${draft.root} onInput=${(event) => change({root: event.target.value})} placeholder="/srv/projects/…" />`}
    ${needs("reason") && html`<label for="reason">Reason</label><input id="reason" data-first maxlength=${REASON_MAX} autocomplete="off" value=${draft.reason}
      onInput=${(event) => change({reason: event.target.value})} />`}`;
}

/** Sends once; the draft stays whatever comes back. */
function useSending(close) {
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const key = useRef(newKey());
  const sent = useRef(false);
  const go = async (action, body) => {
    if (sent.current) return;
    sent.current = true;
    setBusy(true);
    setProblem(null);
    try {
      const answer = await send(action, body, key.current);
      close();
      done(action, answer);
    } catch (fault) {
      setProblem(fault);
      if (fault.code === "idempotency_mismatch" || CONFLICTS.includes(fault.code)) key.current = newKey();
    }
    sent.current = false;
    setBusy(false);
  };
  return {problem, busy, go, key};
}

const missing = (action, draft, body) => (action.inputs.includes("reason") && !draft.reason.trim() ? "Say why first." :
  action.inputs.includes("root") && !draft.root.trim() ? "Name the folder first." : body.capabilities && body.capabilities.length === 0 ? "Choose what may be read." : null);

/** An approval for a project names it. */
function titleOf(action) {
  const title = bare(action.label);
  return action.id === "approve_always" && !title.includes(projectOf(action)) ? `${title} in ${projectOf(action)}` : title;
}

function ActionForm({open, close}) {
  const [action, setAction] = useState(open.action);
  const [draft, setDraft] = useState(startDraft(open.action, open.reason));
  const change = (changes) => setDraft({...draft, ...changes});
  useEffect(() => { drafts.set(draftKey(action), draft.reason); }, [draft.reason]);
  const body = bodyOf(action, draft);
  const found = useRehearsal(action, body);
  const sending = useSending(close);
  const online = useValue(reachable);
  const label = buttonText(action, found.impact);
  const awake = useAwake(label);
  const full = withReason(action, draft, body);
  const off = !online ? "Offline: nothing can be decided now." : mayNot(action) ? whyNot(action) : missing(action, draft, body);
  const confirm = () => { if (!off && awake && !sending.busy) sending.go(action, full); };
  const onKeyDown = (event) => { if (event.key === "Enter" && event.ctrlKey && action.id !== "approve_always") confirm(); };
  const choose = (next) => { setAction(next); setDraft({...startDraft(next), reason: draft.reason}); };
  const footer = html`<button class="btn lg" onClick=${close}>Cancel</button><span class="esc">Esc</span><span class="sp"></span>
    ${off && html`<span class="why-off" id="off">${off}</span>`}
    <button class="btn lg" onClick=${() => copy(curl(action, full, sending.key.current), "curl command")}>Copy as curl</button>
    <button class="btn p lg" data-confirm aria-disabled=${Boolean(off) || !awake || sending.busy} aria-describedby=${off ? "off" : undefined} onClick=${confirm}>${label}</button>`;
  if (CONFLICTS.includes(sending.problem?.code)) return html`<${Conflict} problem=${sending.problem} draft=${draft} action=${action} about=${open.about} close=${close} />`;
  return html`<${Dialog} title=${titleOf(action)} about=${open.about} close=${close} footer=${footer}>
    <div class="b" onKeyDown=${onKeyDown}><${Scope} action=${action} others=${open.others} choose=${choose} /><${Fields} action=${action} draft=${draft} change=${change} /></div>
    <${Warning} action=${action} body=${body} /><${ProblemBox} problem=${sending.problem ?? found.problem} />
    ${isGrant(action) && !found.problem && html`<${Impact} impact=${found.impact} checkedAt=${found.at} was=${found.was} />`}<//>`;
}

export function ActionDialog() {
  const open = useValue(dialog);
  return open && html`<${ActionForm} key=${open.opened} open=${open} close=${() => dialog.set(null)} />`;
}
