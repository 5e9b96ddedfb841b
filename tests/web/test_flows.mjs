#!/usr/bin/env node
// What is pressed seldom: a project's access and folder, cancelling, another try, a check; a button that is dead at first; a silent stream.
import {mkdirSync} from "node:fs";
import path from "node:path";
import {check, equal, run, test} from "./tap.mjs";
import {open} from "./browser.mjs";
import {LIST, READ, allow, confirm, free, live, must, projectOf, reader, row} from "./plans.mjs";

const DEAD_MS = 400;
const SILENT_MS = 35000;

test("a project's access is narrowed to what is ticked", async (stage) => {
  await live(stage, "delta");
  await allow(stage, "delta", [READ, LIST]);
  const page = await stage.page("ana", "#/projects/delta");
  await page.getByRole("button", {name: "Narrow…"}).click();
  await page.locator("dialog").getByLabel(LIST).uncheck();
  await page.getByLabel("Reason").fill("Reading is enough");
  await confirm(page).click();
  await page.locator(".toast", {hasText: "Narrowed"}).waitFor();
  await page.getByText("2 records, all kept").waitFor();
  const {grant} = await projectOf(stage, "delta");
  equal([grant.decision, grant.capabilities, grant.reason], ["approved", [READ], "Reading is enough"]);
  await page.close();
});

test("a project's access is removed, and what that holds is said before", async (stage) => {
  await live(stage, "echo", reader("echo-reader"));
  await allow(stage, "echo", [READ]);
  await must(stage, "ana", "POST", "/v1/tasks/echo-plan/approval", {planRevision: "1"});
  const page = await stage.page("ana", "#/projects/echo");
  await page.getByRole("button", {name: "Remove echo's access…"}).click();
  await page.locator("dialog").getByText("Holds 1 package").waitFor();
  await page.getByLabel("Reason").fill("The checkout moves");
  await confirm(page).click();
  await page.locator(".toast", {hasText: "Access removed"}).waitFor();
  await page.locator("main").getByText("Removed", {exact: true}).waitFor();
  equal((await projectOf(stage, "echo")).grant.decision, "revoked");
  await page.goto(`${stage.url}/#/queue`);
  await page.reload(); // else it may wait behind "Show 1 new"
  await row(page, "echo-reader").getByText("Project access was removed").or(page.locator("tr.g", {hasText: "removed in echo"})).first().waitFor();
  await page.close();
});

test("a project's folder is set, and its revision counts on", async (stage) => {
  await live(stage, "foxtrot");
  const moved = path.join(stage.told.roots, "foxtrot-moved");
  mkdirSync(moved);
  const page = await stage.page("operator", "#/projects/foxtrot");
  await page.getByRole("button", {name: "Change the folder…"}).click();
  equal(await page.locator("[data-confirm]").getAttribute("aria-disabled"), "true", "without a folder");
  await page.getByRole("textbox", {name: "Folder"}).fill(moved);
  await confirm(page).click();
  await page.locator(".toast", {hasText: "Folder set"}).waitFor();
  await page.locator(".meta", {hasText: "revision 2"}).waitFor();
  const {root, rootRevision} = await must(stage, "operator", "GET", "/v1/projects/foxtrot");
  equal([root, rootRevision], [moved, "2"]);
  await page.close();
});

test("a package is cancelled from the queue, with its reason", async (stage) => {
  await live(stage, "golf", reader("golf-reader"));
  await allow(stage, "golf", [READ]);
  await must(stage, "ana", "POST", "/v1/tasks/golf-plan/approval", {planRevision: "1"});
  await must(stage, "ana", "POST", "/v1/projects/golf/grants", {decision: "revoked", expectedRevision: (await projectOf(stage, "golf")).grant.revision});
  const page = await stage.page("ana");
  await row(page, "golf-reader").getByRole("button", {name: "More actions"}).click();
  await page.getByRole("button", {name: "Cancel package…"}).click();
  await page.getByLabel("Reason").fill("Not needed any more");
  await confirm(page).click();
  await page.locator(".toast", {hasText: "Package cancelled"}).waitFor();
  await page.locator("tr.gone", {hasText: "golf-reader"}).waitFor();
  equal((await must(stage, "ana", "GET", "/v1/tasks/golf-plan")).packages[0].status, "cancelled");
  await page.close();
});

