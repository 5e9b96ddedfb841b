// The queue: what waits for a person, why, since when, what frees it and what that opens besides.
import {useEffect, useMemo, useRef, useState} from "preact/hooks";
import {onEvents} from "../lib/live.js";
import {html, useValue} from "../lib/html.js";
import {go, say, setQuery, useKeys} from "../lib/page.js";
import {QUEUE, arrange, cursor, grouped, order, settled} from "../lib/queue.js";
import {useResource} from "../lib/resource.js";
import {startById} from "../parts/actions.js";
import {Load} from "../parts/load.js";
import {QueueHead, QueueTable, SelectedBar, aboutOf, hashOf} from "../parts/queue_table.js";
import {plain} from "../parts/marks.js";

const WINDOW_OVER = 500;

/** The rows that are shown, what waits behind "Show new", and who cleared what. */
function useFrozen(items, filterKey) {
  const kept = useRef({rows: [], places: new Map()});
  const cursorId = useValue(settled);
  const [version, redraw] = useState(0);
  const leaving = kept.current.rows.some((row) => row.gone) ? cursorId : null;
  return useMemo(() => {
    if (!items) return {rows: [], fresh: [], places: new Map(), show() {}};
    const first = kept.current.key !== filterKey || kept.current.rows.length === 0;
    const found = first ? {rows: items, fresh: []} : arrange(kept.current.rows, items, cursorId, kept.current.cursorId !== cursorId);
    const keep = (rows, places) => { kept.current = {rows, places, key: filterKey, cursorId}; };
    keep(found.rows, first ? new Map() : kept.current.places);
    const show = () => { keep([...found.rows.filter((row) => !row.gone), ...found.fresh], new Map()); redraw((n) => n + 1); };
    return {...found, show, places: kept.current.places};
  }, [items, filterKey, leaving, version]);
}

/** {packageId: event} of what was cleared while this screen was open. */
function useCleared() {
  const [cleared, set] = useState({});
  useEffect(() => onEvents((events) => {
    const new_ = events.filter((event) => event.type === "hold.cleared" || event.type === "task.status" || event.type === "grant.recorded");
    if (new_.length) set((before) => ({...before, ...Object.fromEntries(new_.map((event) => [event.packageId ?? event.task, event]))}));
  }), []);
  return cleared;
}

function useSpoken(fresh, rows) {
  const gone = rows.filter((row) => row.gone).length;
  useEffect(() => {
    const words = [fresh.length && `${fresh.length} new`, gone && `${gone} cleared`].filter(Boolean);
    if (words.length) say(words.join(", "), "queue");
  }, [fresh.length, gone]);
}

function Toolbar({items, tags, query, fresh, show}) {
  const counts = (tag) => items.filter((item) => !tag || item.tag === tag).length;
  const projects = [...new Set(items.map((item) => item.project))].sort();
  return html`<div class="bar">${[{id: "", label: "All"}, ...tags].filter(({id}) => id !== "other" || counts(id)).map(({id, label}) => html`
      <button key=${id} class="chip" aria-pressed=${(query.kind ?? "") === id} onClick=${() => setQuery({kind: id})}>${label} <i>${counts(id)}</i></button>`)}
    ${fresh.length > 0 && html`<button class="fresh" onClick=${show}>Show ${fresh.length} new <kbd>n</kbd></button>`}<span class="sp"></span>
    <label class="sel">Project <select value=${query.project ?? ""} onChange=${(event) => setQuery({project: event.target.value})}><option value="">all</option>${projects.map((id) => html`<option key=${id} value=${id} selected=${query.project === id}>${plain(id)}</option>`)}</select></label>
    <label class="sel">Group by <select value=${query.group ?? ""} onChange=${(event) => setQuery({group: event.target.value})}><option value="">cause</option><option value="none" selected=${query.group === "none"}>nothing</option></select></label></div>`;
}

const EMPTY = "Nothing is held. A blocked package appears here, with its reason and what frees it.";

function useRows(items, query) {
  const wanted = useMemo(() => items?.filter((item) => (!query.kind || item.tag === query.kind) && (!query.project || item.project === query.project)), [items, query.kind, query.project]);
  const frozen = useFrozen(wanted, `${query.kind ?? ""}/${query.project ?? ""}`);
  const groups = useMemo(() => (query.group === "none" ? [{key: "all", rows: frozen.rows}] : grouped(frozen.rows, frozen.places)), [frozen.rows, query.group]);
  const flat = useMemo(() => groups.flatMap((group) => group.rows), [groups]);
  useEffect(() => { order.ids = flat.map((row) => row.packageId).filter(Boolean); }, [flat]);
  return {...frozen, groups, flat};
}

/** The cursor is looked up when a key comes: what was drawn last may be of the row before. */
function useQueueKeys({flat, fresh, show}, setSelected) {
  const at = () => flat.findIndex((row) => row.id === cursor.get());
  const row = () => flat[at()];
  const move = (by) => { const next = flat[Math.max(0, Math.min(flat.length - 1, at() < 0 ? 0 : at() + by))]; if (next) cursor.set(next.id); };
  const begin = (action) => row() && !row().gone && startById(row().actions, action, aboutOf(row()));
  const select = () => { const {id, packageId, gone} = row() ?? {}; if (packageId && !gone) setSelected((list) => (list.includes(id) ? list.filter((one) => one !== id) : [...list, id])); };
  useKeys({j: () => move(1), k: () => move(-1), Enter: () => row() && go(hashOf(row())), a: () => begin("approve_once") ?? begin("approve"), A: () => begin("approve_always"), d: () => begin("deny"),
    r: () => begin("request_changes"), x: select, n: () => fresh.length && show(), Escape: () => setSelected([])});
}

export function Queue({query}) {
  const resource = useResource(QUEUE, {every: true});
  const items = resource.data?.items;
  const rows = useRows(items, query);
  const cleared = useCleared();
  const [selected, setSelected] = useState([]);
  useSpoken(rows.fresh, rows.rows);
  useQueueKeys(rows, setSelected);
  useEffect(() => { if (items) performance.mark("admitd.useful"); }, [!items]);
  if (!items) return html`<${Load} resource=${resource} />`;
  return html`<${Load} resource=${resource} /><${QueueHead} page=${resource.data} />
    <${Toolbar} items=${items} tags=${resource.data.tags} query=${query} fresh=${rows.fresh} show=${rows.show} />
    <${SelectedBar} rows=${rows.flat.filter((row) => selected.includes(row.id) && !row.gone)} clear=${() => setSelected([])} />
    ${rows.flat.length ? html`<${QueueTable} groups=${rows.groups} cleared=${cleared} selected=${selected} windowed=${rows.flat.length > WINDOW_OVER} />` : html`<p class="card empty">${items.length || rows.fresh.length ? "Nothing of this kind waits." : EMPTY}</p>`}`;
}
