// What an event of the log says, in a line: who did what. The words of states are the daemon's; these are of events.
const SURFACES = {preview: "Preview", approval: "Approval", handoff: "Handoff"};
const ENDS = {blocked: "refused", warning: "with a warning", allowed: "allowed"};
const SIGNS = {"hold.opened": ["removed", "amber"], "hold.changed": ["removed", "amber"], "hold.cleared": ["ok", "green"], "run.claimed": ["run", "neutral"],
  "task.status": ["dot", "neutral"], "package.status": ["dot", "neutral"], "health.changed": ["setup", "neutral"], "catalog.replaced": ["again", "neutral"]};
const GRANTED = {approved: ["approved", "ok", "green"], denied: ["denied", "denied", "amber"], revoked: ["removed", "removed", "amber"]};

const who = (event) => event.actor?.principal ?? "The daemon";

function surfaceWords(event, detail) {
  const blocked = detail.status === "blocked";
  return {sign: "decide", tone: blocked ? "amber" : "neutral", head: `${SURFACES[event.surface]} ${ENDS[detail.status] ?? detail.status ?? ""}`, by: who(event), inputs: detail.changedInputs ?? []};
}

function grantWords(event, detail) {
  const [verb, sign, tone] = GRANTED[detail.decision] ?? ["decided", "dot", "neutral"];
  const what = event.packageId ?? event.package ? (detail.decision === "approved" ? "this package, once" : "this package's read access") : "read access of the project";
  return {sign, tone, head: `${who(event)} ${verb} ${what}`, quote: detail.reason};
}

const PLAIN = {
  "hold.opened": (event, detail) => ({head: "Held", text: detail.hold?.reason}),
  "hold.changed": (event, detail) => ({head: "Held for another reason", text: detail.hold?.reason}),
  "hold.cleared": (event) => ({head: "Not held any more", by: who(event)}),
  "run.claimed": (event) => ({head: `Claimed by ${who(event)}`}),
  "run.ended": (event, detail) => ({head: `Run ${detail.outcome ?? "ended"}`, quote: detail.summary, sign: detail.outcome === "succeeded" ? "ok" : "plan", tone: detail.outcome === "succeeded" ? "green" : "red"}),
  "task.status": (event, detail) => ({head: `Plan ${String(detail.after ?? "").replaceAll("_", " ")}`, by: who(event), quote: detail.reason}),
  "package.status": (event, detail) => ({head: `${detail.before ?? "new"} → ${detail.after}`, minor: true}),
};

/** {sign, tone, head, by?, quote?, text?, inputs?, minor?} of an event or a row of the log. */
export function words(event) {
  const detail = event.changed ?? event.payload ?? {};
  if (event.surface) return surfaceWords(event, detail);
  if (event.type === "grant.recorded") return grantWords(event, detail);
  const [sign, tone] = SIGNS[event.type] ?? ["dot", "neutral"];
  return {sign, tone, ...(PLAIN[event.type]?.(event, detail) ?? {head: event.type.replace(".", " "), by: who(event)})};
}

/** The events with runs of minor ones folded: [{event, folded: [events]}]. */
export function fold(events) {
  const lines = [];
  for (const event of events) {
    const minor = words(event).minor;
    const last = lines.at(-1);
    if (minor && last?.minor) last.folded.push(event);
    else lines.push({event, minor, folded: []});
  }
  return lines;
}