test("a package that has failed for good is tried again", async (stage) => {
  const task = await live(stage, "hotel", free("hotel-mirror"));
  const href = `/v1/packages/${task.packages[0].id}`;
  await must(stage, "ana", "POST", "/v1/tasks/hotel-plan/approval", {planRevision: "1"});
  while ((await must(stage, "ana", "GET", href)).status === "ready") {
    const {run: begun} = await must(stage, "executor", "POST", `${href}/handoff`, {worker: "runner-3"});
    await must(stage, "executor", "POST", `/v1/runs/${begun.id}/outcome`, {outcome: "failed", summary: "The mirror is down"});
  }
  const page = await stage.page("ana");
  const shown = row(page, "hotel-mirror");
  await shown.waitFor();
  await shown.locator("[data-action=retry]").click();
  if (await page.locator("dialog").count()) {
    await page.getByLabel("Reason").fill("The mirror is back");
    await confirm(page).click();
  }
  await page.locator(".toast", {hasText: "Given three more attempts"}).waitFor();
  const one = await must(stage, "ana", "GET", href);
  equal([one.status, one.attemptsLeft], ["ready", 3]);
  await page.close();
});

test("a server that holds something is checked from the queue, by one press", async (stage) => {
  const page = await stage.page("ana");
  let checks = 0;
  await page.route("**/servers/*/check", async (route) => { checks++; await route.continue(); });
  await page.locator("main [data-action=check_server]").first().click();
  await page.locator(".toast").getByText("Checked").waitFor();
  equal(checks, 1, "checks");
  await page.close();
});

test("Ctrl+Enter confirms a decision for once, and never one for always", async (stage) => {
  await live(stage, "india", reader("india-reader"));
  const page = await stage.page("ana");
  let posts = 0;
  await page.route("**/grants", async (route) => { posts += route.request().url().includes("dryRun") ? 0 : 1; await route.continue(); });
  await row(page, "india-reader").getByRole("button", {name: "Approve once…"}).click();
  await page.getByText("The project, always").click();
  await page.getByLabel("Reason").fill("For the afternoon");
  await confirm(page).waitFor();
  await page.getByLabel("Reason").press("Control+Enter");
  check(await page.locator("dialog").isVisible(), "always was confirmed by a key");
  equal(posts, 0, "decisions");
  await page.getByText("This package, once").click();
  await page.getByRole("button", {name: "Approve once, opens 1"}).and(confirm(page)).waitFor();
  await page.getByLabel("Reason").press("Control+Enter");
  await page.locator(".toast", {hasText: "Approved once"}).waitFor();
  equal(posts, 1, "decisions");
  await page.close();
});

test("a confirming button is dead for its first 400 ms, to mouse and keyboard", async (stage) => {
  await live(stage, "juliet", reader("juliet-reader"));
  const page = await stage.page("ana");
  let posts = 0;
  await page.route("**/changes*", async (route) => { posts++; await route.continue(); });
  await row(page, "juliet-reader").waitFor();
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 1000);
  await row(page, "juliet-reader").getByRole("button", {name: "More actions"}).evaluate((button) => button.click());
  await page.clock.runFor(100);
  await page.locator(".menu [data-action=request_changes]").evaluate((button) => button.click());
  await page.locator("dialog").waitFor({state: "attached"});
  await page.locator("#reason").evaluate((input) => { input.value = "Too broad"; input.dispatchEvent(new Event("input", {bubbles: true})); });
  await page.clock.runFor(DEAD_MS - 10);
  const button = page.locator("[data-confirm]");
  equal(await button.getAttribute("aria-disabled"), "true", "at first");
  await button.evaluate((one) => one.click());
  await page.locator("#reason").evaluate((input) => input.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", ctrlKey: true, bubbles: true})));
  equal(posts, 0, "sent while dead");
  await page.clock.runFor(DEAD_MS);
  equal(await button.getAttribute("aria-disabled"), "false", "after that");
  await page.close();
});

/** In the page: a stream of events that beats when it is told to. */
function silentStream() {
  const real = globalThis.fetch;
  const beat = () => new TextEncoder().encode(`event: beat\ndata: ${JSON.stringify({serverTime: new Date().toISOString()})}\n\n`);
  globalThis.fetch = (href, init) => {
    if (href !== "/v1/events") return real(href, init);
    const body = new ReadableStream({start(controller) { globalThis.beat = () => controller.enqueue(beat()); globalThis.beat(); }});
    return Promise.resolve(new Response(body, {headers: {"Content-Type": "text/event-stream"}}));
  };
}

