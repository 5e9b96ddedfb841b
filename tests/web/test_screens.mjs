#!/usr/bin/env node
// Every screen, clicked through and looked at: package, plan, project, decision, rules, log, trends; wide and narrow, light and dark.
import {readFileSync} from "node:fs";
import {check, diagnostic, equal, run, test} from "./tap.mjs";
import {AXE, NARROW, open} from "./browser.mjs";

const heldItem = async (stage, label) => (await stage.api("ana", "GET", "/v1/recovery?limit=500")).body.items.find((item) => item.label === label);
const packageHash = async (stage, label) => `#/packages/${(await heldItem(stage, label)).packageId}`;
const heading = (page) => page.locator("h1").innerText();
const axe = readFileSync(AXE, "utf8");

test("a package says why it is held, what it asks for and how its decision came about", async (stage) => {
  const page = await stage.page("ana", await packageHash(stage, "map-module-boundaries"));
  const item = await heldItem(stage, "map-module-boundaries");
  await page.getByRole("heading", {name: item.operatorState.headline}).waitFor();
  check((await page.locator(".state").innerText()).includes(item.operatorState.body), "the daemon's words");
  await page.getByText("Goes on without it").first().waitFor();
  equal(await page.locator(".track .turn").count(), 1, "places where the decision turned");
  await page.locator(".track").getByText("Handoff").waitFor();
  check((await page.locator(".ident .diff").innerText()).includes("revoked"), "the input that changed");
  await page.getByText("Handoff refused").waitFor();
  check((await page.locator(".curl code").innerText()).startsWith(`admitctl grant ${item.packageId}`), "the command");
  await stage.shot(page, "package-light");
  await page.emulateMedia({colorScheme: "dark"});
  await stage.shot(page, "package-dark");
  await page.keyboard.press("J");
  await page.getByRole("heading", {name: "find-dead-configuration"}).waitFor();
  await page.close();
});

test("what the daemon can't keep up is told above every screen, in its words", async (stage) => {
  const page = await stage.page("ana", "#/trends");
  await heading(page);
  equal(await page.locator(".strip").count(), 0, "lines while all is well");
  await page.route("**/v1/health", (route) => route.fulfill({json: {status: "failing", upkeep: [
    {name: "due", failing: true, code: "internal", detail: "Writing down what time did fails in project p1", since: "2026-11-30T09:00:00Z", projects: 1, project: "p1"},
    {name: "leases", failing: false, code: null, detail: "Ending the runs works", since: null, projects: 0, project: null}]}}));
  await page.reload();
  await page.locator(".strip", {hasText: "Writing down what time did fails in project p1."}).waitFor();
  equal(await page.locator(".strip").count(), 1, "lines");
  await stage.shot(page, "upkeep");
  await page.close();
});

test("Why leads to the rule that decided, and the decision is replayed and judged again", async (stage) => {
  const page = await stage.page("ana", await packageHash(stage, "find-dead-configuration"));
  await page.getByRole("link", {name: "Why filesystem.project.read"}).click();
  await page.getByRole("heading", {name: "Blocked by row 5a"}).waitFor();
  await page.getByRole("button", {name: /didn’t apply/}).first().click();
  await page.getByText("it is well formed").waitFor();
  await page.getByRole("button", {name: "Replay"}).click();
  await page.getByText("Same bytes").waitFor();
  await page.getByRole("button", {name: "Judge again"}).click();
  await page.getByText("decides the same").waitFor();
  await stage.shot(page, "decision");
  await page.close();
});

test("a decision names where it was made, and leads to its package and to what differed before", async (stage) => {
  const item = await heldItem(stage, "map-module-boundaries");
  const page = await stage.page("ana", `#/decisions/${item.decisionId}`);
  await page.locator(".meta", {hasText: "Handoff"}).getByRole("link", {name: "map-module-boundaries"}).waitFor();
  await page.getByRole("link", {name: "Differences only"}).click();
  await page.locator(".diff", {hasText: "revoked"}).first().waitFor();
  await stage.shot(page, "decision-differs");
  await page.getByRole("link", {name: "All inputs"}).click();
  await page.getByText("Prompt text").waitFor();
  await page.locator(".meta").getByRole("link", {name: "map-module-boundaries"}).click();
  await page.getByRole("heading", {name: item.operatorState.headline}).waitFor();
  await page.close();
});

