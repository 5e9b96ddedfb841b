// How much waits, for how long, and the three plots.
import {useEffect} from "preact/hooks";
import {html} from "../lib/html.js";
import {useResource} from "../lib/resource.js";
import {countText} from "./impact.js";
import {Decided, Held, Waited} from "./plots.js";
import {Age} from "./when.js";

const WORDS = {package_held: ["package held", "packages held"], plan_waits_for_approval: ["plan to decide", "plans to decide"], plan_sent_back: ["plan sent back", "plans sent back"],
  package_failed: ["package failed", "packages failed"], run_silent: ["silent run", "silent runs"], project_without_root: ["project without a folder", "projects without a folder"]};

function Ready({ready}) {
  if (!ready?.count) return null;
  return html` ${countText(ready.count, "package")} ready, taken by nobody for <${Age} since=${ready.oldestSince} />.`;
}

export function QueueHead({page}) {
  const {items, counts} = page;
  const parts = Object.entries(WORDS).filter(([kind]) => counts[kind]).map(([kind, [one, many]]) => countText(counts[kind], one, many));
  const {data: stats} = useResource("/v1/stats");
  useEffect(() => { document.title = `(${items.length}) Queue - admitd`; }, [items.length]);
  return html`<div class="head"><h1 tabindex="-1">${items.length === 0 ? "Nothing waits for a person" : `${items.length} wait${items.length === 1 ? "s" : ""} for a person`}</h1>
    <p>${parts.join(", ")}${parts.length > 0 && "."} ${items[0] && html`The oldest has waited <${Age} since=${items[0].since} />.`}<${Ready} ready=${counts.ready} /></p></div>
    ${stats ? html`<div class="plots"><${Held} stats=${stats} /><${Waited} stats=${stats} /><${Decided} stats=${stats} /></div>` : html`<div class="plots"><div class="plot plot-room"></div></div>`}`;
}
