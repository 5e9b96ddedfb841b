// browser.mjs - a daemon with a story in it, and a browser whose pages look at it.
//
//   const stage = await open();            // story.py, Chromium
//   const page = await stage.page("ana");  // a page of its own, signed in
//
// A page notes whatever the console logs, throws or is refused by its policy; end() fails where there was any. Screenshots are kept in
// tests/web/shots of the build folder.
import {spawn} from "node:child_process";
import {mkdirSync} from "node:fs";
import {createRequire} from "node:module";
import path from "node:path";
import readline from "node:readline";
import {fileURLToPath} from "node:url";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const modules = createRequire(path.resolve(process.env.NPM_MODULES ?? ".", "index.js"));

function module(name) {
  try {
    return modules(name);
  } catch {
    console.log(`Bail out! ${name} isn't installed: make tests/npm/installed says why`);
    process.exit(1);
  }
}

const {chromium} = module("playwright-core");
export const AXE = modules.resolve("axe-core/axe.min.js");
const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
export const SHOTS = path.join(process.env.BUILDDIR ?? ".", "tests", "web", "shots");
const PATIENCE_MS = 60000;
export const WIDE = {width: 1280, height: 900};
export const NARROW = {width: 390, height: 844};

/** story.py: what it told, and a way to tell it something. */
async function begin(script) {
  const story = spawn(process.env.PYTHON ?? "python3", ["-B", path.join(HERE, script)], {stdio: ["pipe", "pipe", "inherit"]});
  const lines = readline.createInterface({input: story.stdout})[Symbol.asyncIterator]();
  const first = await lines.next();
  if (first.done) throw new Error(`${script} ended before it began`);
  const tell = async (word) => { story.stdin.write(`${word}\n`); await lines.next(); };
  const ended = new Promise((done) => story.on("exit", done));
  const end = async () => { story.stdin.end(); return ended; };
  return {told: JSON.parse(first.value), tell, end};
}

const harmless = (text) => /net::ERR_|Failed to load resource/.test(text);

function listen(page, faults) {
  page.on("console", (message) => { if (["error", "warning"].includes(message.type()) && !harmless(message.text())) faults.push(message.text()); });
  page.on("pageerror", (fault) => faults.push(String(fault.stack ?? fault)));
}

export class Stage {
  constructor(story, browser) {
    Object.assign(this, {story, browser, told: story.told, url: story.told.url, faults: [], pages: []});
  }

  /** A page in a context of its own, signed in as one of the story's people (null: as nobody), at a route. */
  async page(who = "ana", hash = "#/queue", options = {}) {
    const context = await this.browser.newContext({viewport: WIDE, ...options});
    const page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    listen(page, this.faults);
    this.pages.push(page);
    if (who) await context.addInitScript((token) => sessionStorage.setItem("admitd.token", token), this.told.tokens[who] ?? who);
    await page.goto(`${this.url}/${hash}`);
    return page;
  }

  async shot(page, name, options = {}) {
    mkdirSync(SHOTS, {recursive: true});
    await page.screenshot({path: path.join(SHOTS, `${name}.png`), animations: "disabled", ...options});
  }

  /** Asks the API as one of them: {status, body}. */
  async api(who, method, href, body) {
    const answer = await fetch(this.url + href, {method, body: body && JSON.stringify(body),
      headers: {Authorization: `Bearer ${this.told.tokens[who]}`, ...(body && {"Content-Type": "application/json"})}});
    return {status: answer.status, body: await answer.json().catch(() => null)};
  }

  async onFault(sentence) {
    const name = sentence.replace(/\W+/g, "-").slice(0, 60);
    for (const [at, page] of this.pages.entries()) if (!page.isClosed()) await this.shot(page, `fault-${name}-${at}`).catch(() => {});
  }

  async end() {
    await this.browser.close();
    const status = await this.story.end();
    if (this.faults.length || status !== 0) {
      console.log(`# the story ended with ${status}; the console complained:\n# ${this.faults.join("\n").replaceAll("\n", "\n# ")}`);
      process.exit(1);
    }
  }
}

export async function open(script = "story.py") {
  const [story, browser] = await Promise.all([begin(script), chromium.launch({executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: FLAGS})]);
  return new Stage(story, browser);
}
