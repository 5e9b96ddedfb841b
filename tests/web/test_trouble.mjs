#!/usr/bin/env node
// What goes wrong: answers that are errors, slow ones, none at all, a token that ends, a clock that is wrong. Drafts live through all of it.
import {check, equal, run, test} from "./tap.mjs";
import {open} from "./browser.mjs";
import {confirm, fillGrant, free, itemOf, live, must, pageWithToldStream, reader, row} from "./plans.mjs";

const PROBLEMS = [[503, "queue_full", "Too much waits to be written", "Try again in 2 s."], [429, "rate_limited", "Too many requests", "Slow down."],
  [500, "internal", "Something broke here", undefined]];
const problem = ([status, code, title, detail]) => ({status, contentType: "application/problem+json", json: {type: `urn:admitd:problem:${code}`, title, status, code, detail, instance: `req_${status}`}});

for (const one of PROBLEMS) {
  test(`a ${one[0]} is shown with its title, detail, code and request, and can be tried again`, async (stage) => {
    const page = await stage.page(null);
    await page.addInitScript((token) => sessionStorage.setItem("admitd.token", token), stage.told.tokens.ana);
    let broken = true;
    await page.route("**/v1/recovery*", (route) => (broken ? route.fulfill(problem(one)) : route.continue()));
    await page.reload();
    const box = page.locator("main [role=alert]");
    await box.waitFor();
    const said = await box.innerText();
    for (const word of [one[2], one[3] ?? "", one[1], `req_${one[0]}`]) check(said.includes(word), `${word} isn't in ${said}`);
    broken = false;
    await box.getByRole("button", {name: "Try again"}).click();
    await row(page, "map-module-boundaries").waitFor();
    equal(await box.count(), 0, "errors that are over");
    await page.close();
  });
}

test("a screen that is slow is grey rows, one that was read before is there at once", async (stage) => {
  const page = await stage.page("ana");
  await row(page, "map-module-boundaries").waitFor();
  let go = null;
  const held = new Promise((done) => { go = done; });
  await page.route("**/v1/*s?limit=500", async (route) => { await held; await route.continue(); });
  await page.evaluate(() => { location.hash = "#/projects"; });
  await page.locator("main [aria-busy=true] .ghost").waitFor();
  await page.evaluate(() => { location.hash = "#/queue"; });
  await row(page, "map-module-boundaries").waitFor();
  go();
  await page.close();
});

test("an action that fails says so until it is closed, with code and request", async (stage) => {
  const page = await stage.page("ana", "#/projects/quarry");
  await page.route("**/check", (route) => route.fulfill(problem(PROBLEMS[0])));
  await page.locator("[data-action=check_server]").first().click();
  const said = page.locator(".toast[role=alert]", {hasText: "Too much waits to be written"});
  await said.waitFor();
  for (const word of ["Try again in 2 s.", "queue_full", "req_503"]) check((await said.innerText()).includes(word), word);
  await said.getByRole("button", {name: "Close"}).click();
  equal(await page.locator(".toast").count(), 0, "toasts");
  await page.close();
});

test("a draft is kept while the daemon is away, nothing can be sent, and then it is sent once", async (stage) => {
  await live(stage, "tango", reader("tango-reader"));
  const page = await stage.page("ana");
  await fillGrant(page, "tango-reader", "written before it went");
  await stage.story.tell("kill");
  await page.locator("dialog", {hasText: "Offline: nothing can be decided now."}).waitFor();
  equal(await page.locator("[data-confirm]").getAttribute("aria-disabled"), "true", "the button");
  await page.locator("[data-confirm]").click({force: true});
  await stage.story.tell("start");
  await confirm(page).waitFor();
  equal(await page.getByLabel("Reason").inputValue(), "written before it went");
  await confirm(page).click();
  await page.locator(".toast", {hasText: "Approved once"}).waitFor();
  const {items} = await must(stage, "ana", "GET", "/v1/grants?project=tango&limit=10");
  equal(items.map((one) => one.reason), ["written before it went"]);
  await page.close();
});

test("a lost daemon is said once, moves no row, and switches off the actions of menus too", async (stage) => {
  const page = await stage.page("ana");
  const shown = row(page, "map-module-boundaries");
  await shown.waitFor();
  await stage.story.tell("stop");
  await page.getByText(/Offline since/).waitFor();
  equal(await page.getByRole("alert").count(), 1, "alerts");
  await shown.getByRole("button", {name: "More actions"}).click();
  for (const one of await page.locator(".menu [data-action]").all()) equal(await one.getAttribute("aria-disabled"), "true", await one.innerText());
  await stage.story.tell("start");
  await page.getByText("Live", {exact: true}).waitFor();
  stage.faults.length = 0;
  await page.close();
});

test("a deep link asks who is there, and leads where it points once that is said", async (stage) => {
  const {packageId} = await itemOf(stage, "map-module-boundaries");
  const page = await stage.page(null, `#/packages/${packageId}`);
  await page.getByLabel("Token").fill(stage.told.tokens.ana);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", {name: "map-module-boundaries"}).waitFor();
  check(page.url().endsWith(packageId), page.url());
  await page.close();
});

