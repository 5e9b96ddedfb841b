// The queue's title while there is no queue yet, and its error above what is shown.
import {html} from "../lib/html.js";
import {Loading} from "./load.js";

export const Load = ({resource}) => html`${!resource.data && html`<div class="head"><h1 tabindex="-1">Queue</h1></div>`}<${Loading} of=${resource} />`;
