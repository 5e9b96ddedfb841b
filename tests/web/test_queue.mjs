#!/usr/bin/env node
// The queue, clicked through: sign-in, what waits, the grant dialog with what it would do, undo, keys.
import {check, equal, run, test} from "./tap.mjs";
import {open} from "./browser.mjs";

const row = (page, label) => page.locator("tr[data-row]", {hasText: label}).first();

test("a person signs in with a token, and a wrong one is refused with its reason", async (stage) => {
  const page = await stage.page(null);
  await page.getByLabel("Token").fill("adt_0000");
  await page.getByRole("button", {name: "Sign in"}).click();
  check((await page.getByRole("alert").innerText()).includes("unauthenticated"), "no reason");
  await stage.shot(page, "sign-in");
  await page.getByLabel("Token").fill(stage.told.tokens.ana);
  await page.getByRole("button", {name: "Sign in"}).click();
  await row(page, "map-module-boundaries").waitFor();
  equal(await page.evaluate(() => document.cookie), "", "cookies");
  await page.close();
});

test("the queue says what waits, why and what frees it, in the API's words", async (stage) => {
  const page = await stage.page("ana");
  const items = (await stage.api("ana", "GET", "/v1/recovery?limit=500")).body.items;
  await row(page, "map-module-boundaries").waitFor();
  equal(await page.locator("tr[data-row]").count(), items.length, "rows");
  equal(await page.locator("h1").innerText(), `${items.length} wait for a person`);
  const denied = items.find((item) => item.arm === "denied");
  check((await row(page, denied.label).innerText()).includes(denied.operatorState.headline), "its headline");
  check((await page.locator("tr.g", {hasText: "Project access was removed in atlas"}).innerText()).includes("Always allow again…"), "the cause's action");
  await stage.shot(page, "queue-light");
  await page.emulateMedia({colorScheme: "dark"});
  await stage.shot(page, "queue-dark");
  await page.close();
});

test("approving once shows what it opens, waits for a reason, is done by a second press and can be taken back", async (stage) => {
  const page = await stage.page("ana");
  const count = await row(page, "find-dead-configuration").waitFor().then(() => page.locator("tr[data-row]").count());
  await row(page, "find-dead-configuration").getByRole("button", {name: "Approve once…"}).click();
  const confirm = page.locator("[data-confirm]");
  await page.getByText("Opens 1 held package now").waitFor();
  equal(await confirm.getAttribute("aria-disabled"), "true", "without a reason");
  equal(await page.evaluate(() => document.activeElement.id), "reason", "focus");
  await page.getByLabel("Reason").fill("Looked at it");
  await page.locator("[data-confirm][aria-disabled=false]").click();
  await page.locator(".toast").getByText("Approved once").waitFor();
  await page.locator("tr.gone", {hasText: "find-dead-configuration"}).waitFor();
  equal(await page.locator("tr[data-row]").count(), count, "nothing moved");
  await page.getByRole("button", {name: "Undo"}).click();
  await page.locator(".toast", {hasText: "Taken back."}).waitFor();
  await row(page, "find-dead-configuration").getByRole("button", {name: "Approve once…"}).waitFor();
  await page.close();
});

test("always allowing warns, ends in a week unless chosen otherwise, and says how many it opens", async (stage) => {
  const page = await stage.page("ana");
  await row(page, "map-module-boundaries").waitFor();
  await page.locator("tr.g", {hasText: "removed in atlas"}).getByRole("button", {name: "Always allow again…"}).click();
  await page.getByText("This opens atlas to plans nobody has seen yet.").waitFor();
  await page.getByRole("button", {name: /Always allow again, opens \d/}).waitFor();
  equal(await page.locator("#ends").inputValue(), "7", "its end");
  await page.getByLabel("Reason").fill("Checkout moved back, build work goes on");
  await stage.shot(page, "grant-light");
  await page.keyboard.press("Escape");
  equal(await page.locator("dialog").count(), 0, "dialogs");
  await page.close();
});

