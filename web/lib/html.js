// Markup as tagged templates, and values that components follow.
import {default as htm} from "htm";
import {h} from "preact";
import {useEffect, useState} from "preact/hooks";

// ---- Markup as tagged templates: every value in it becomes a text node or a property, never markup.

export const html = htm.bind(h);

// ---- A value that components follow.

export function value(first) {
  const readers = new Set();
  let now = first;
  return {
    get: () => now,
    set(next) {
      if (next === now) return;
      now = next;
      for (const reader of [...readers]) reader(now);
    },
    follow(reader) {
      readers.add(reader);
      return () => readers.delete(reader);
    },
  };
}

export function useValue(from) {
  const [now, set] = useState(from.get());
  useEffect(() => {
    set(from.get());
    return from.follow(set);
  }, [from]);
  return now;
}
