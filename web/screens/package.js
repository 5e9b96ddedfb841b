// A package: why it is held, what would free it and what that opens, what it asks for, and how its decision came about.
import {useEffect} from "preact/hooks";
import {back, copy, go, link, useKeys} from "../lib/page.js";
import {html} from "../lib/html.js";
import {QUEUE, cursor, order} from "../lib/queue.js";
import {peek, useResource} from "../lib/resource.js";
import {startById} from "../parts/actions.js";
import {Asks, RunCard, StatePanel, TerminalLine, Track} from "../parts/package_parts.js";
import {CopyId, Id, Text, plain} from "../parts/marks.js";
import {Crumb, Timeline} from "../parts/story.js";
import {Loading} from "../parts/load.js";
import {SeenCard} from "../parts/project_parts.js";

const aboutOf = (one) => html`Asked for by <${Text} of=${one.label} />, agent <${Text} of=${one.agent} />, plan revision ${one.planRevision}`;

/** The held packages before and after this one, as the queue showed them: also when this one is held no more. */
function neighbours(id) {
  const held = new Map((peek(QUEUE)?.items ?? []).filter((item) => item.packageId).map((item) => [item.packageId, item]));
  const ids = order.ids.includes(id) ? order.ids : [...held.keys()];
  const at = ids.indexOf(id);
  const near = (part) => part.find((one) => held.has(one));
  return {at, count: ids.length, item: held.get(id), before: near(ids.slice(0, Math.max(0, at)).reverse()), after: near(ids.slice(at + 1))};
}

function usePackageKeys(one, around) {
  const open = (other) => other && go(link("packages", other));
  const begin = (id) => one && startById(one.actions, id, aboutOf(one));
  useEffect(() => { if (around.item) cursor.set(around.item.id); }, [around.item?.id]);
  useKeys({Escape: back, J: () => open(around.after), K: () => open(around.before), a: () => begin("approve_once"), A: () => begin("approve_always"), d: () => begin("deny"),
    r: () => begin("request_changes"), c: () => one && copy(one.id, "id"), w: () => one?.lastDecision && go(link("decisions", one.lastDecision.decisionId))});
}

function After({one, task}) {
  if (!one.dependsOn.length) return null;
  const known = new Map((task?.packages ?? []).map((other) => [other.id, other]));
  return html`<span>After ${one.dependsOn.map((id, at) => html`${at > 0 && ", "}<a key=${id} href=${link("packages", id)}><${Text} of=${known.get(id)?.label ?? id} /></a> (${known.get(id)?.status ?? "…"})`)}</span>`;
}

function Meta({one, task}) {
  return html`<div class="meta"><${CopyId} of=${one.id} /><span>Agent <b><${Text} of=${one.agent} /></b></span><span>Plan revision <b>${one.planRevision}</b></span>
    <span>Attempts <b>${one.attempts} of ${one.attempts + one.attemptsLeft}</b></span><span>Status <b>${one.status}</b></span><${After} one=${one} task=${task} /></div>`;
}

const CALM = {completed: "green", running: "slate", failed: "red"};
const plainState = (one) => (one.unreadable ? {sign: "square, x", tone: "red", headline: "Can't be read", body: one.unreadable}
  : {key: "", tone: CALM[one.status] ?? "neutral", headline: `This package is ${one.status}`, body: one.status === "ready" ? "Nothing holds it; an executor may claim it." : "Nothing holds it."});

function Left({one, decision, decisionLoad}) {
  const state = one.operatorState ?? plainState(one);
  const more = decision ? decision.requirements.filter((other) => other.status === "blocked" && other.requirementKey !== one.hold?.requirementKey).length : 0;
  const note = one.hold && more > 0 && html`<p>${more} more reason${more > 1 ? "s hold" : " holds"} it: see below.</p>`;
  return html`<div><${StatePanel} state=${state} since=${one.hold?.since} actions=${one.actions} about=${aboutOf(one)} opens=${one.opens} note=${note} />
    ${decision ? html`<${Asks} decision=${decision} foot=${html`<${TerminalLine} action=${one.actions[0]} />`} />` : decisionLoad && html`<${Loading} of=${decisionLoad} />`}</div>`;
}

export function Package({id}) {
  const load = useResource(`/v1/packages/${encodeURIComponent(id)}`);
  const one = load.data;
  const task = useResource(one && `/v1/tasks/${encodeURIComponent(one.task)}`).data;
  const events = useResource(`/v1/packages/${encodeURIComponent(id)}/timeline?limit=500`).data?.items ?? [];
  const decisionId = one?.hold?.decisionId ?? one?.lastDecision?.decisionId;
  const decision = useResource(decisionId && `/v1/decisions/${decisionId}`, {live: false});
  useResource(QUEUE, {every: true});
  const around = neighbours(id);
  usePackageKeys(one, around);
  useEffect(() => { if (one) document.title = `${plain(one.label)} - admitd`; }, [one?.label]);
  if (!one) return html`<h1 tabindex="-1" class="big"><${Id} of=${id} /></h1><${Loading} of=${load} />`;
  return html`<${Crumb} steps=${[["Queue", "#/queue"], [one.project, link("projects", one.project)], [task?.title ?? one.task, link("tasks", one.task)]]} around=${around} />
    <div class="title"><h1 class="big" tabindex="-1"><${Text} of=${one.label} /></h1></div><${Meta} one=${one} task=${task} /><${Loading} of=${load} />
    <div class="cols"><${Left} one=${one} decision=${decision.data} decisionLoad=${decisionId && decision} />
      <div><${Track} events=${events} /><section class="card"><div class="sec"><h2>What happened</h2><a href=${link("log", null, {package: one.id})}>Whole log</a></div><${Timeline} events=${events} /></section>
        <${RunCard} id=${one.run} /><${SeenCard} project=${one.project} /></div></div>`;
}