test("two decisions are compared by what differs", async (stage) => {
  const item = await heldItem(stage, "map-module-boundaries");
  const list = (await stage.api("ana", "GET", `/v1/decisions?package=${item.packageId}`)).body.items;
  const page = await stage.page("ana", `#/decisions/${list[0].id}?with=${list.at(-1).id}`);
  check((await page.locator(".diff").innerText()).includes("revoked"), "what differs");
  await page.close();
});

/** Edges of the graph that run behind a box: a point of the one inside the other, ends apart. */
const crossings = (page) => page.locator(".graph").evaluate((graph) => {
  const boxes = [...graph.querySelectorAll("rect")].map((rect) => rect.getBBox());
  const isIn = (point, box) => point.x > box.x + 1 && point.x < box.x + box.width - 1 && point.y > box.y + 1 && point.y < box.y + box.height - 1;
  return [...graph.querySelectorAll("path.e")].filter((path) => {
    const points = Array.from({length: 200}, (_, at) => path.getPointAtLength((path.getTotalLength() * at) / 199));
    return points.some((point) => boxes.some((box) => isIn(point, box)));
  }).length;
});

test("a plan that is blocked can't be approved, and says why; a graph shows what depends on what", async (stage) => {
  const page = await stage.page("ana", "#/tasks/index-the-support-archive");
  await page.getByText("3 of 7 packages are blocked").waitFor();
  const approve = page.getByRole("button", {name: "Approve plan", exact: true});
  equal(await approve.getAttribute("aria-disabled"), "true");
  await approve.focus();
  check(await approve.evaluate((button) => document.activeElement === button), "it can't be focused");
  await approve.click({force: true});
  equal(await page.locator("dialog").count(), 0, "dialogs of a button that is off");
  equal(await page.locator(".graph a").count(), 7, "packages in the graph");
  equal(await page.locator(".graph path.e").count(), 3, "arrows");
  equal(await crossings(page), 0, "edges behind a box");
  await page.getByRole("link", {name: "write-the-index, Not offered yet, after group-by-topic, sort-reports"}).waitFor();
  await page.getByText(/Previewed/).getByText(/\d\d:\d\d:\d\d/).waitFor();
  equal(await page.locator(".plan-rows a", {hasText: "collect-links"}).count(), 0, "rows that can go ahead, before they are asked for");
  await page.locator("tr", {hasText: "4 more can go ahead"}).getByRole("button", {name: "show"}).click();
  await page.locator(".plan-rows a", {hasText: "collect-links"}).waitFor();
  await stage.shot(page, "plan");
  await page.emulateMedia({colorScheme: "dark"});
  await stage.shot(page, "plan-dark");
  await page.close();
});

test("a plan that nothing blocks is approved by clicking, and cleared from the queue", async (stage) => {
  const page = await stage.page("ana");
  await page.locator("tr", {hasText: "Nightly link check"}).getByRole("link", {name: "Review plan"}).click();
  await page.locator("button[data-action=approve][aria-disabled=false]").click();
  await page.getByLabel("Reason").fill("Read it");
  await stage.shot(page, "approve-plan");
  await page.locator("[data-confirm][aria-disabled=false]").click();
  await page.locator(".toast", {hasText: "Plan approved. Only cancelling ends it."}).waitFor();
  await page.getByText("This plan is approved.").waitFor();
  equal((await stage.api("ana", "GET", "/v1/tasks/nightly-link-check")).body.status, "approved");
  await page.close();
});

test("a project shows its access, its servers and its whole ledger; a server is checked by a click if the daemon can", async (stage) => {
  const page = await stage.page("ana", "#/projects");
  await page.getByRole("link", {name: "Project quarry"}).click();
  const reported = page.locator("tr", {hasText: "the sign-in of the bot account has ended"}).getByRole("button", {name: "Check now"});
  equal([await reported.getAttribute("aria-disabled"), await reported.getAttribute("title")], ["true", "Only its outside checker can look at it."]);
  await page.goto(`${stage.url}/#/projects/atlas`);
  await page.getByText("2 records, all kept").waitFor();
  await page.locator("table.servers tr", {hasText: "filesystem"}).getByRole("button", {name: "Check now"}).click();
  await page.locator(".toast").getByText("Checked").waitFor();
  await stage.shot(page, "project");
  await page.close();
});

