// The console: one document, its routes in the fragment. It works nothing out: states, reasons and actions come from the API.
import {render} from "preact";
import {App} from "./parts/app.js";
import {html} from "./lib/html.js";
import {applyTheme} from "./lib/page.js";

applyTheme();
const place = document.getElementById("app");
place.replaceChildren();
render(html`<${App} />`, place);
