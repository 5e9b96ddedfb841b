#!/usr/bin/env node
// Two operators at once, several tabs, what goes wrong: a lost daemon, an ended token, missing roles, hostile text, the policy; figures.
import {check, diagnostic, equal, run, test} from "./tap.mjs";
import {open} from "./browser.mjs";

const SEEN_WITHIN_MS = 1000;
const SLOWER = 10; // a machine under test may be so much slower; what was measured is printed
const row = (page, label) => page.locator("tr[data-row]", {hasText: label}).first();

async function fillGrant(page, label, reason) {
  await row(page, label).getByRole("button", {name: /^Approve once/}).click();
  await page.getByLabel("Reason").fill(reason);
  await page.locator("[data-confirm][aria-disabled=false]").waitFor();
}

test("two operators see each other's act within a second", async (stage) => {
  const [ana, marek] = [await stage.page("ana"), await stage.page("marek")];
  await row(ana, "draft-release-notes").waitFor();
  await row(marek, "draft-release-notes").waitFor();
  await fillGrant(ana, "draft-release-notes", "For the release");
  const seen = row(marek, "draft-release-notes").and(marek.locator(".gone")).waitFor();
  const began = Date.now();
  await ana.locator("[data-confirm]").click();
  await seen;
  const took = Date.now() - began;
  diagnostic(`seen by the other after ${took} ms`);
  check(took < SEEN_WITHIN_MS * SLOWER, `${took} ms`);
  check((await row(marek, "draft-release-notes").innerText()).includes("by ana"), "who did it");
  await Promise.all([ana.close(), marek.close()]);
});

test("one of two who decide at the same moment is told what the other did, and nothing is done twice", async (stage) => {
  const [ana, marek] = [await stage.page("ana"), await stage.page("marek")];
  await fillGrant(ana, "count-test-gaps", "mine");
  await fillGrant(marek, "count-test-gaps", "no, mine");
  await Promise.all([ana, marek].map((page) => page.locator("[data-confirm]").click()));
  const told = (page) => Promise.race([page.getByText("Nothing of yours was written").waitFor().then(() => "refused"), page.locator(".toast").waitFor().then(() => "done")]);
  const ends = await Promise.all([told(ana), told(marek)]);
  equal([...ends].sort(), ["done", "refused"]);
  const loser = ends[0] === "refused" ? ana : marek;
  await loser.getByText(/decided this .* ago/).waitFor();
  check((await loser.locator("dialog").innerText()).includes("mine"), "the draft is gone");
  await stage.shot(loser, "conflict");
  const items = (await stage.api("ana", "GET", "/v1/grants?project=atlas&limit=100")).body.items;
  equal(items.filter((one) => ["mine", "no, mine"].includes(one.reason)).length, 1, "records");
  await loser.getByRole("button", {name: "Decide on the new record"}).click();
  await loser.locator(".toast", {hasText: "Nothing of it waits any more"}).waitFor();
  await Promise.all([ana.close(), marek.close()]);
});

test("a second press while the first is on its way sends nothing more", async (stage) => {
  const page = await stage.page("ana");
  let posts = 0;
  await page.route("**/grants", async (route) => { posts++; await new Promise((done) => setTimeout(done, 150)); await route.continue(); });
  await fillGrant(page, "trace-slow-queries", "once only");
  await page.locator("[data-confirm]").evaluate((button) => { button.click(); button.click(); button.click(); });
  await page.locator(".toast", {hasText: "Approved once"}).waitFor();
  equal(posts, 1, "posts");
  await page.close();
});

test("what comes while one reads waits behind a button, and moves nothing", async (stage) => {
  const page = await stage.page("ana");
  await row(page, "map-module-boundaries").waitFor();
  const before = await page.locator("tr[data-row]").evaluateAll((rows) => rows.map((one) => one.dataset.row));
  const plan = {project: "borealis", title: "Late plan", packages: [{label: "late-reader", agent: "backend", dependsOn: [], promptOverlays: {}, document: {mcpRequirements: [{requirementKey: "fs-late", sourceRequirementIndex: 0, mcpId: "filesystem", agent: "backend",
    requirement: "required", capabilities: ["filesystem.project.read"], fallback: {action: "block"}, assignment: {type: "agent", targetId: "backend"}}], mcpAwareSubtasks: []}}]};
  equal((await stage.api("planner", "PUT", "/v1/tasks/late-plan", plan)).status, 201);
  await page.getByRole("button", {name: /Show 2 new/}).waitFor();
  equal(await page.locator("tr[data-row]").evaluateAll((rows) => rows.map((one) => one.dataset.row)), before, "rows");
  await page.keyboard.press("n");
  await row(page, "late-reader").waitFor();
  await page.close();
});