test("the rules explain a typo, and another catalog is compared with what was decided", async (stage) => {
  const page = await stage.page("root", "#/rules");
  await page.getByLabel("Capability").fill("github.secerts.write");
  await page.getByRole("button", {name: "Explain"}).click();
  await page.getByRole("button", {name: "github.secrets.write"}).first().waitFor();
  const field = page.getByLabel("Capability");
  check(await field.evaluate((input) => input.scrollWidth <= input.clientWidth), "what was typed is cut off");
  await page.getByLabel("Only names with").fill("secrets");
  await page.getByText("filesystem.project.read").waitFor({state: "detached"});
  await page.locator(".known").getByText("github.secrets.write").waitFor();
  await page.getByLabel("Only names with").fill("");
  const names = await page.locator(".known code").allInnerTexts();
  equal(names.length, new Set(names).size, "names, each once");
  const catalog = (await stage.api("root", "GET", "/v1/catalog")).body;
  catalog.mcps.filesystem.runtime.capabilities = catalog.mcps.filesystem.runtime.capabilities.filter((name) => name !== "filesystem.project.read");
  delete catalog.mcps.filesystem.aliases["filesystem.read"];
  await page.locator("input[type=file]").setInputFiles({name: "other.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(catalog))});
  await page.getByText(/\d+ of \d+ decisions would change/).waitFor();
  await stage.shot(page, "rules");
  await page.close();
});

test("the log is searched, exported and verified", async (stage) => {
  const page = await stage.page("reader", "#/log");
  const search = page.getByRole("search", {name: "The log"});
  await page.locator("tbody tr").first().waitFor();
  equal(await page.locator("thead th").allInnerTexts(), ["Time", "Who", "Did what", "On what", "Decision", "Reason"]);
  await search.getByLabel("type").selectOption("grant.recorded");
  await page.getByRole("button", {name: "Search"}).click();
  await page.locator("tr", {hasText: "moving to a new checkout"}).first().waitFor();
  const times = await page.locator("tbody time").evaluateAll((list) => list.map((one) => one.dateTime));
  equal(times, [...times].sort().reverse(), "newest first");
  await page.locator("tbody a", {hasText: "profile-the-import-job"}).first().waitFor();
  await page.getByRole("button", {name: "Verify"}).click();
  await page.getByText(/Chain whole to \d+/).waitFor();
  const [sign, said] = await Promise.all([page.locator("[role=status] svg").boundingBox(), page.getByText(/Chain whole to/).boundingBox()]);
  check(Math.abs(sign.y + sign.height / 2 - said.y - said.height / 2) < 3, "the sign isn't beside its text");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", {name: "Export"}).click()]);
  const lines = readFileSync(await download.path(), "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const last = lines.pop();
  check(lines.length > 3 && lines.every((line) => line.type === "grant.recorded"), `${lines.length} lines`);
  check(last.result, "whole only with its last line");
  await stage.shot(page, "log");
  await page.goto(`${stage.url}/#/log?actor=nobody-ever`);
  await page.getByText("Nothing matches.").waitFor();
  await page.getByRole("link", {name: "Clear filters."}).click();
  await page.locator("tbody tr").nth(50).waitFor();
  await page.close();
});

test("a long log is read page by page, and nothing moves under who reads it", async (stage) => {
  const page = await stage.page("reader", "#/log");
  await page.locator("tbody tr").nth(99).waitFor();
  const first = () => page.locator("tbody tr").first().innerText();
  const newest = await first();
  await sendPlan(stage, "sent-meanwhile", [freePackage("meanwhile")]);
  await page.getByRole("button", {name: "Show newer rows"}).waitFor();
  equal(await first(), newest, "the first row moved");
  await page.getByRole("button", {name: "Show newer rows"}).click();
  const sent = page.locator("tbody tr", {hasText: "sent-meanwhile"}).first();
  await sent.waitFor();
  await page.getByRole("button", {name: "Older"}).click();
  await sent.waitFor({state: "detached"});
  await page.getByRole("button", {name: "Newer"}).click();
  await sent.waitFor();
  await page.close();
});

test("every type of event can be asked of the log", async (stage) => {
  const page = await stage.page("reader", "#/log");
  const types = JSON.parse(readFileSync(new URL("../../docs/openapi.json", import.meta.url), "utf8")).components.schemas.EventType.enum;
  await page.getByLabel("type").waitFor();
  equal((await page.getByLabel("type").locator("option").allInnerTexts()).slice(1), types);
  await page.close();
});

test("trends have their plots as tables too, in one type size, as wide as their card, and their bars lead to lists", async (stage) => {
  const page = await stage.page("ana", "#/trends");
  await page.getByRole("button", {name: "As table"}).first().click();
  await page.getByRole("columnheader", {name: "Blocked"}).waitFor();
  check(/^\d+ \w{3} \d\d:00$/.test(await page.locator(".big-plot td").first().innerText()), "a date as everywhere");
  const plots = page.locator("svg.g");
  const type = await plots.locator("text").evaluateAll((list) => [...new Set(list.map((one) => Math.round(one.getBoundingClientRect().height)))]);
  equal(type.length, 1, `heights of letters ${type}`);
  const [card, ...widths] = await Promise.all([page.locator(".plots"), ...(await plots.all())].map(async (one) => (await one.boundingBox()).width));
  check(widths.length === 2 && widths.every((width) => width > card - 40), `${widths} of ${card}`);
  await stage.shot(page, "trends");
  await page.emulateMedia({colorScheme: "dark"});
  await stage.shot(page, "trends-dark");
  for (const [span, name] of [["7 d", "trends-7d"], ["30 d", "trends-30d"]]) {
    await page.getByRole("button", {name: span}).click();
    await plots.first().locator("text", {hasText: "now"}).waitFor();
    const labels = await plots.first().locator("text[text-anchor=middle]").evaluateAll((list) => list.map((one) => one.textContent));
    check(labels.length > 4 && labels.slice(0, -1).every((label) => /^\d+ \w{3}$/.test(label)), labels.join());
    await stage.shot(page, name);
  }
  await plots.first().locator("a").last().click();
  await page.getByRole("heading", {name: "Log"}).waitFor();
  await page.locator("tr", {hasText: "Preview"}).first().waitFor();
  await page.close();
});

test("find leads to a package by its label", async (stage) => {
  const page = await stage.page("ana");
  await page.locator("tr[data-row]").first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("trace-slow");
  await page.locator(".find .menu a").first().waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", {name: "trace-slow-queries"}).waitFor();
  await page.close();
});

const SCREENS = ["#/queue", "#/tasks/index-the-support-archive", "#/projects", "#/projects/atlas", "#/decisions", "#/log", "#/trends", "#/rules?capability=github.secerts.write"];

async function serious(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => globalThis.axe.run(document, {resultTypes: ["violations"]}));
  return found.violations.filter((one) => ["serious", "critical"].includes(one.impact)).map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.target.join(" ")).join(" | ")}`);
}

test("once the page stands no screen needs another file", async (stage) => {
  const page = await stage.page("ana", "#/queue");
  await page.locator("tr[data-row]").first().waitFor();
  const asked = [];
  await page.route(/\/web\/.*\.(js|css)$/, (route) => { asked.push(route.request().url()); return route.abort(); });
  for (const hash of SCREENS) {
    await page.evaluate((to) => { location.hash = to; }, hash);
    await page.locator("main .card:visible, main .tbl:visible, main .plots:visible").first().waitFor();
  }
  equal(asked, []);
  await page.close();
});

test("axe finds nothing serious on any screen, light, dark and narrow", async (stage) => {
  const item = await heldItem(stage, "map-module-boundaries");
  const faults = [];
  for (const options of [{}, {colorScheme: "dark"}, {viewport: NARROW}]) {
    const page = await stage.page("ana", "#/queue", options);
    for (const hash of [...SCREENS, `#/packages/${item.packageId}`, `#/decisions/${item.decisionId}`]) {
      await page.goto(`${stage.url}/${hash}`);
      await page.locator("main .card:visible, main .tbl:visible, main .plots:visible").first().waitFor();
      faults.push(...(await serious(page)).map((fault) => `${hash} ${JSON.stringify(options)} ${fault}`));
    }
    await page.goto(`${stage.url}/#/queue`);
    await page.getByRole("button", {name: "Approve once…"}).first().click();
    await page.getByText("Opens 1 held package now").waitFor();
    faults.push(...(await serious(page)).map((fault) => `dialog ${JSON.stringify(options)} ${fault}`));
    await page.close();
  }
  equal(faults, []);
});

