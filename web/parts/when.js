// Ages and moments, by the server's clock.
import {serverNow, useNow} from "../lib/clock.js";
import {html} from "../lib/html.js";
import {age, moment} from "../lib/time.js";

export function Age({since}) {
  const now = useNow(1000);
  return html`<time datetime=${since} title=${new Date(since).toLocaleString()}>${age(Date.parse(since), now)}</time>`;
}

export const When = ({at}) => html`<time datetime=${at} title=${new Date(at).toLocaleString()}>${moment(at, serverNow())}</time>`;
