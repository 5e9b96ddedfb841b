// Doing one action of the API: at most once, however often it is sent.
import {ask} from "./api.js";
import {value} from "./value.js";

export const dialog = value(null); // {action, others, about}: the action dialog that is open
export const toast = value(null); // {text, undo}

export const newKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

export const isGrant = (action) => action.href.endsWith("/grants");

export function send(action, body, key) {
  return ask(action.method, action.href, {body, key});
}

/** What it would do, by the daemon: its `impact`. */
export const rehearse = (action, body) => ask(action.method, `${action.href}?dryRun=true`, {body});

export function openDialog(action, others, about) {
  dialog.set({action, others, about, opened: newKey()});
}
