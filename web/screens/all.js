// Every screen, by the first word of its route.
import {Queue} from "./queue.js";

export const screens = {
  queue: {view: Queue},
};
