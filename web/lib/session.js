// Who is signed in. The token stays in this tab: no cookie, no other tab, gone with it.
import {value} from "./value.js";

const KEPT = "admitd.token";

export const session = value(null); // what GET /v1/session says
export const signedOut = value(false); // a token that was one, and is none now

export const token = () => sessionStorage.getItem(KEPT);

export function keepToken(text) {
  sessionStorage.setItem(KEPT, text);
}

export function forget() {
  sessionStorage.removeItem(KEPT);
  session.set(null);
  signedOut.set(false);
}

export const mayNot = (action) => action.allowed === false;

/** Why an action is off, in words. */
export function whyNot(action) {
  if (action.whyNot === "self_approval") return "Someone else must approve what you sent.";
  return `Needs role ${action.roleNeeded.join(" or ")}`;
}