test("at 390 and at 320 pixels nothing is wider than the screen, and what is pressed is 44 high", async (stage) => {
  const hashes = [...SCREENS, await packageHash(stage, "map-module-boundaries")];
  for (const viewport of [NARROW, {width: 320, height: 700}]) {
    const page = await stage.page("ana", "#/queue", {viewport, hasTouch: true});
    for (const hash of hashes) {
      await page.goto(`${stage.url}/${hash}`);
      await page.locator("main .card:visible, main .tbl:visible, main .plots:visible").first().waitFor();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      check(wide <= viewport.width, `${hash} is ${wide} wide at ${viewport.width}`);
      if (viewport === NARROW) await stage.shot(page, `narrow-${hash.split(/[/?]/)[1]}${hash.includes("/", 3) ? "-one" : ""}`);
    }
    await page.goto(`${stage.url}/#/queue`);
    const heights = await page.locator("td.act .btn").evaluateAll((list) => list.map((one) => one.getBoundingClientRect().height));
    check(heights.length > 0 && Math.min(...heights) >= 44, `a target is ${Math.min(...heights)} high`);
    await page.close();
  }
});

test("printed and in forced colours it still says what it says", async (stage) => {
  const page = await stage.page("ana", await packageHash(stage, "map-module-boundaries"), {forcedColors: "active"});
  await page.locator(".state").waitFor();
  await stage.shot(page, "forced-colors");
  await page.emulateMedia({media: "print", forcedColors: "none"});
  check(!(await page.locator(".top").isVisible()), "the bar is printed");
  check(await page.locator(".state h2").isVisible(), "the state isn't printed");
  await stage.shot(page, "print");
  diagnostic(`heading when printed: ${await heading(page)}`);
  await page.goto(`${stage.url}/#/trends`);
  await page.locator("svg.g").first().waitFor();
  check(!(await page.locator(".bar").first().isVisible()), "what is pressed is printed");
  await stage.shot(page, "print-trends");
  await page.goto(`${stage.url}/#/tasks/index-the-support-archive`);
  await page.locator(".graph").waitFor();
  equal(await page.locator(".graph-box .scroll").evaluate((box) => getComputedStyle(box).maxHeight), "none", "height of the graph");
  await stage.shot(page, "print-plan", {fullPage: true});
  await page.close();
});

