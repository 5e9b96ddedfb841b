// Every action that asks first: its scope, what it needs from a person, what it would do, and a button that says so.
import {useEffect, useRef, useState} from "preact/hooks";
import {dialog, isGrant, newKey, rehearse, send} from "../lib/acting.js";
import {mayNot, whyNot} from "../lib/session.js";
import {serverNow} from "../lib/clock.js";
import {copy} from "../lib/copy.js";
import {html} from "../lib/html.js";
import {reachable} from "../lib/api.js";
import {useValue} from "../lib/value.js";
import {curl} from "../lib/terminal.js";
import {done} from "../lib/undo.js";
import {Conflict} from "./conflict.js";
import {Dialog} from "./dialog.js";
import {Ends, endsAt} from "./ends.js";
import {Impact} from "./impact.js";
import {ProblemBox} from "./problem.js";
import {Scope, Warning} from "./scope.js";

const DEAD_MS = 400;
const CHANGED_MS = 1000;
const REASON_MAX = 500;
const bare = (label) => label.replace(/…$/, "");
const CONFLICTS = ["revision_conflict", "root_changed", "plan_revision_conflict", "task_status", "package_status", "already_covered", "nothing_to_revoke",
  "admission_blocked"];

/** A button that can't be pressed by who just came, or just after what it says has changed. */
function useAwake(preview) {
  const [awake, setAwake] = useState(false);
  const first = useRef(true);
  useEffect(() => {
    setAwake(false);
    const timer = setTimeout(() => setAwake(true), first.current ? DEAD_MS : CHANGED_MS);
    first.current = false;
    return () => clearTimeout(timer);
  }, [preview]);
  return awake;
}

function useRehearsal(action, body) {
  const [found, setFound] = useState({impact: null, at: 0, problem: null});
  const asked = JSON.stringify([action.href, body]);
  useEffect(() => {
    if (!isGrant(action)) return undefined;
    let is = true;
    const timer = setTimeout(() => rehearse(action, body).then(
      (answer) => is && setFound({impact: answer.impact, at: serverNow(), problem: null}),
      (problem) => is && setFound({impact: null, at: serverNow(), problem})), 30);
    return () => { is = false; clearTimeout(timer); };
  }, [asked]);
  return found;
}

function bodyOf(action, draft) {
  const body = {...action.body};
  if (body.capabilities && action.id === "approve_always") body.capabilities = body.capabilities.filter((name) => !draft.without.includes(name));
  if (action.inputs.includes("expiresAt") && endsAt(draft.ends)) body.expiresAt = endsAt(draft.ends);
  if (action.inputs.includes("root")) body.root = draft.root;
  return body;
}

const withReason = (action, draft, body) => (action.inputs.includes("reason") && draft.reason.trim() ? {...body, reason: draft.reason.trim()} : body);

function buttonText(action, impact) {
  const text = bare(action.label);
  if (!impact) return text;
  if (impact.opens.length) return `${text}, opens ${impact.opens.length}`;
  return impact.holds.length ? `${text}, holds ${impact.holds.length}` : text;
}

function startDraft(action) {
  return {reason: "", root: "", without: [], ends: action.id === "approve_always" ? "7" : ""};
}

function Inputs({action, draft, change}) {
  const needs = (name) => action.inputs.includes(name);
  return html`${action.body.capabilities && html`<span>May read</span><div class="row">${action.body.capabilities.map((name) => html`
      <label class="tick" key=${name}><input type="checkbox" checked=${!draft.without.includes(name)} disabled=${action.id !== "approve_always"}
        onChange=${(event) => change({without: event.target.checked ? draft.without.filter((one) => one !== name) : [...draft.without, name]})} /><code>${name}</code></label>`)}</div>`}
    ${needs("expiresAt") && html`<label for="ends">Ends</label><div class="row"><${Ends} of=${draft.ends} set=${(ends) => change({ends})} once=${action.id === "approve_once"} /></div>`}
    ${needs("root") && html`<label for="root">Folder</label><input id="root" data-first value=${draft.root} onInput=${(event) => change({root: event.target.value})} placeholder="/srv/projects/…" />`}
    ${needs("reason") && html`<label for="reason">Reason</label><input id="reason" data-first maxlength=${REASON_MAX} autocomplete="off" value=${draft.reason}
      onInput=${(event) => change({reason: event.target.value})} />`}`;
}

/** Sends once; the draft stays whatever comes back. */
function useSending(close) {
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const key = useRef(newKey());
  const go = async (action, body) => {
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
    setBusy(false);
  };
  return {problem, busy, go, key};
}

const missing = (action, draft, body) => (action.inputs.includes("reason") && !draft.reason.trim() ? "Say why first." :
  action.inputs.includes("root") && !draft.root.trim() ? "Name the folder first." : body.capabilities && body.capabilities.length === 0 ? "Choose what may be read." : null);

function ActionForm({open, close}) {
  const [action, setAction] = useState(open.action);
  const [draft, setDraft] = useState(startDraft(open.action));
  const change = (changes) => setDraft({...draft, ...changes});
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
  if (CONFLICTS.includes(sending.problem?.code)) return html`<${Conflict} problem=${sending.problem} draft=${draft} close=${close} />`;
  return html`<${Dialog} title=${bare(action.label)} about=${open.about} close=${close} footer=${footer}>
    <div class="b" onKeyDown=${onKeyDown}><${Scope} action=${action} others=${open.others} choose=${choose} /><${Inputs} action=${action} draft=${draft} change=${change} /></div>
    <${Warning} action=${action} body=${body} /><${ProblemBox} problem=${sending.problem ?? found.problem} />
    ${isGrant(action) && !found.problem && html`<${Impact} impact=${found.impact} checkedAt=${found.at} isRefusal=${action.body.decision !== "approved"} />`}<//>`;
}

export function ActionDialog() {
  const open = useValue(dialog);
  return open && html`<${ActionForm} key=${open.opened} open=${open} close=${() => dialog.set(null)} />`;
}
