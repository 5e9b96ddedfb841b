// Keys of the screen, versions; the sheet of all keys.
import {html} from "../lib/html.js";
import {useKeys} from "../lib/keys.js";
import {useResource} from "../lib/resource.js";
import {route} from "../lib/router.js";
import {useValue, value} from "../lib/value.js";
import {Dialog} from "./dialog.js";
import {Id} from "./text.js";

export const openKeys = value(false);

const QUEUE_KEYS = [["j", ""], ["k", "move"], ["↵", "open"], ["a", "approve…"], ["d", "deny…"], ["r", "request changes…"], ["x", "select"], ["?", "all keys"]];
const PACKAGE_KEYS = [["a", "approve…"], ["A", "always allow…"], ["d", "deny…"], ["r", "request changes…"], ["w", "why"], ["c", "copy id"], ["Esc", "back to the row"]];
const OTHER_KEYS = [["Esc", "back"], ["/", "find"], ["?", "all keys"]];
const ALL = [["j k", "move"], ["Enter", "open"], ["Esc", "back"], ["J K", "next, previous package"], ["a", "approve once…"], ["A", "always allow…"], ["d", "deny…"],
  ["r", "request changes…"], ["x", "select"], ["w", "why"], ["c", "copy id"], ["n", "show new rows"], ["/", "find"], ["g q", "queue"], ["g p", "projects"],
  ["g d", "decisions"], ["g l", "log"], ["g t", "trends"], ["g r", "rules"], ["Ctrl Enter", "confirm, for “once” only"]];

function Versions() {
  const {data} = useResource("/v1/version", {live: false});
  if (!data) return null;
  return html`<span class="faint">catalog <${Id} of=${data.catalogDigest} short=${true} /> · contract ${data.contractVersion} · admitd ${data.version}</span>`;
}

function Sheet() {
  const close = () => openKeys.set(false);
  return html`<${Dialog} title="Keys" about="No single key decides anything: it opens a dialog, a second press makes it." close=${close}
    footer=${html`<button class="btn lg" data-first onClick=${close}>Close</button>`}>
    <dl class="kv pad">${ALL.map(([key, does]) => html`<dt key=${key}>${key.split(" ").map((one) => html`<kbd>${one}</kbd> `)}</dt><dd>${does}</dd>`)}</dl><//>`;
}

export function Footer() {
  const {screen} = useValue(route);
  const open = useValue(openKeys);
  useKeys({"?": () => openKeys.set(true)});
  const keys = screen === "queue" ? QUEUE_KEYS : screen === "packages" ? PACKAGE_KEYS : OTHER_KEYS;
  return html`<footer class="foot">${keys.map(([key, does]) => html`<span key=${key}><kbd>${key}</kbd>${does}</span>`)}<i class="sp"></i><${Versions} /></footer>${open && html`<${Sheet} />`}`;
}
