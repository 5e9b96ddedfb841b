// The server's time: ages never use this machine's.
import {useEffect, useState} from "preact/hooks";

let ahead = 0;

export function setServerTime(text) {
  ahead = Date.parse(text) - Date.now();
}

export const serverNow = () => Date.now() + ahead;

/** The server's time, again each `everyMs`. */
export function useNow(everyMs = 1000) {
  const [now, set] = useState(serverNow());
  useEffect(() => {
    const timer = setInterval(() => set(serverNow()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