/** A package that nothing holds, and one that reads the project's files. */
const freePackage = (label, after = []) => wanting(label, after, {mcpId: "github", requirement: "optional", capabilities: ["github.issues.create"], fallback: {action: "continue_without_mcp"}});
const reading = (label) => wanting(label, [], {mcpId: "filesystem", requirement: "required", capabilities: ["filesystem.project.read"], fallback: {action: "block"}});
const wanting = (label, after, more) => ({label, agent: "backend", dependsOn: after, promptOverlays: {}, document: {mcpAwareSubtasks: [], mcpRequirements: [
  {requirementKey: `needs-${label}`, sourceRequirementIndex: 0, agent: "backend", assignment: {type: "agent", targetId: "backend"}, ...more}]}});

async function sendPlan(stage, id, packages, who = "planner") {
  const answer = await stage.api(who, "PUT", `/v1/tasks/${id}`, {project: "borealis", title: id, packages});
  check(answer.status < 300, JSON.stringify(answer.body));
  return answer.body;
}

async function decide(stage, task, body) {
  const [{id}] = task.packages;
  const [last] = (await stage.api("ana", "GET", `/v1/grants?package=${id}`)).body.items;
  const answer = await stage.api("ana", "POST", `/v1/packages/${id}/grants`, {expectedRevision: last?.revision ?? "0", ...body});
  check(answer.status < 300, JSON.stringify(answer.body));
}

