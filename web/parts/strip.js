// The line under the top bar when what is shown may be old.
import {html} from "../lib/html.js";
import {liveness} from "../lib/live.js";
import {clockText} from "../lib/time.js";
import {useValue} from "../lib/value.js";

export function Strip() {
  const {state, since} = useValue(liveness);
  if (state === "offline") return html`<div class="strip off" role="alert">Offline since ${clockText(since)}. What is shown is from before; nothing can be decided, drafts are kept.</div>`;
  if (state === "stale") return html`<div class="strip">Not live since ${clockText(since)}. Reading again every 10 seconds.</div>`;
  return null;
}
