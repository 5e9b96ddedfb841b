// Every screen, by the first word of its route; with an id where it has one of those.
import {Decision, Decisions} from "./decision.js";
import {Log} from "./log.js";
import {Package} from "./package.js";
import {Plan} from "./plan.js";
import {Project, Projects} from "./project.js";
import {Queue} from "./queue.js";
import {Rules} from "./rules.js";
import {Trends} from "./trends.js";

const screens = {queue: Queue, projects: Projects, decisions: Decisions, log: Log, trends: Trends, rules: Rules, "packages/": Package, "tasks/": Plan,
  "projects/": Project, "decisions/": Decision};

/** Its component, or null. */
export const screenOf = (name) => (Object.hasOwn(screens, name) ? screens[name] : null);
