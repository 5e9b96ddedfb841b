// When an approval ends. "Always" begins with a week; that it never ends must be chosen.
import {serverNow} from "../lib/clock.js";
import {html} from "../lib/html.js";

const DAY_MS = 24 * 3600 * 1000;
const CHOICES = [["1", "in 1 day"], ["7", "in 7 days"], ["30", "in 30 days"], ["90", "in 90 days"]];

export const endsAt = (days) => (days ? new Date(Math.ceil((serverNow() + days * DAY_MS) / 3600000) * 3600000).toISOString() : null);

const dayText = (days) => new Date(endsAt(days)).toLocaleString("en-GB", {weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit"});

export function Ends({of, set, once}) {
  return html`<select id="ends" value=${of} onChange=${(event) => set(event.target.value)}>
    ${CHOICES.map(([days, text]) => html`<option key=${days} value=${days} selected=${of === days}>${text}, ${dayText(days)}</option>`)}
    <option value="" selected=${of === ""}>${once ? "after one attempt" : "no end"}</option></select>`;
}
