// Small marks: other people's words, signs, ids.
import {useState} from "preact/hooks";
import {html} from "../lib/html.js";
import {copy} from "../lib/page.js";

// ---- Other people's words: text nodes only, kept to themselves (bdi), what can't be seen shown by its number, long ones cut at two lines.

const UNSEEN = /([\u0000-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}])/u;
const LONG = 180;

const number = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

function chips(text) {
  return text.split(UNSEEN).map((piece, at) => (at % 2 ? html`<span class="chr">${number(piece)}</span>` : piece));
}

/** The same where only plain text can stand. */
export const plain = (text) => String(text ?? "").split(UNSEEN).map((piece, at) => (at % 2 ? number(piece) : piece)).join("");

/** Text in one line. */
export const Text = ({of}) => html`<bdi>${chips(String(of ?? ""))}</bdi>`;

/** An id: what isn't plain ASCII in it stands out. */
export function Id({of, short}) {
  const text = String(of ?? "");
  const shown = short ? shortId(text) : text;
  const odd = /[^\x20-\x7e]/.test(text);
  return html`<bdi class=${odd ? "id odd" : "id"} title=${odd ? "has other letters than a to z" : undefined}>${chips(shown)}</bdi>`;
}

export const shortId = (text) => (text.startsWith("sha256:") ? text.slice(7, 15) : text.length > 18 ? `${text.slice(0, 14)}…` : text);

/** Long text: two lines, then "Show all". */
export function Words({of}) {
  const [whole, setWhole] = useState(false);
  const text = String(of ?? "");
  if (text.length <= LONG) return html`<span class="words"><${Text} of=${text} /></span>`;
  return html`<span class="words"><span class=${whole ? "clip all" : "clip"}><${Text} of=${text} /></span>
    <button class="more-words" aria-expanded=${whole} onClick=${() => setWhole(!whole)}>${whole ? "Show less" : "Show all"}</button></span>`;
}

/** What a person wrote, quoted. */
export const Quote = ({of}) => (of ? html`<q><${Words} of=${of} /></q>` : null);

// ---- The signs of chapter 7.4: shape and colour, always beside their words.

/** The picture of each `sign` that the daemon names; the words are its, too. */
const SIGNS = {"half disc": "ask", "disc, slash": "denied", "disc, 1": "used", "disc, minus": "removed", "quarter disc": "narrow", "folder, arrow": "root",
  clock: "clock", "disc, gap": "gap", "disc, arrow back": "back", "folder, ?": "noroot", loop: "again", lines: "text", triangle: "setup", "dashed disc": "later",
  check: "ok", "square, x": "plan", diamond: "decide", play: "run"};

export const Sign = ({name, tone}) => html`<svg class=${`s t-${tone ?? "neutral"}`} aria-hidden="true"><use href=${`#i-${name}`} /></svg>`;

export const signOf = (state) => SIGNS[state?.sign] ?? "dot";

export const StateSign = ({state}) => html`<${Sign} name=${signOf(state)} tone=${state?.tone} />`;

// ---- A short id that copies the whole one.

export const CopyId = ({of, what = "id"}) => html`<button class="copy" onClick=${() => copy(of, what)} title=${of}>
  <${Id} of=${of} short=${true} /><span class="hid"> copy the whole ${what}</span><svg class="s" aria-hidden="true"><use href="#i-copy" /></svg></button>`;
