// The three plots of chapter 7.3, from /v1/stats. Each also as a table.
import {useState} from "preact/hooks";
import {html} from "../lib/html.js";
import {link} from "../lib/page.js";
import {Age, clockText, dayText} from "../lib/time.js";
import {Sign} from "./marks.js";

const HOLDS = [["needs_grant", "ask", "amber", "Access", "access"], ["needs_setup", "setup", "red", "Set-up", "setup"], ["needs_plan_change", "plan", "red", "Plan change", "changes"]];
const AGES = [["under15m", "<15 m"], ["under1h", "<1 h"], ["under4h", "<4 h"], ["under1d", "<1 d"], ["over1d", ">1 d"]];
const [LOW, HIGH] = [62, 180]; // pixels: in the queue, and alone; what is written is as large in both
const percent = (part, whole) => `${(part / whole) * 100}%`;

export const holdsOf = (stats) => HOLDS.map(([kind, sign, tone, label, filter]) => ({kind, sign, tone, label, filter,
  count: stats.holds.filter((hold) => hold.kind === kind).reduce((sum, hold) => sum + hold.count, 0)}));

export function Held({stats}) {
  const parts = holdsOf(stats);
  const total = parts.reduce((sum, part) => sum + part.count, 0);
  return html`<div class="plot"><h2>Held now, by kind <span>${total}</span></h2>
    <div class="seg">${parts.filter((part) => part.count).map((part) => html`<a key=${part.kind} class=${`t-${part.tone}`} style=${{flexGrow: part.count}} href=${link("queue", null, {kind: part.filter})}
      aria-label=${`${part.count} ${part.label}`}><${Sign} name=${part.sign} tone=${part.tone} />${part.count}</a>`)}</div>
    <div class="keyrow">${parts.map((part) => html`<span key=${part.kind}><${Sign} name=${part.sign} tone=${part.tone} />${part.label}</span>`)}</div></div>`;
}

const heightOf = (count, unit) => (count === 0 ? 0 : Math.max(2, Math.round(count * unit)));

/** The age of the one in the middle, of those that are held. */
function median(items) {
  const since = items.filter((item) => item.kind === "package_held").map((item) => Date.parse(item.since)).sort();
  return since.length > 0 && html`median <${Age} since=${new Date(since[since.length >> 1]).toISOString()} />`;
}

export function Waited({stats, items, tall}) {
  const counts = AGES.map(([key]) => stats.ages[key]);
  const [room, height] = [(tall ? HIGH : LOW) - 32, tall ? HIGH : LOW];
  const unit = room / Math.max(1, ...counts);
  const base = height - 16;
  return html`<div class="plot"><h2>How long they have waited <span>${items ? median(items) : `${counts.reduce((a, b) => a + b, 0)} held`}</span></h2>
    <svg class="g" height=${height} role="group" aria-label="How long they have waited"><rect class="bar1" y=${base} width="100%" height="1" />
      ${AGES.map(([key, label], at) => { const [h, x] = [heightOf(counts[at], unit), 3 + at * 20]; return html`<${counts[at] ? "a" : "g"} key=${key} href=${counts[at] ? link("queue") : undefined} aria-label=${`${counts[at]} ${label}, held`}>
        <rect class=${key === "over1d" ? "ink" : "bar1"} x=${`${x}%`} y=${base - h} width="14%" height=${h} rx="2" />${counts[at] > 0 && html`<text class="v" x=${`${x + 7}%`} y=${base - h - 5} text-anchor="middle">${counts[at]}</text>`}
        <text x=${`${x + 7}%`} y=${height - 2} text-anchor="middle">${label}</text><//>`; })}</svg></div>`;
}

/** [{at, allowed, warning, blocked}] of every bucket from the first to the last, empty ones too. */
export function series(stats) {
  const step = stats.bucketSeconds * 1000;
  const from = Date.parse(stats.from);
  const buckets = Array.from({length: Math.max(1, Math.round((Date.parse(stats.to) - from) / step))}, (_, at) => ({at: from + at * step, allowed: 0, warning: 0, blocked: 0}));
  for (const bucket of stats.decisions) {
    const one = buckets[Math.min(buckets.length - 1, Math.floor((Date.parse(bucket.at) - from) / step))];
    for (const counts of [bucket.preview, bucket.approval, bucket.handoff]) for (const status of Object.keys(counts ?? {})) one[status] += counts[status];
  }
  return buckets;
}

