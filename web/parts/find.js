// Find by label or id.
import {useEffect, useRef, useState} from "preact/hooks";
import {get} from "../lib/api.js";
import {html} from "../lib/html.js";
import {useKeys} from "../lib/keys.js";
import {go, link} from "../lib/router.js";
import {Text} from "./text.js";

const WAIT_MS = 120;
const PLACES = {package: "packages", task: "tasks", project: "projects", decision: "decisions"};
const hashOf = (item) => link(PLACES[item.kind] ?? "log", item.kind === "grant" || item.kind === "run" ? item.packageId : item.id);

function useFound(text) {
  const [found, setFound] = useState([]);
  useEffect(() => {
    if (text.trim().length < 2) { setFound([]); return undefined; }
    const timer = setTimeout(() => get(`/v1/search?${new URLSearchParams({q: text.trim(), limit: "8"})}`).then((answer) => setFound(answer.items), () => setFound([])), WAIT_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return found;
}

export function Find() {
  const [text, setText] = useState("");
  const found = useFound(text);
  const box = useRef(null);
  useKeys({"/": () => box.current.focus()});
  const open = (item) => { setText(""); box.current.blur(); go(hashOf(item)); };
  const onKeyDown = (event) => {
    if (event.key === "Escape") { setText(""); box.current.blur(); }
    if (event.key === "Enter" && found[0]) open(found[0]);
  };
  return html`<div class="find" role="search"><svg class="s" aria-hidden="true"><use href="#i-find" /></svg>
    <input ref=${box} aria-label="Find a plan, package or id" placeholder="Find" value=${text} onInput=${(event) => setText(event.target.value)} onKeyDown=${onKeyDown} /><kbd>/</kbd>
    ${found.length > 0 && html`<div class="menu">${found.map((item) => html`<a key=${item.kind + item.id} href=${hashOf(item)} onClick=${() => open(item)}><${Text} of=${item.label ?? item.id} /> <span class="faint">${item.kind}</span></a>`)}</div>`}</div>`;
}
