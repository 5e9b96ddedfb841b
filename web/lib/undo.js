// Taking an approval back: a new decision, made from the answer to the one before.
import {newKey, send, toast} from "./acting.js";
import {say} from "./say.js";

const DONE = {approve_once: "Approved once", approve_always: "Allowed in the project", deny: "Denied", request_changes: "Changes requested",
  cancel_package: "Package cancelled", cancel_task: "Task cancelled", approve: "Plan approved", reject: "Plan rejected", retry: "Given three more attempts",
  check_server: "Checked", set_root: "Folder set"};

function undoOf(action, answer) {
  const given = answer?.actions?.find((one) => one.undoes);
  if (given) return given;
  if (action.id !== "approve_once" && action.id !== "approve_always") return null;
  return {...action, id: "revoke", body: {decision: "revoked", expectedRevision: answer.grant.revision}};
}

async function takeBack(undo) {
  try {
    await send(undo, undo.body, newKey());
    toast.set({text: "Taken back. It waits again."});
  } catch (problem) {
    toast.set({text: problem.code === "nothing_to_revoke" ? "It has been used, that can't be undone." : `${problem.title}. Nothing was taken back.`});
  }
}

export function done(action, answer) {
  const undo = undoOf(action, answer);
  const text = DONE[action.id] ?? "Done";
  say(text);
  toast.set({text: action.id === "approve" ? `${text}. Only cancelling ends it.` : `${text}.`, undo: undo && (() => takeBack(undo))});
}