test("what can't be a token is refused in words, and nobody is called unreachable", async (stage) => {
  const page = await stage.page(null);
  await page.getByLabel("Token").fill("жетон\u202e");
  await page.getByRole("button", {name: "Sign in"}).click();
  await page.getByRole("alert").getByText("That isn't a token").waitFor();
  equal(await page.evaluate(() => sessionStorage.length), 0, "what is kept");
  await page.close();
});

test("a token that ends under an open dialog loses no word of its draft", async (stage) => {
  const made = await must(stage, "root", "POST", "/v1/tokens", {principal: "temp", roles: ["approver"]});
  await live(stage, "uniform", reader("uniform-reader"));
  const page = await stage.page(made.secret);
  await fillGrant(page, "uniform-reader", "a long thought");
  await stage.api("root", "DELETE", `/v1/tokens/${made.id}`);
  await confirm(page).click();
  await page.locator("dialog [role=alert]").first().waitFor();
  await page.keyboard.press("Escape");
  const next = await must(stage, "root", "POST", "/v1/tokens", {principal: "temp", roles: ["approver"]});
  await page.getByLabel("Token").fill(next.secret);
  await page.getByRole("button", {name: "Sign in"}).click();
  await page.getByRole("heading", {name: "temp's token is none any more"}).waitFor({state: "detached"});
  await row(page, "uniform-reader").getByRole("button", {name: /^Approve once/}).click();
  equal(await page.getByLabel("Reason").inputValue(), "a long thought");
  await page.close();
});

test("who signs in after another sees what is theirs, read anew", async (stage) => {
  const made = await must(stage, "root", "POST", "/v1/tokens", {principal: "temp", roles: ["auditor"]});
  const narrow = await must(stage, "root", "POST", "/v1/tokens", {principal: "guest", roles: ["auditor"], projects: ["quarry"]});
  const page = await stage.page(made.secret);
  await row(page, "map-module-boundaries").waitFor();
  await stage.api("root", "DELETE", `/v1/tokens/${made.id}`);
  await must(stage, "planner", "PUT", "/v1/tasks/seen-by-none", {project: "borealis", title: "News", packages: [free("news")]});
  await page.getByLabel("Token").fill(narrow.secret);
  await page.getByRole("button", {name: "Sign in"}).click();
  await page.getByRole("button", {name: /guest/}).waitFor();
  await row(page, "map-module-boundaries").waitFor({state: "detached"});
  await row(page, "check-licence-headers").waitFor();
  await page.getByRole("button", {name: /guest/}).click();
  await page.getByRole("button", {name: "Sign out"}).click();
  await page.getByRole("heading", {name: "Sign in"}).waitFor();
  check(!(await page.content()).includes("check-licence-headers"), "what was seen is still there");
  equal(await page.title(), "admitd");
  await page.close();
});

test("ages and moments are the server's, however wrong this clock is", async (stage) => {
  const page = await stage.page(null);
  await page.addInitScript((token) => sessionStorage.setItem("admitd.token", token), stage.told.tokens.ana);
  await page.clock.install({time: Date.now() + 40 * 24 * 3600 * 1000});
  await page.reload();
  await page.getByText("Live", {exact: true}).waitFor();
  const shown = row(page, "map-module-boundaries");
  check(/^\d+ (s|min|h \d\d min)$/.test(await shown.locator("td.num time").innerText()), await shown.locator("td.num").innerText());
  check(!(await shown.locator("td.num").evaluate((cell) => cell.classList.contains("old"))), "taken for older than a day");
  await page.close();
});

test("a stream that never begins is said too, and what is shown is read again meanwhile", async (stage) => {
  const page = await stage.page(null);
  await page.addInitScript((token) => sessionStorage.setItem("admitd.token", token), stage.told.tokens.ana);
  await page.route("**/v1/events", () => {});
  await page.clock.install();
  await page.reload();
  await row(page, "map-module-boundaries").waitFor();
  await page.clock.fastForward(36000);
  await page.clock.fastForward(11000);
  await page.locator(".strip").getByText(/^Not live since/).waitFor();
  await page.close();
});

test("a log that begins anew is read anew, whatever was heard before", async (stage) => {
  const page = await pageWithToldStream(stage);
  const before = await page.evaluate(() => globalThis.asked);
  await page.evaluate(() => globalThis.sayToPage(`id: 7.1\nevent: reset\ndata: ${JSON.stringify({serverTime: new Date().toISOString()})}\n\n`));
  await page.waitForFunction((count) => globalThis.asked > count, before);
  await page.close();
});

test("Undo after the attempt has begun says that it can't be undone", async (stage) => {
  const task = await live(stage, "victor", reader("victor-reader"));
  const page = await stage.page("ana");
  await fillGrant(page, "victor-reader", "for the run");
  await confirm(page).click();
  await page.locator(".toast", {hasText: "Approved once"}).waitFor();
  await must(stage, "ana", "POST", "/v1/tasks/victor-plan/approval", {planRevision: "1"});
  await must(stage, "executor", "POST", `/v1/packages/${task.packages[0].id}/handoff`, {worker: "runner-3"});
  await page.getByRole("button", {name: "Undo"}).click();
  await page.locator(".toast", {hasText: "Taken back. Attempt 1 has used it, that can't be undone."}).waitFor();
  await page.close();
});

await run(open);
