// What was just done, and its undo.
import {useEffect} from "preact/hooks";
import {toast} from "../lib/acting.js";
import {html} from "../lib/html.js";
import {useValue} from "../lib/value.js";

const SHOWN_MS = 12000;

export function Toast() {
  const now = useValue(toast);
  useEffect(() => {
    const timer = setTimeout(() => toast.set(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [now]);
  if (!now) return null;
  return html`<div class="toast"><span>${now.text}</span>${now.undo && html`<button onClick=${() => { toast.set(null); now.undo(); }}>Undo</button>`}
    <button aria-label="Close" onClick=${() => toast.set(null)}>×</button></div>`;
}
