// Copying, said aloud.
import {say} from "./say.js";

export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied`);
  } catch {
    say(`${what} couldn't be copied`);
  }
}