test("35 s without a beat are said, actions stay on, and a beat ends it", async (stage) => {
  const page = await stage.page(null);
  await page.addInitScript(silentStream);
  await page.addInitScript((token) => sessionStorage.setItem("admitd.token", token), stage.told.tokens.ana);
  await page.clock.install();
  await page.reload();
  await row(page, "map-module-boundaries").waitFor();
  await page.getByText("Live", {exact: true}).waitFor();
  await page.clock.fastForward(SILENT_MS - 15000);
  equal(await page.locator(".strip").count(), 0, "strips before");
  let asked = 0;
  page.on("request", (request) => { asked += request.url().includes("/v1/recovery") ? 1 : 0; });
  await page.clock.fastForward(SILENT_MS);
  await page.locator(".strip").getByText(/^Not live since \d\d:\d\d:\d\d/).waitFor();
  equal(await row(page, "map-module-boundaries").getByRole("button", {name: /^Approve once/}).getAttribute("aria-disabled"), "false", "actions");
  await stage.shot(page, "not-live");
  const before = asked;
  await page.clock.fastForward(10500);
  await page.clock.fastForward(2500);
  await page.waitForRequest("**/v1/recovery*").catch(() => {});
  check(asked > before, "it doesn't read again");
  await page.evaluate(() => globalThis.beat());
  await page.getByText("Live", {exact: true}).waitFor();
  equal(await page.locator(".strip").count(), 0, "strips after");
  await page.close();
});

const HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202egnp.exe\u200b";
const LONG = HOSTILE + "x".repeat(10000);
const KEPT = new Set(["id", "kind", "type", "status", "decision", "mode", "method", "href", "key", "tone", "sign", "state", "arm", "next", "surface", "class",
  "requirement", "level", "action", "packageId", "decisionId", "requirementKey", "taskId", "run", "code", "source", "installState", "conclusion", "role", "name", "row", "phase"]);
const TIME = /^\d{4}-\d\d-\d\dT|^\d+$|^sha256:|^\/v1\//;

/** Every text of an answer that somebody could have written, hostile. */
function poisoned(value, name = "") {
  if (Array.isArray(value)) return value.map((one) => poisoned(one, name));
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([member, one]) => [member, poisoned(one, member)]));
  return typeof value === "string" && !KEPT.has(name) && !TIME.test(value) ? (name === "reason" || name === "body" ? LONG : HOSTILE) : value;
}

/** In the page: the elements whose own text has a letter that nobody sees. */
function unseenIn(body) {
  const has = (one) => [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && /[\u202e\u200b]/.test(node.data));
  return [...body.querySelectorAll("*")].filter(has).map((one) => `${one.parentElement.className} > ${one.localName}.${one.className} ${one.textContent.slice(0, 60)}`);
}

/** In the page: what reaches beyond its right edge, where the page can be scrolled to it. */
function wideIn() {
  if (document.documentElement.scrollWidth <= innerWidth) return [];
  return [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > innerWidth).map((one) => `${one.localName}.${one.className}`);
}

async function hostileAt(stage, hash) {
  const page = await stage.page(null);
  await page.addInitScript((token) => sessionStorage.setItem("admitd.token", token), stage.told.tokens.ana);
  let dialogs = 0;
  page.on("dialog", (dialog) => { dialogs++; dialog.dismiss(); });
  await page.route(/\/v1\/(recovery|packages|tasks|projects|decisions|audit|grants|runs|stats|catalog)/, async (route) => {
    const answer = await route.fetch();
    await route.fulfill({response: answer, json: poisoned(await answer.json())});
  });
  await page.goto(`${stage.url}/${hash}`);
  await page.reload();
  await page.locator("main .chr", {hasText: "U+202E"}).first().waitFor();
  await page.locator("main .card:visible, main .tbl:visible").first().waitFor();
  equal(await page.locator("main img, main script").count(), 0, `${hash}: elements made of text`);
  equal(dialogs, 0, `${hash}: alerts`);
  equal(await page.locator("[title*='<img']:not([data-action])").count(), 0, `${hash}: titles made of text`);
  equal(await page.locator("a:not([href^='#/']):not([href='#main'])").count(), 0, `${hash}: links that lead elsewhere`);
  check(!/[\u202e\u200b]/.test(await page.title()), `${hash}: a letter nobody sees is in its title`);
  equal(await page.locator("body").evaluate(unseenIn), [], `${hash}: elements with a letter that nobody sees`);
  equal(await page.evaluate(wideIn), [], `${hash}: elements that make it wider than the screen`);
  await stage.shot(page, `hostile-${hash.split("/")[1]}`);
  await page.close();
}

test("hostile text is shown harmlessly on package, plan, project, decision and log", async (stage) => {
  const {items} = await must(stage, "ana", "GET", "/v1/recovery?limit=500");
  const item = items.find((one) => one.label === "map-module-boundaries");
  const faults = [];
  for (const hash of [`#/packages/${item.packageId}`, "#/tasks/index-the-support-archive", "#/projects", "#/projects/atlas", `#/decisions/${item.decisionId}`, "#/log"]) await hostileAt(stage, hash).catch((fault) => faults.push(String(fault)));
  equal(faults, []);
});

await run(open);