test("of two tabs of one token one holds the stream, and both are live", async (stage) => {
  const first = await stage.page("ana");
  await first.getByText("Live", {exact: true}).waitFor();
  const second = await first.context().newPage();
  let streams = 0;
  second.on("request", (request) => { streams += request.url().endsWith("/v1/events") ? 1 : 0; });
  await second.goto(`${stage.url}/#/queue`);
  await row(second, "map-module-boundaries").waitFor();
  equal((await stage.api("marek", "POST", "/v1/projects/quarry/servers/filesystem/check", {})).status, 200);
  await stage.api("planner", "PUT", "/v1/tasks/late-plan-2", {project: "borealis", title: "Another", packages: [{label: "free-one", agent: "a", dependsOn: [], document: {mcpRequirements: []}, promptOverlays: {}}]});
  await second.getByRole("button", {name: /Show 1 new/}).waitFor();
  await second.getByText("Live", {exact: true}).waitFor();
  equal(streams, 0, "streams of the second tab");
  await first.context().close();
});

test("who lacks the role sees the actions, off, with the role they need", async (stage) => {
  const page = await stage.page("reader");
  const button = row(page, "map-module-boundaries").getByRole("button", {name: /^Approve once/});
  equal(await button.getAttribute("aria-disabled"), "true");
  check((await button.getAttribute("title")).includes("Needs role approver"), "why");
  await button.click({force: true});
  equal(await page.locator("dialog").count(), 0);
  await page.close();
});

test("a token that ends leaves what is shown, and signs in in place", async (stage) => {
  const made = (await stage.api("root", "POST", "/v1/tokens", {principal: "temp", roles: ["auditor"]})).body;
  const page = await stage.page(made.secret);
  await row(page, "map-module-boundaries").waitFor();
  equal((await stage.api("root", "DELETE", `/v1/tokens/${made.id}`)).status, 204);
  await stage.api("planner", "PUT", "/v1/tasks/late-plan-3", {project: "borealis", title: "A third", packages: [{label: "free-two", agent: "a", dependsOn: [], document: {mcpRequirements: []}, promptOverlays: {}}]});
  await page.getByText("temp's token is none any more").waitFor();
  check(await row(page, "map-module-boundaries").isVisible(), "the rows are gone");
  await stage.shot(page, "signed-out");
  await page.getByLabel("Token").fill(stage.told.tokens.marek);
  await page.getByRole("button", {name: "Sign in"}).click();
  await page.getByRole("button", {name: /marek/}).waitFor();
  await page.close();
});

const HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202egnp.exe\u200b‮";

test("hostile text is shown harmlessly, whatever is invisible by its number", async (stage) => {
  const items = (await stage.api("ana", "GET", "/v1/recovery?limit=500")).body;
  for (const item of items.items) {
    Object.assign(item, {label: item.label && HOSTILE + "x".repeat(10000), title: HOSTILE, agent: HOSTILE, project: HOSTILE});
    if (item.operatorState) Object.assign(item.operatorState, {headline: HOSTILE, body: HOSTILE.repeat(300)});
    if (item.facts) Object.assign(item.facts, {reason: HOSTILE.repeat(300)});
    if (item.cause) item.cause.headline = HOSTILE;
  }
  const page = await stage.page(null);
  await page.addInitScript((token) => sessionStorage.setItem("admitd.token", token), stage.told.tokens.ana);
  let dialogs = 0;
  page.on("dialog", (dialog) => { dialogs++; dialog.dismiss(); });
  await page.route("**/v1/recovery*", (route) => route.fulfill({json: items}));
  await page.goto(`${stage.url}/#/queue`);
  await page.reload();
  await page.locator("tr[data-row] .chr", {hasText: "U+202E"}).first().waitFor();
  equal(await page.locator("main img, main script").count(), 0, "elements made of text");
  equal(dialogs, 0, "alerts");
  equal(await page.locator("[title*='<img']:not([data-action])").count(), 0, "titles made of text");
  check(await page.evaluate(() => document.documentElement.scrollWidth) <= 1280, "wider than the screen");
  check(!(await page.locator("main").innerText()).includes("\u202e"), "a bidi override is in the page");
  await stage.shot(page, "hostile");
  await page.close();
});

