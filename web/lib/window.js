// Long lists: only the rows that can be seen are there, with room above and below for the others, and the cursor's is always among them.
import {useEffect, useState} from "preact/hooks";

const MARGIN = 20;

function seen(box, rowPx) {
  const top = box.getBoundingClientRect().top;
  const from = Math.max(0, Math.floor(-top / rowPx) - MARGIN);
  return [from, from + Math.ceil(innerHeight / rowPx) + 2 * MARGIN];
}

/** [from, to) of the rows to draw: all, unless `windowed`. `kept`: a row that must be among them, or -1. */
export function useWindow(box, total, rowPx, windowed, kept) {
  const [range, setRange] = useState([0, 3 * MARGIN]);
  useEffect(() => {
    if (!windowed) return undefined;
    const onScroll = () => setRange((before) => { const now = seen(box.current, rowPx); return Math.abs(now[0] - before[0]) < MARGIN / 2 && before[1] > 3 * MARGIN ? before : now; });
    onScroll();
    addEventListener("scroll", onScroll, {passive: true});
    return () => removeEventListener("scroll", onScroll);
  }, [windowed, rowPx]);
  if (!windowed) return [0, total];
  const inside = kept < 0 || (kept >= range[0] && kept < range[1]);
  const [from, to] = inside ? range : [Math.max(0, kept - MARGIN), kept + 2 * MARGIN];
  return [Math.min(from, total), Math.min(to, total)];
}