const approves = {decision: "approved", capabilities: ["filesystem.project.read"], rootRevision: "1"};

test("a plan of 200 packages has a graph that can be read: no edge behind a box, and the focus brings its box into view", async (stage) => {
  const after = (at) => [...new Set([at - 7, at - 13, at - 40].filter((other) => other >= 0))].map((other) => `step-${other}`);
  await sendPlan(stage, "two-hundred", Array.from({length: 200}, (_, at) => freePackage(`step-${at}`, after(at))));
  const page = await stage.page("ana", "#/tasks/two-hundred");
  await page.locator(".graph a").nth(199).waitFor();
  equal(await crossings(page), 0, "edges behind a box");
  const text = page.locator(".graph text").last();
  check((await text.boundingBox()).height > 10, "letters that are too small");
  await page.locator(".graph a").last().focus();
  const [box, room] = [await text.boundingBox(), await page.locator(".graph-box .scroll").boundingBox()];
  check(box.x < room.x + room.width && box.y < room.y + room.height, "the focused box isn't in view");
  await stage.shot(page, "plan-200");
  await page.close();
});

test("when the last block goes the approval turns on, and that is said aloud; when it comes back nothing is approved", async (stage) => {
  const task = await sendPlan(stage, "read-the-ledger", [reading("read-ledger")]);
  const page = await stage.page("ana", "#/tasks/read-the-ledger");
  await page.getByText("1 of 1 packages is blocked").waitFor();
  await decide(stage, task, approves);
  await page.locator("button[data-action=approve][aria-disabled=false]").click();
  await page.locator("[role=status]", {hasText: "It can be approved"}).waitFor();
  await page.getByLabel("Reason").fill("Looks right");
  await decide(stage, task, {decision: "revoked", reason: "second thoughts"});
  await page.locator("[data-confirm]").click();
  await page.getByRole("heading", {name: "Nothing was approved"}).waitFor();
  await page.locator("dialog .diff", {hasText: "revoked"}).waitFor();
  await stage.shot(page, "plan-not-approved");
  await page.close();
});

test("a newer revision is read before it is approved, and who sent a plan can't approve it", async (stage) => {
  await sendPlan(stage, "sort-the-notes", [freePackage("sort-notes")], "root");
  const own = await stage.page("root", "#/tasks/sort-the-notes");
  await own.getByText("Someone else must approve what you sent.").waitFor();
  await own.close();
  const page = await stage.page("ana", "#/tasks/sort-the-notes");
  await page.locator("button[data-action=approve][aria-disabled=false]").waitFor();
  await sendPlan(stage, "sort-the-notes", [freePackage("sort-notes"), freePackage("file-notes", ["sort-notes"])], "root");
  await page.getByText("Revision 2 arrived. Read it first.").waitFor();
  equal(await page.locator("button[data-action=approve]").getAttribute("aria-disabled"), "true");
  await page.getByRole("button", {name: "I have read it"}).click();
  await page.locator("button[data-action=approve][aria-disabled=false]").waitFor();
  await page.close();
});

test("on a narrow screen the approval stays at the bottom", async (stage) => {
  for (const viewport of [NARROW, {width: 320, height: 700}]) {
    const page = await stage.page("ana", "#/tasks/index-the-support-archive", {viewport, hasTouch: true});
    await page.getByText("3 of 7 packages are blocked").waitFor();
    const box = await page.getByRole("button", {name: "Approve plan"}).boundingBox();
    check(box.y > viewport.height - 150 && box.y + box.height <= viewport.height, `at ${box.y} of ${viewport.height}`);
    await stage.shot(page, `narrow-plan-${viewport.width}`);
    await page.close();
  }
});

await run(open);
