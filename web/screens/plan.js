// A plan: may it go ahead? Its packages as a graph, what stops each, and the approval with what it will do.
import {useEffect, useRef, useState} from "preact/hooks";
import {ask, mayNot, whyNot} from "../lib/api.js";
import {html, useValue} from "../lib/html.js";
import {back, link, say, useKeys} from "../lib/page.js";
import {dialog} from "../lib/acting.js";
import {useResource} from "../lib/resource.js";
import {MoreActions, start} from "../parts/actions.js";
import {Crumb, Timeline} from "../parts/story.js";
import {Graph, PlanRows} from "../parts/plan_parts.js";
import {countText} from "../parts/action_dialog.js";
import {Loading, ProblemBox} from "../parts/load.js";
import {Id, Quote, Text, plain} from "../parts/marks.js";
import {When, clockText, serverNow} from "../lib/time.js";

/** The preview of a proposed plan, taken again when the plan or what was known of it changes: not behind an open dialog, whose answer says
 *  what changed since. */
function usePreview(task) {
  const [found, set] = useState({data: null, problem: null});
  const asking = useRef(false);
  const isDeciding = Boolean(useValue(dialog));
  const take = () => {
    if (asking.current) return;
    asking.current = true;
    ask("POST", `/v1/tasks/${encodeURIComponent(task.id)}/preview`).then((data) => set({data, problem: null, at: serverNow()}), (problem) => set((before) => ({...before, problem}))).finally(() => { asking.current = false; });
  };
  const key = task && task.status === "proposed" ? `${task.planRevision} ${task.packages.map((one) => one.hold?.decisionId ?? "").join()}` : null;
  useEffect(() => { if (!key) set({data: null, problem: null}); else if (!isDeciding) take(); }, [key, isDeciding]);
  return {...found, take};
}

/** Said aloud when the last block goes. */
function useAnnounced(blocked, off) {
  const was = useRef(0);
  useEffect(() => {
    if (!off && was.current) say("Nothing blocks the plan any more. It can be approved.");
    if (blocked || !off) was.current = blocked;
  }, [blocked, off]);
}

function offReason(task, approve, blocked, isNewer) {
  if (task.status !== "proposed") return `This plan is ${task.status.replaceAll("_", " ")}.`;
  if (blocked) return `${blocked} of ${task.packages.length} packages ${blocked === 1 ? "is" : "are"} blocked. Free them or request changes.`;
  if (isNewer) return "Read the new revision first.";
  if (!approve) return "Checking…";
  return mayNot(approve) ? whyNot(approve) : null;
}

function Approve({task, approve, blocked, about, isNewer}) {
  const off = offReason(task, approve, blocked, isNewer);
  useAnnounced(blocked, off);
  const others = task.actions.filter((action) => action.id !== "approve");
  return html`<div class="acts plan-acts"><button class="btn p lg" data-action="approve" aria-disabled=${Boolean(off)} aria-describedby=${off ? "approve-off" : undefined} onClick=${() => approve && !off && start(approve, task.actions, about)}>Approve plan</button>
    ${others.slice(0, 2).map((action) => html`<button key=${action.id} class="btn lg" data-action=${action.id} aria-disabled=${mayNot(action)} title=${mayNot(action) ? whyNot(action) : undefined} onClick=${() => start(action, task.actions, about)}>${plain(action.label)}</button>`)}
    <${MoreActions} actions=${others.slice(2)} others=${others} about=${about} kind="btn lg" />${off && html`<span id="approve-off" class="why-off">${off}</span>`}</div>`;
}

function Meta({task, preview}) {
  return html`<div class="meta"><span><${Id} of=${task.id} /></span><span>Revision <b>${task.planRevision}</b></span><span>Sent by <b><${Text} of=${task.submittedBy.principal} /></b> <${When} at=${task.submittedAt} /></span><span>Status <b>${task.status.replaceAll("_", " ")}</b></span>
    ${task.approvedBy && html`<span>Approved by <b><${Text} of=${task.approvedBy.principal} /></b> <${When} at=${task.approvedAt} /></span>`}
    ${task.statusReason && html`<span><${Quote} of=${task.statusReason} /></span>`}
    ${preview.at && html`<span>Previewed <b>${clockText(preview.at)}</b> <button class="ta" onClick=${preview.take}>Check again</button></span>`}</div>`;
}

/** A newer revision than the one that was being read. */
function useNewer(task) {
  const first = useRef(null);
  if (task && first.current === null) first.current = task.planRevision;
  return {is: task && first.current !== task.planRevision, read() { first.current = task.planRevision; }};
}

export function Plan({id}) {
  const load = useResource(`/v1/tasks/${encodeURIComponent(id)}`);
  const task = load.data;
  const preview = usePreview(task);
  const newer = useNewer(task);
  const [, redraw] = useState(0);
  const events = useResource(`/v1/tasks/${encodeURIComponent(id)}/timeline?limit=500`).data?.items ?? [];
  useKeys({Escape: back});
  if (!task) return html`<h1 tabindex="-1" class="big"><${Id} of=${id} /></h1><${Loading} of=${load} />`;
  const blocked = task.status === "proposed" ? (preview.data?.counts.blocked ?? task.packages.filter((one) => one.hold).length) : 0;
  const approve = newer.is ? null : task.actions.find((action) => action.id === "approve");
  const about = html`<${Text} of=${task.title} />, revision ${task.planRevision}, ${countText(task.packages.length, "package")}`;
  return html`<${Crumb} steps=${[["Queue", "#/queue"], [task.project, link("projects", task.project)]]} /><div class="title"><h1 class="big" tabindex="-1"><${Text} of=${task.title} /></h1></div><${Meta} task=${task} preview=${preview} />
    <${Loading} of=${load} /><${ProblemBox} problem=${preview.problem} again=${preview.take} />
    ${newer.is && html`<div class="problem" role="alert"><b>Revision ${task.planRevision} arrived. Read it first.</b> <button class="btn" onClick=${() => { newer.read(); redraw((n) => n + 1); }}>I have read it</button></div>`}
    <div class="stick"><${Approve} task=${task} approve=${approve} blocked=${blocked} about=${about} isNewer=${newer.is} /></div>
    <div class="cols"><div><${Graph} packages=${task.packages} preview=${preview.data} /><${PlanRows} task=${task} preview=${preview.data} /></div>
      <div><section class="card"><div class="sec"><h2>What happened</h2><a href=${link("log", null, {task: task.id})}>Whole log</a></div><${Timeline} events=${events} named=${true} /></section></div></div>`;
}
