// Routes live in the fragment, so ids reach no log.
import {value} from "./value.js";

function parse(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [screen = "", ...rest] = path.split("/").map(decodeURIComponent);
  return {screen: screen || "queue", id: rest[0] ?? null, query: Object.fromEntries(new URLSearchParams(query)), hash};
}

function safeParse() {
  try {
    return parse(location.hash);
  } catch {
    return parse("");
  }
}

export const route = value(safeParse());
addEventListener("hashchange", () => route.set(safeParse()));

export const link = (screen, id, query) => {
  const tail = query ? `?${new URLSearchParams(query)}` : "";
  return `#/${screen}${id ? `/${encodeURIComponent(id)}` : ""}${tail}`;
};

export const go = (hash) => { location.hash = hash; };

/** Changes the query without a step in the history. */
export function setQuery(changes) {
  const {screen, id, query} = route.get();
  const next = Object.fromEntries(Object.entries({...query, ...changes}).filter(([, text]) => text));
  history.replaceState(null, "", link(screen, id, Object.keys(next).length ? next : null));
  route.set(safeParse());
}
