// A button with a menu of more actions.
import {useEffect, useRef, useState} from "preact/hooks";
import {html} from "../lib/html.js";

function useOutside(box, close) {
  useEffect(() => {
    const onDown = (event) => { if (!box.current?.contains(event.target)) close(); };
    addEventListener("pointerdown", onDown);
    return () => removeEventListener("pointerdown", onDown);
  });
}

function step(menu, by) {
  const items = [...menu.querySelectorAll("button, a")];
  const at = items.indexOf(document.activeElement);
  items[(at + by + items.length) % items.length]?.focus();
}

export function Menu({label, face, children, kind = "btn more"}) {
  const [open, setOpen] = useState(false);
  const box = useRef(null);
  const close = () => setOpen(false);
  useOutside(box, close);
  useEffect(() => { if (open) box.current.querySelector(".menu button, .menu a")?.focus(); }, [open]);
  const onKeyDown = (event) => {
    if (event.key === "Escape" && open) { event.stopPropagation(); close(); box.current.querySelector("button").focus(); }
    if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); step(box.current.querySelector(".menu") ?? box.current, event.key === "ArrowDown" ? 1 : -1); }
  };
  return html`<span class="has-menu" ref=${box} onKeyDown=${onKeyDown}>
    <button class=${kind} aria-label=${label} aria-expanded=${open} aria-haspopup="true" onClick=${() => setOpen(!open)}>${face}</button>
    ${open && html`<div class="menu" onClick=${close}>${children}</div>`}</span>`;
}