test("keys move, open dialogs and never decide", async (stage) => {
  const page = await stage.page("ana");
  await row(page, "map-module-boundaries").click({position: {x: 8, y: 8}});
  const current = () => page.locator("tr.cur").getAttribute("data-row");
  const before = await current();
  await page.keyboard.press("j");
  check(before !== await current(), "j moved nothing");
  await page.keyboard.press("k");
  equal(await current(), before, "k");
  await page.keyboard.press("d");
  await page.getByRole("heading", {name: "Deny"}).waitFor();
  await page.keyboard.press("Control+Enter");
  equal(await page.locator("dialog").count(), 1, "a denial without a reason");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.getByRole("heading", {name: "Keys"}).waitFor();
  await page.keyboard.press("Escape");
  await page.close();
});

/** Two presses on rows so near in time that the second comes before the first has been drawn whole; the row that has the cursor then. */
const pressTwo = () => {
  const [other, first, second] = document.querySelectorAll("tr[data-row]");
  const press = (row) => row.dispatchEvent(new PointerEvent("pointerdown", {bubbles: true}));
  other.focus();
  return new Promise((done) => requestAnimationFrame(() => setTimeout(async () => {
    press(first);
    for (let turn = 0; turn < 20; turn++) await null;
    press(second);
    setTimeout(() => done([document.querySelector("tr.cur").dataset.row, second.dataset.row]), 100);
  })));
};

test("two presses at once leave one cursor, and the page goes on", async (stage) => {
  const page = await stage.page("ana");
  await row(page, "map-module-boundaries").waitFor();
  const stuck = new Promise((_, fail) => setTimeout(() => fail(new Error("the page is stuck")), 60000).unref());
  const [found, wanted] = await Promise.race([page.evaluate(pressTwo), stuck]);
  equal(found, wanted, "the cursor");
  await page.close();
});

test("several rows are decided with one reason, each by itself", async (stage) => {
  const page = await stage.page("ana");
  for (const label of ["rebuild-the-glossary", "profile-the-import-job"]) {
    await row(page, label).click({position: {x: 8, y: 8}});
    await page.keyboard.press("x");
  }
  await page.getByText("2 packages selected").waitFor();
  await page.getByLabel("Reason").fill("Both were looked at");
  await page.getByRole("button", {name: "Approve once, opens 2"}).click();
  await page.locator(".toast", {hasText: "2 packages decided"}).waitFor();
  await page.locator("tr.gone", {hasText: "profile-the-import-job"}).waitFor();
  await page.close();
});

test("a denial says what it holds, and a plan is sent back, each with its reason", async (stage) => {
  const page = await stage.page("ana");
  await row(page, "trace-slow-queries").getByRole("button", {name: "More actions"}).click();
  await page.getByRole("button", {name: "Deny…"}).click();
  await page.getByText("Holds 1 package").waitFor();
  await page.getByLabel("Reason").fill("not now");
  await page.locator("[data-confirm][aria-disabled=false]").click();
  await page.locator("tr[data-row]", {hasText: "Read access was denied"}).filter({hasText: "trace-slow-queries"}).waitFor();
  await row(page, "sort-reports").getByRole("button", {name: "Request changes…"}).click();
  await page.getByLabel("Reason").fill("secrets, not secerts");
  await page.locator("[data-confirm][aria-disabled=false]").click();
  await page.locator("tr.gone", {hasText: "sort-reports"}).waitFor();
  equal((await stage.api("ana", "GET", "/v1/tasks/index-the-support-archive")).body.status, "changes_requested");
  await page.close();
});

test("the sign beside a headline is the one that the daemon names", async (stage) => {
  const page = await stage.page("ana");
  const items = (await stage.api("ana", "GET", "/v1/recovery?limit=500")).body;
  const item = items.items.find((one) => one.label === "map-module-boundaries");
  item.words.sign = "clock";
  delete item.cause;
  await page.route("**/v1/recovery*", (route) => route.fulfill({json: items}));
  await page.reload();
  await row(page, "map-module-boundaries").locator('use[href="#i-clock"]').first().waitFor({state: "attached"});
  await page.close();
});

await run(open);
