// Where something stands and what happened to it.
import {useState} from "preact/hooks";
import {html} from "../lib/html.js";
import {When} from "../lib/time.js";
import {Quote, StateSign, Text, Words} from "./marks.js";

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

// ---- What happened, newest first, in the daemon's words; what is said more than once is folded.

function Line({event, more, children}) {
  const {headline, detail, quote} = event.words;
  const inputs = event.changed?.changedInputs ?? [];
  return html`<li><${When} at=${event.at} /><span class="d"><${StateSign} state=${event.words} /></span><div><b><${Text} of=${headline} /></b>${children}
    ${quote && html`<br /><span class="m"><${Quote} of=${quote.text} /></span>`}${detail && html`<br /><span class="m"><${Words} of=${detail} /></span>`}${inputs.length > 0 && !more && html`<div class="diff"><${Inputs} of=${inputs} brief=${true} /></div>`}</div></li>`;
}

function Folded({line, named}) {
  const [open, setOpen] = useState(false);
  const label = (event) => named && event.changed?.label && !event.words.headline.includes(event.changed.label) && html`: <${Text} of=${event.changed.label} />`;
  if (line.length > 1 && !open) return html`<${Line} event=${line[0]} more=${true}> <button class="fold" onClick=${() => setOpen(true)}>${line.length} times, since <${When} at=${line.at(-1).at} /></button><//>`;
  return line.map((event) => html`<${Line} key=${event.id} event=${event}>${label(event)}<//>`);
}

/** Runs of events that say the same. */
function fold(events) {
  const lines = [];
  for (const event of events) {
    if (lines.at(-1)?.[0].words.headline === event.words.headline) lines.at(-1).push(event);
    else lines.push([event]);
  }
  return lines;
}

export const Timeline = ({events, named}) => html`<ol class="tl">${fold(events.filter((event) => !event.words.minor).reverse()).map((line) => html`<${Folded} key=${line[0].id} line=${line} named=${named} />`)}</ol>`;