test("the policy stops inline script, other hosts and text as code", async (stage) => {
  const page = await stage.page("ana");
  await row(page, "map-module-boundaries").waitFor();
  const stopped = await page.evaluate(async () => {
    const seen = [];
    addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
    const script = document.createElement("script");
    try { script.textContent = "globalThis.wasRun = true"; } catch { seen.push("trusted-types"); }
    document.body.append(script);
    try { document.createElement("div").innerHTML = "<b>x</b>"; } catch { seen.push("innerHTML"); }
    const told = new Promise((done) => addEventListener("securitypolicyviolation", (event) => event.effectiveDirective === "connect-src" && done()));
    await fetch("http://example.invalid/").catch(() => seen.push("fetch"));
    await told;
    return {seen, wasRun: Boolean(globalThis.wasRun)};
  });
  equal(stopped.wasRun, false, "inline script ran");
  check(stopped.seen.includes("connect-src") && stopped.seen.includes("innerHTML"), JSON.stringify(stopped.seen));
  stage.faults.length = 0;
  await page.close();
});

test("a first useful paint takes little, and so does a key in a queue of ten thousand", async (stage) => {
  const page = await stage.page("ana");
  const paints = [];
  for (let at = 0; at < 7; at++) {
    await page.reload();
    await row(page, "map-module-boundaries").waitFor();
    paints.push(await page.evaluate(() => ({first: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0, useful: globalThis.performance.getEntriesByName("admitd.useful")[0]?.startTime ?? 0})));
  }
  const middle = (name) => paints.map((one) => Math.round(one[name])).sort((a, b) => a - b);
  const shown = (list) => `${list[3]} ms (${list[0]}–${list.at(-1)})`;
  diagnostic(`first paint ${shown(middle("first"))}, queue shown ${shown(middle("useful"))}`);
  check(middle("useful")[3] < 100 * 10 * SLOWER, "the queue is shown late");
  const one = (await stage.api("ana", "GET", "/v1/recovery?limit=500")).body;
  const item = one.items.find((found) => found.packageId);
  const many = {...one, items: Array.from({length: 10000}, (_, at) => ({...item, id: `hold:${at}`, label: `package-${at}`, cause: undefined}))};
  await page.route("**/v1/recovery*", (route) => route.fulfill({json: many}));
  await page.reload();
  await page.locator("tr[data-row]").first().waitFor();
  check(await page.locator("tr[data-row]").count() < 300, "rows that nobody can see");
  const times = [];
  for (let at = 0; at < 15; at++) times.push(await page.evaluate(() => new Promise((done) => {
    const began = performance.now();
    dispatchEvent(new KeyboardEvent("keydown", {key: "j", bubbles: true}));
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
  })));
  times.sort((a, b) => a - b);
  diagnostic(`10 000 rows: key to paint ${times[7].toFixed(1)} ms (${times[0].toFixed(1)}–${times.at(-1).toFixed(1)})`);
  check(times[7] < 50 * SLOWER, "a key is slow");
  await page.close();
});

test("a lost daemon is said, its data stay, actions are off, and all goes on when it is back", async (stage) => {
  const page = await stage.page("ana");
  await row(page, "map-module-boundaries").waitFor();
  await stage.story.tell("stop");
  await page.getByText(/Offline since/).waitFor();
  equal(await row(page, "map-module-boundaries").getByRole("button", {name: /^Approve once/}).getAttribute("aria-disabled"), "true");
  await stage.shot(page, "offline");
  await stage.story.tell("start");
  await page.getByText("Live", {exact: true}).waitFor();
  equal(await page.locator(".strip").count(), 0, "strips");
  equal(await row(page, "map-module-boundaries").getByRole("button", {name: /^Approve once/}).getAttribute("aria-disabled"), "false");
  stage.faults.length = 0;
  await page.close();
});

await run(open);
