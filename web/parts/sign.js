// The signs of chapter 7.4: shape and colour, always beside their words.
import {html} from "../lib/html.js";

const ARMS = {never_approved: "ask", denied: "denied", used_up: "used", removed: "removed", narrowed: "narrow", root_changed: "root", expired: "clock",
  insufficient: "gap", taken_back: "back", no_root: "noroot"};
const STATES = {needs_project_context: "ask", mcp_needs_setup: "setup", deferred_boundary: "later", planning_context: "text", context_approved: "ok",
  plan_needs_changes: "plan", recompute: "again"};
const KINDS = {plan_waits_for_approval: "decide", plan_sent_back: "back", package_failed: "plan", run_silent: "clock", project_without_root: "noroot"};
const KIND_TONES = {package_failed: "red", run_silent: "amber", project_without_root: "amber"};

export const Sign = ({name, tone}) => html`<svg class=${`s t-${tone ?? "neutral"}`} aria-hidden="true"><use href=${`#i-${name}`} /></svg>`;

export const signOf = (state, arm) => ARMS[arm] ?? STATES[state?.key] ?? "dot";

export const StateSign = ({state, arm}) => html`<${Sign} name=${signOf(state, arm)} tone=${state?.tone} />`;

export function ItemSign({item}) {
  if (item.operatorState) return html`<${StateSign} state=${item.operatorState} arm=${item.arm} />`;
  return html`<${Sign} name=${KINDS[item.kind] ?? "dot"} tone=${KIND_TONES[item.kind]} />`;
}

const STATUSES = {allowed: ["ok", "green"], warning: ["later", "slate"], blocked: ["plan", "red"]};
export const StatusSign = ({status}) => html`<${Sign} name=${STATUSES[status]?.[0] ?? "dot"} tone=${STATUSES[status]?.[1]} />`;
