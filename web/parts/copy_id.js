// A short id that copies the whole one.
import {copy} from "../lib/copy.js";
import {html} from "../lib/html.js";
import {Id} from "./text.js";

export const CopyId = ({of, what = "id"}) => html`<button class="copy" onClick=${() => copy(of, what)} title=${of} aria-label=${`Copy ${what} ${of}`}>
  <${Id} of=${of} short=${true} /><svg class="s" aria-hidden="true"><use href="#i-copy" /></svg></button>`;
