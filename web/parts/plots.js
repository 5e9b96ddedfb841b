// The three plots of chapter 7.3, from /v1/stats. Each also as a table.
import {useState} from "preact/hooks";
import {html} from "../lib/html.js";
import {link} from "../lib/page.js";
import {Age} from "../lib/time.js";
import {Sign} from "./marks.js";

const HOLDS = [["needs_grant", "ask", "amber", "Access", "access"], ["needs_setup", "setup", "red", "Set-up", "setup"], ["needs_plan_change", "plan", "red", "Plan change", "changes"]];
const AGES = [["under15m", "<15 m"], ["under1h", "<1 h"], ["under4h", "<4 h"], ["under1d", "<1 d"], ["over1d", ">1 d"]];
const BASE = 46;

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

const heightOf = (count, most, room) => (count === 0 ? 0 : Math.max(2, Math.round((count / most) * room)));

/** The age of the one in the middle, of those that are held. */
function median(items) {
  const since = items.filter((item) => item.kind === "package_held").map((item) => Date.parse(item.since)).sort();
  return since.length > 0 && html`median <${Age} since=${new Date(since[since.length >> 1]).toISOString()} />`;
}

export function Waited({stats, items}) {
  const counts = AGES.map(([key]) => stats.ages[key]);
  const most = Math.max(1, ...counts);
  const says = AGES.map(([, label], at) => `${counts[at]} ${label}`).join(", ");
  return html`<div class="plot"><h2>How long they have waited <span>${items ? median(items) : `${counts.reduce((a, b) => a + b, 0)} held`}</span></h2>
    <svg class="g" viewBox="0 0 326 62" role="img" aria-label=${says}><path class="axis" d="M0 ${BASE}H326" />
      ${AGES.map(([key, label], at) => { const h = heightOf(counts[at], most, 30); const x = 10 + at * 65; return html`<g key=${key}>
        <rect class=${key === "over1d" ? "ink" : "bar1"} x=${x} y=${BASE - h} width="46" height=${h} rx="2" />${counts[at] > 0 && html`<text class="v" x=${x + 23} y=${BASE - h - 5} text-anchor="middle">${counts[at]}</text>`}
        <text x=${x + 23} y="60" text-anchor="middle">${label}</text></g>`; })}</svg></div>`;
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

function tick(bucket, at, all, hourly) {
  if (at === all.length - 1) return "now";
  const when = new Date(bucket.at);
  if (hourly) return at % 6 === 0 && at < all.length - 3 ? String(when.getHours()).padStart(2, "0") : null;
  return at % Math.ceil(all.length / 6) === 0 && at < all.length - 2 ? `${when.getDate()}.${when.getMonth() + 1}.` : null;
}

function Bar({bucket, x, width, scale}) {
  const allowed = heightOf(bucket.allowed, scale, 30);
  const warning = heightOf(bucket.warning, scale, 30);
  const blocked = heightOf(bucket.blocked, scale, 30);
  return html`<g><rect class="bar1" x=${x} y=${36 - allowed} width=${width} height=${allowed} />
    ${warning > 0 && html`<rect class="bar2" x=${x + 0.5} y=${36 - allowed - warning} width=${Math.max(1, width - 1)} height=${warning} />`}<rect class="bar3" x=${x} y="37.5" width=${width} height=${Math.min(14, blocked)} /></g>`;
}

export function Decided({stats}) {
  const buckets = series(stats);
  const scale = Math.max(1, ...buckets.map((one) => Math.max(one.allowed + one.warning, one.blocked)));
  const step = 440 / buckets.length;
  const hourly = stats.bucketSeconds <= 3600;
  const sum = (name) => buckets.reduce((total, one) => total + one[name], 0);
  const says = `${sum("allowed")} allowed, ${sum("warning")} with a warning, ${sum("blocked")} blocked`;
  return html`<div class="plot"><h2>Decisions ${hourly ? "each hour" : "over time"} <span class="legend"><i class="swatch bar1"></i>allowed <i class="swatch bar2"></i>warning <i class="swatch bar3"></i>blocked, below</span></h2>
    <svg class="g" viewBox="0 0 470 62" role="img" aria-label=${says}><path class="axis" d="M24 36.5H470" /><text x="18" y="10" text-anchor="end">${scale}</text><text x="18" y="40" text-anchor="end">0</text>
      ${buckets.map((bucket, at) => html`<${Bar} key=${at} bucket=${bucket} x=${28 + at * step} width=${Math.max(1, step - Math.min(5, step / 4))} scale=${scale} />`)}
      ${buckets.map((bucket, at) => { const label = tick(bucket, at, buckets, hourly); return label && html`<text key=${`t${at}`} x=${28 + (at + 0.5) * step} y="61" text-anchor="middle">${label}</text>`; })}</svg></div>`;
}

/** A plot with its table behind a button. */
export function WithTable({children, head, rows}) {
  const [table, setTable] = useState(false);
  return html`<div class="big-plot">${children}<div class="pad"><button class="ta" aria-expanded=${table} onClick=${() => setTable(!table)}>${table ? "Hide table" : "As table"}</button>
    ${table && html`<div class="scroll"><table><thead><tr>${head.map((name) => html`<th key=${name} scope="col">${name}</th>`)}</tr></thead><tbody>${rows.map((row, at) => html`<tr key=${at}>${row.map((cell, k) => html`<td key=${k}>${cell}</td>`)}</tr>`)}</tbody></table></div>`}</div></div>`;
}
