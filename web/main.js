// The console: one document, its routes in the fragment. It works nothing out: states, reasons and actions come from the API.
import {render} from "preact";
import {token} from "./lib/api.js";
import {QUEUE} from "./lib/queue.js";
import {warm} from "./lib/resource.js";
import {App} from "./parts/app.js";
import {html} from "./lib/html.js";
import {applyTheme} from "./lib/page.js";

applyTheme();
if (token()) warm(QUEUE);
const place = document.getElementById("app");
place.replaceChildren();
render(html`<${App} />`, place);
