// Where something stands and what happened to it.
import {useState} from "preact/hooks";
import {fold, words} from "../lib/events.js";
import {html} from "../lib/html.js";
import {When} from "../lib/time.js";
import {Quote, Sign, Text, Words} from "./marks.js";

// ---- Where this stands, and its neighbours in the queue.

export function Crumb({steps, around}) {
  return html`<nav class="crumb" aria-label="Place">${steps.map(([name, href], at) => html`${at > 0 && html`<svg class="s" aria-hidden="true"><use href="#i-chev" /></svg>`}<a key=${href} href=${href}><${Text} of=${name} /></a>`)}
    <span class="sp"></span>${around?.at >= 0 && html`<span class="k">${around.at + 1} of ${around.count}</span> <span class="k"><kbd>K</kbd> <kbd>J</kbd> previous, next</span>`}</nav>`;
}

// ---- Inputs of a decision that differ: where, before, after.

const flat = (value) => (value === null || value === undefined ? "none" : typeof value === "object" ? Object.values(value).join(" ") || "none" : String(value));

/** What of two objects differs, member by member. */
export function parts({path, before, after}) {
  if (!before || !after || typeof before !== "object" || typeof after !== "object") return [{path, before, after}];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => name !== "grantApprovalId" && flat(before[name]) !== flat(after[name]));
  return names.map((name) => ({path: `${path}/${name}`, before: before[name], after: after[name]}));
}

const dotted = (path) => path.replace(/^\//, "").replaceAll("/", ".");

/** `brief`: only the first of each. */
export const Inputs = ({of, brief}) => html`<dl>${of.flatMap((one) => (brief ? parts(one).slice(0, 1) : parts(one))).map((one) => html`<div key=${one.path}><dt><code><${Text} of=${dotted(one.path)} /></code></dt> <dd><code class="a"><${Words} of=${flat(one.before)} /></code> → <code class="b"><${Words} of=${flat(one.after)} /></code></dd></div>`)}</dl>`;

// ---- What happened, newest first; what follows from something else is folded.

function Line({event, named}) {
  const say = words(event);
  return html`<li><${When} at=${event.at} /><span class="d"><${Sign} name=${say.sign} tone=${say.tone} /></span><div><b><${Text} of=${say.head} /></b>${named && event.changed?.label && html` of <${Text} of=${event.changed.label} />`}${say.by && html` by <${Text} of=${say.by} />`}
    ${say.quote && html`<br /><span class="m"><${Quote} of=${say.quote} /></span>`}${say.text && html`<br /><span class="m"><${Words} of=${say.text} /></span>`}${say.inputs?.length > 0 && html`<div class="diff"><${Inputs} of=${say.inputs} brief=${true} /></div>`}</div></li>`;
}

function Folded({line, named}) {
  const [open, setOpen] = useState(false);
  if (!line.folded.length || open) return [line.event, ...line.folded].map((event) => html`<${Line} key=${event.id} event=${event} named=${named} />`);
  return html`<${Line} event=${line.event} named=${named} /><li><span></span><span class="d"></span><div><button class="fold" onClick=${() => setOpen(true)}>${line.folded.length} more changes of status</button></div></li>`;
}

export const Timeline = ({events, named}) => html`<ol class="tl">${fold(events.filter((event) => !words(event).minor).reverse()).map((line) => html`<${Folded} key=${line.event.id} line=${line} named=${named} />`)}</ol>`;
