// Doing what the API offers: at most once, as a command too, and taken back by a new decision.
import {ask} from "./api.js";
import {value} from "./html.js";
import {tell} from "./page.js";

// ---- Each action as a command: what a button sends, shell-quoted, for who would rather type it.
const quote = (text) => (/^[A-Za-z0-9_.,:/@%+=-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`);

/** What a terminal may not show, or take for a key, is sent as JSON writes it. */
const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;

export function curl(action, body, key) {
  const parts = ["curl", "-sS", "-X", action.method, quote(location.origin + action.href), "-H", '"Authorization: Bearer $ADMITD_TOKEN"',
    "-H", quote("Content-Type: application/json"), "-H", quote(`Idempotency-Key: ${key}`), "--data-raw", quote(JSON.stringify(body).replace(/[^ -~]/g, escaped))];
  return parts.join(" ");
}

const VERBS = {approve_once: "grant", approve_always: "grant", deny: "deny", request_changes: "changes", cancel_package: "cancel", approve: "approve",
  reject: "reject", retry: "retry", cancel_task: "cancel", revoke: "revoke"};

function target(action) {
  const [, , kind, id] = action.href.split("/");
  return kind === "projects" ? ["--project", quote(id)] : [quote(id)];
}

/** The same as an admitctl command, or null where there is none. */
export function admitctl(action, body) {
  if (action.id === "check_server") return null;
  const verb = VERBS[action.id];
  if (!verb) return null;
  const words = ["admitctl", verb, ...target(action)];
  if (action.id === "approve_always") for (const name of body.capabilities) words.push("--capability", quote(name));
  if (body.reason) words.push("--reason", quote(body.reason));
  return words.join(" ");
}

// ---- Doing one action of the API: at most once, however often it is sent.

export const dialog = value(null); // {action, others, about}: the action dialog that is open

export const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

export const isGrant = (action) => action.href.endsWith("/grants");

export function send(action, body, key) {
  return ask(action.method, action.href, {body, key});
}

/** What it would do, by the daemon: its `impact`. */
export const rehearse = (action, body) => ask(action.method, `${action.href}?dryRun=true`, {body});

export const drafts = new Map(); // reasons that were begun, by action: kept when a dialog closes before they were sent
export const draftKey = (action) => action.id + action.href;

export function openDialog(action, others, about, reason = drafts.get(draftKey(action))) {
  dialog.set({action, others, about, reason, opened: newKey()});
}

// ---- Taking a decision back: a new one, that came ready with the answer to the one before.

const DONE = {approve_once: "Approved once", approve_always: "Allowed in the project", deny: "Denied", request_changes: "Changes requested",
  cancel_package: "Package cancelled", cancel_task: "Task cancelled", approve: "Plan approved", reject: "Plan rejected", retry: "Given three more attempts",
  check_server: "Checked", narrow: "Narrowed", remove_access: "Access removed", take_back: "Taken back", rework: "Back for another attempt", set_root: "Folder set"};

/** What takes an answer back, by the daemon, if one may. */
export const undoOf = (answer) => answer?.actions?.find((one) => one.undoes && one.allowed);

export async function takeBack(undo) {
  try {
    tellDone(undo, await send(undo, undo.body, newKey()));
  } catch (problem) {
    tell(`${problem.detail ?? problem.title} Nothing was taken back.`, {problem});
  }
}

/** What was done, and what of it can't be undone. */
const tellDone = (action, answer, more) => tell(`${DONE[action.id] ?? "Done"}. ${answer?.noUndo ?? ""}`, more);

export function done(action, answer) {
  drafts.delete(draftKey(action));
  const undo = undoOf(answer);
  tellDone(action, answer, {undo: undo && (() => takeBack(undo))});
  acted = true;
}

// ---- Where the focus goes when a dialog closes: back, or after an action to the headline of what was changed, in the queue to its row.

let acted = false;

export function leave(before) {
  const to = acted ? document.querySelector("#state, tr.cur") ?? document.querySelector("h1") : before;
  acted = false;
  if (to?.isConnected) to.focus();
}