const DAY_MS = 24 * 3600 * 1000;

/** What stands under a bar: hours of a day, days of a week or month, and now. */
function tick(bucket, at, all, step) {
  const count = all.length;
  if (at === count - 1) return "now";
  if (step < DAY_MS / 4) return at % 6 === 0 && at < count - 3 ? clockText(bucket.at).slice(0, 5) : null;
  const every = Math.ceil((DAY_MS / step) * Math.ceil((count * step) / DAY_MS / 7));
  return at % every === 0 && at < count - every / 2 ? dayText(bucket.at) : null;
}

function Bar({bucket, x, width, unit, zero, until}) {
  const [allowed, warning, blocked] = [heightOf(bucket.allowed, unit), heightOf(bucket.warning, unit), heightOf(bucket.blocked, unit)];
  if (allowed + warning + blocked === 0) return null;
  const says = `${dayText(bucket.at)} ${clockText(bucket.at).slice(0, 5)}: ${bucket.allowed} allowed, ${bucket.warning} with a warning, ${bucket.blocked} blocked`;
  return html`<a href=${link("log", null, {from: new Date(bucket.at).toISOString(), to: new Date(until).toISOString()})} aria-label=${says}><title>${says}</title><rect class="bar1" x=${x} y=${zero - allowed} width=${width} height=${allowed} />
    ${warning > 0 && html`<rect class="bar2" x=${x} y=${zero - allowed - warning} width=${width} height=${warning} />`}<rect class="bar3" x=${x} y=${zero + 1} width=${width} height=${blocked} /></a>`;
}

/** Above the line what went ahead, below it what was blocked, both in one scale. */
export function Decided({stats, tall}) {
  const buckets = series(stats);
  const most = (of) => Math.max(0, ...buckets.map(of));
  const [up, down] = [Math.max(1, most((one) => one.allowed + one.warning)), most((one) => one.blocked)];
  const height = tall ? HIGH : LOW;
  const unit = (height - 20) / (up + down);
  const zero = 4 + Math.round(up * unit);
  const step = stats.bucketSeconds * 1000;
  const place = (at) => percent(24 + (at * 446) / buckets.length, 470);
  const sum = (name) => buckets.reduce((total, one) => total + one[name], 0);
  const says = `${sum("allowed")} allowed, ${sum("warning")} with a warning, ${sum("blocked")} blocked`;
  return html`<div class="plot"><h2>Decisions ${step <= DAY_MS / 24 ? "each hour" : step < DAY_MS ? "each 6 hours" : "each day"} <span class="legend"><i class="swatch bar1"></i>allowed <i class="swatch bar2"></i>warning <i class="swatch bar3"></i>blocked, below</span></h2>
    <svg class="g" height=${height} role="group" aria-label=${says}><rect class="bar1" x="5%" y=${zero} width="95%" height="1" /><text x="4%" y="11" text-anchor="end">${up}</text>${zero > 24 && html`<text x="4%" y=${zero + 4} text-anchor="end">0</text>`}
      ${down * unit > 14 && html`<text x="4%" y=${height - 14} text-anchor="end">${down}</text>`}
      ${buckets.map((bucket, at) => html`<${Bar} key=${at} bucket=${bucket} until=${bucket.at + step} x=${place(at + 0.1)} width=${percent(446 * 0.8, 470 * buckets.length)} unit=${unit} zero=${zero} />`)}
      ${buckets.map((bucket, at) => { const label = tick(bucket, at, buckets, step); return label && html`<text key=${`t${at}`} x=${place(at + 0.5)} y=${height - 1} text-anchor="middle">${label}</text>`; })}</svg></div>`;
}

/** A plot with its table behind a button. */
export function WithTable({children, head, rows}) {
  const [table, setTable] = useState(false);
  return html`<div class="big-plot">${children}<div class="pad"><button class="ta" aria-expanded=${table} onClick=${() => setTable(!table)}>${table ? "Hide table" : "As table"}</button>
    ${table && html`<div class="scroll"><table><thead><tr>${head.map((name) => html`<th key=${name} scope="col">${name}</th>`)}</tr></thead><tbody>${rows.map((row, at) => html`<tr key=${at}>${row.map((cell, k) => html`<td key=${k}>${cell}</td>`)}</tr>`)}</tbody></table></div>`}</div></div>`;
}
