// A native dialog: the browser keeps the focus in it and gives it back.
import {useEffect, useRef} from "preact/hooks";
import {html} from "../lib/html.js";

export function Dialog({title, about, close, children, footer}) {
  const box = useRef(null);
  useEffect(() => {
    const before = document.activeElement;
    box.current.showModal();
    box.current.querySelector("[data-first]")?.focus();
    return () => before?.isConnected && before.focus();
  }, []);
  const onCancel = (event) => { event.preventDefault(); close(); };
  return html`<dialog class="dlg" ref=${box} aria-labelledby="dialog-title" onCancel=${onCancel}>
    <header><h2 id="dialog-title">${title}</h2>${about && html`<p>${about}</p>`}</header>
    ${children}<footer>${footer}</footer></dialog>`;
}
