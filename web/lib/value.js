// A value that components follow.
import {useEffect, useState} from "preact/hooks";

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
