// What an approval or denial would do, as the daemon rehearsed it.
import {html} from "../lib/html.js";
import {useNow} from "../lib/clock.js";
import {age} from "../lib/time.js";
import {Sign} from "./sign.js";
import {nameOf} from "../lib/names.js";
import {Text} from "./text.js";

export const countText = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

export function headline(impact, isRefusal) {
  if (isRefusal) return `Holds ${countText(impact.holds.length + impact.stays.length, "package")}`;
  return impact.opens.length ? `Opens ${countText(impact.opens.length, "held package")} now` : "Opens nothing now";
}

function Line({sign, tone, id, does}) {
  return html`<li><${Sign} name=${sign} tone=${tone} /><b><${Text} of=${nameOf(id)} /></b><span>${does}</span></li>`;
}

function Overridden({grant}) {
  return html`<li><${Sign} name="denied" tone="amber" /><b><${Text} of=${nameOf(grant.packageId ?? grant)} /></b><span>its denial is overridden</span></li>`;
}

export function Impact({impact, checkedAt, isRefusal}) {
  const now = useNow(1000);
  if (!impact) return html`<section class="imp" aria-busy="true"><h3>Asking what it would do…</h3></section>`;
  return html`<section class="imp" aria-live="polite"><h3>${headline(impact, isRefusal)} <span>checked ${age(checkedAt, now)} ago</span></h3><ul>
    ${impact.opens.map((id) => html`<${Line} sign="ok" tone="green" id=${id} does="no longer held" />`)}
    ${impact.plans.map((id) => html`<${Line} sign="decide" id=${id} does="nothing stops its approval any more" />`)}
    ${impact.holds.map((id) => html`<${Line} sign="removed" tone="amber" id=${id} does="will be held" />`)}
    ${impact.stays.map((id) => html`<${Line} sign="plan" tone="red" id=${id} does="stays held" />`)}
    ${impact.overrides.map((grant) => html`<${Overridden} grant=${grant} />`)}
    ${isRefusal && html`<p class="none">What runs already keeps what it has.</p>`}</ul></section>`;
}
