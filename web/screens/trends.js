// Is it getting better? The three plots over a day, a week or a month, each also as a table.
import {html} from "../lib/html.js";
import {clockText, dayText, serverNow} from "../lib/time.js";
import {useResource} from "../lib/resource.js";
import {setQuery} from "../lib/page.js";
import {Loading} from "../parts/load.js";
import {Decided, Held, Waited, WithTable, holdsOf, series} from "../parts/plots.js";
import {useMemo} from "preact/hooks";

const HOUR_MS = 3600 * 1000;
const SPANS = {"24h": ["24 h", 24, 1], "7d": ["7 d", 24 * 7, 6], "30d": ["30 d", 24 * 30, 24]}; // hours: of all, of a bar

/** Bars begin at whole hours and days, as they are here. */
function useStats(span) {
  const [, hours, bar] = SPANS[span];
  const href = useMemo(() => {
    const [now, midnight] = [serverNow(), new Date(serverNow()).setHours(0, 0, 0, 0)];
    const to = midnight + Math.ceil((now - midnight) / (bar * HOUR_MS)) * bar * HOUR_MS;
    return `/v1/stats?${new URLSearchParams({from: new Date(to - hours * HOUR_MS).toISOString(), to: new Date(to).toISOString(), bucket: bar * 3600})}`;
  }, [span]);
  return useResource(href);
}

const AGES = [["under15m", "under 15 min"], ["under1h", "under 1 h"], ["under4h", "under 4 h"], ["under1d", "under 1 d"], ["over1d", "over 1 d"]];

export function Trends({query}) {
  const span = SPANS[query.span] ? query.span : "24h";
  const load = useStats(span);
  const stats = load.data;
  const rows = stats ? series(stats) : [];
  return html`<div class="head"><h1 tabindex="-1">Trends</h1></div><div class="bar">${Object.entries(SPANS).map(([name, [label]]) => html`<button key=${name} class="chip" aria-pressed=${span === name} onClick=${() => setQuery({span: name})}>${label}</button>`)}</div><${Loading} of=${load} />
    ${stats && (stats.decisions.length === 0 ? html`<p class="card empty">Needs an hour of decisions.</p>` : html`<div class="plots tall"><${WithTable} head=${["From", "Allowed", "Warning", "Blocked"]} rows=${rows.filter((one) => one.allowed + one.warning + one.blocked).map((one) => [`${dayText(one.at)} ${clockText(one.at).slice(0, 5)}`, one.allowed, one.warning, one.blocked])}><${Decided} stats=${stats} tall=${true} /><//>
      <${WithTable} head=${["Kind", "Held"]} rows=${holdsOf(stats).map((one) => [one.label, one.count])}><${Held} stats=${stats} /><//><${WithTable} head=${["Waited", "Packages"]} rows=${AGES.map(([key, label]) => [label, stats.ages[key]])}><${Waited} stats=${stats} tall=${true} /><//></div>`)}`;
}
