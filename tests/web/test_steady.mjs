#!/usr/bin/env node
// Nothing moves under who reads: cleared rows, presses beside them, the way back, long lists, a tab that nobody sees.
import {check, equal, run, test} from "./tap.mjs";
import {NARROW, open} from "./browser.mjs";
import {approveOnce, confirm, free, itemOf, live, must, pageWithToldStream, reader, row, rowIds} from "./plans.mjs";

let plans = 0;

/** Something that every watcher is told of: a plan, which is one row more. */
const happen = (stage) => must(stage, "planner", "PUT", `/v1/tasks/happening-${++plans}`, {project: "borealis", title: `Happening ${plans}`, packages: [free("one")]});

/** The queue's answer from now on, made of the real one. */
async function serve(page, make) {
  await page.route("**/v1/recovery*", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({json: make(await answer.json())});
  });
}

const many = (count) => (page) => {
  const item = page.items.find((one) => one.label === "map-module-boundaries");
  return {...page, next: null, items: Array.from({length: count}, (_, at) => ({...item, id: `hold:${at}`, label: `package-${at}`, cause: undefined}))};
};

test("a cleared row stays in its place until the cursor leaves, however often the queue is read again", async (stage) => {
  await live(stage, "papa", ...["one", "two", "three"].map((name) => reader(`papa-${name}`)));
  const page = await stage.page("ana");
  await row(page, "papa-two").click({position: {x: 8, y: 8}});
  const before = await rowIds(page);
  await approveOnce(stage, "marek", (await itemOf(stage, "papa-one")).packageId);
  await page.locator("tr.gone", {hasText: "papa-one"}).waitFor();
  for (const count of [1, 2, 3]) {
    await happen(stage);
    await page.getByRole("button", {name: `Show ${count} new`}).waitFor();
    equal(await rowIds(page), before, `rows after ${count} events`);
  }
  await page.keyboard.press("j");
  await page.locator("tr.gone", {hasText: "papa-one"}).waitFor({state: "detached"});
  check(await row(page, "papa-three").evaluate((one) => one.classList.contains("cur")), "the cursor isn't where j leads");
  await page.close();
});

test("a press does what it is on, though cleared rows above it leave with the press", async (stage) => {
  await live(stage, "quebec", ...["one", "two", "three"].map((name) => reader(`quebec-${name}`)));
  const page = await stage.page("ana", "#/queue", {viewport: {width: 1280, height: 3000}}); // so high that nothing scrolls in place of what left
  await row(page, "quebec-one").click({position: {x: 8, y: 8}});
  await approveOnce(stage, "marek", (await itemOf(stage, "quebec-one")).packageId);
  await page.locator("tr.gone", {hasText: "quebec-one"}).waitFor();
  const at = await row(page, "quebec-three").getByRole("button", {name: "Approve once…"}).boundingBox();
  await page.mouse.move(at.x + 20, at.y + 12);
  await page.mouse.down();
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  await page.mouse.up();
  await page.locator("dialog", {hasText: "quebec-three"}).waitFor();
  await page.locator("tr.gone", {hasText: "quebec-one"}).waitFor({state: "detached"});
  await page.close();
});

test("a row whose cause becomes another stays where it is, under its own words", async (stage) => {
  const page = await stage.page("ana");
  let turned = false;
  await serve(page, (answer) => {
    const item = answer.items.find((one) => one.label === "count-test-gaps");
    if (turned && item) Object.assign(item, {cause: undefined, operatorState: {...item.operatorState, headline: "Another thing holds it"}});
    return answer;
  });
  await page.reload();
  await row(page, "count-test-gaps").waitFor();
  const before = await rowIds(page);
  turned = true;
  await happen(stage);
  await row(page, "count-test-gaps").getByText("Another thing holds it").waitFor();
  equal(await rowIds(page), before, "rows");
  await page.close();
});

test("a package opens at its top, Back returns to the same row, in view and with the focus", async (stage) => {
  await live(stage, "sierra", ...Array.from({length: 40}, (_, at) => reader(`sierra-${at}`)));
  const page = await stage.page("ana", "#/queue", {viewport: {width: 1280, height: 420}});
  const one = row(page, "sierra-37");
  await one.click({position: {x: 8, y: 8}});
  await page.keyboard.press("Enter");
  await page.getByRole("heading", {name: "sierra-37"}).waitFor();
  equal(await page.evaluate(() => scrollY), 0, "how far down the package is opened");
  await page.goBack();
  await page.locator("tr.cur", {hasText: "sierra-37"}).waitFor();
  check(await one.evaluate((shown) => document.activeElement === shown), "the focus isn't on it");
  const {top, bottom} = await one.evaluate((shown) => shown.getBoundingClientRect().toJSON());
  const free = await page.evaluate(() => [document.querySelector(".top").getBoundingClientRect().bottom, document.querySelector(".foot").getBoundingClientRect().top]);
  check(top >= free[0] && bottom <= free[1], `it is shown from ${top} to ${bottom}, and bars leave ${free}`);
  await page.close();
});

test("what an approval opens is asked again when something changes, and its button sleeps until that has been read", async (stage) => {
  await live(stage, "zulu", ...["one", "two"].map((name) => reader(`zulu-${name}`)));
  const page = await stage.page("ana");
  await row(page, "zulu-one").getByRole("button", {name: /^Approve once/}).click();
  await page.getByText("The project, always").click();
  await page.getByLabel("Reason").fill("For the week");
  await page.getByRole("button", {name: /opens 2$/}).and(confirm(page)).waitFor();
  await must(stage, "planner", "PUT", "/v1/tasks/zulu-more", {project: "zulu", title: "More of it", packages: [reader("zulu-three")]});
  await page.locator("[data-confirm]", {hasText: "opens 3"}).waitFor();
  await page.locator(".imp", {hasText: "was: opens 2"}).waitFor();
  equal(await page.getByLabel("Reason").inputValue(), "For the week");
  await page.getByRole("button", {name: /opens 3$/}).and(confirm(page)).waitFor();
  await page.close();
});

test("Esc of a page that nothing was before leads to the queue", async (stage) => {
  const page = await stage.page("ana", `#/packages/${(await itemOf(stage, "map-module-boundaries")).packageId}`);
  await page.getByRole("heading", {name: "map-module-boundaries"}).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("tr[data-row]").first().waitFor();
  check(page.url().startsWith(stage.url), page.url());
  await page.close();
});

test("J goes on to the next package of the queue, also when this one is free by now", async (stage) => {
  await live(stage, "romeo", ...["one", "two", "three"].map((name) => reader(`romeo-${name}`)));
  const page = await stage.page("ana");
  await row(page, "romeo-two").click({position: {x: 8, y: 8}});
  await page.keyboard.press("Enter");
  await page.getByRole("heading", {name: "romeo-two"}).waitFor();
  const {packageId} = await itemOf(stage, "romeo-two");
  const known = page.waitForResponse(async (answer) => answer.url().includes("/v1/recovery") && !(await answer.text()).includes(packageId));
  await approveOnce(stage, "marek", packageId);
  await known;
  await page.locator(".state [data-action=approve_once]").waitFor({state: "detached"});
  await page.keyboard.press("J");
  await page.getByRole("heading", {name: "romeo-three"}).waitFor();
  await page.keyboard.press("K");
  await page.getByRole("heading", {name: "romeo-one"}).waitFor();
  await page.close();
});

for (const [viewport, name] of [[{width: 1280, height: 900}, "wide"], [NARROW, "narrow"]]) {
  test(`of 600 rows those in sight are there, wherever one scrolls, ${name}`, async (stage) => {
    const page = await stage.page("ana", "#/queue", {viewport});
    await serve(page, many(600));
    await page.reload();
    await row(page, "package-0").waitFor();
    equal(await page.locator("table[aria-rowcount]").getAttribute("aria-rowcount"), "600", "rows that it says");
    check(await page.locator("tr[data-row]").count() < 300, "rows that nobody can see");
    await row(page, "package-0").focus();
    for (const part of [0.5, 1, 0.25]) {
      await page.evaluate((share) => scrollTo(0, share * document.documentElement.scrollHeight), part);
      await page.waitForFunction(() => {
        const at = document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.closest("tr");
        return at?.dataset.row && Number(at.getAttribute("aria-rowindex")) > 1;
      });
      check(await row(page, "package-0").count() === 1, "the row with the focus is gone");
    }
    await page.close();
  });
}

test("what happens after a page was read and before its stream has begun is seen all the same", async (stage) => {
  await live(stage, "tango", reader("tango-first"));
  const page = await stage.page(null, "");
  let begin = null;
  await page.route("**/v1/events", async (route) => {
    await new Promise((done) => { begin = done; });
    await route.continue();
  });
  await page.evaluate((token) => sessionStorage.setItem("admitd.token", token), stage.told.tokens.ana);
  await page.goto(`${stage.url}/#/tasks/tango-plan`);
  await page.reload();
  await page.getByRole("link", {name: "tango-first"}).first().waitFor();
  await must(stage, "planner", "PUT", "/v1/tasks/tango-plan", {project: "tango", title: "tango", packages: [reader("tango-first"), reader("tango-second")]});
  begin();
  await page.getByText("Revision 2 arrived. Read it first.").waitFor();
  await page.close();
});

test("an empty queue teaches, one row is one", async (stage) => {
  const page = await stage.page("ana");
  let count = 0;
  await serve(page, (answer) => ({...answer, items: answer.items.slice(0, count), counts: {}}));
  await page.reload();
  await page.getByText("Nothing is held. A blocked package appears here, with its reason and what frees it.").waitFor();
  equal(await page.locator("h1").innerText(), "Nothing waits for a person");
  count = 1;
  await page.reload();
  await page.getByRole("heading", {name: "1 waits for a person"}).waitFor();
  equal(await page.title(), "(1) Queue - admitd");
  await page.close();
});

test("of a thousand events at once the queue is read again a few times", async (stage) => {
  const page = await pageWithToldStream(stage);
  const before = await page.evaluate(() => globalThis.asked);
  await page.evaluate(() => globalThis.tell(1000));
  await page.waitForFunction((count) => globalThis.asked > count, before);
  await page.waitForLoadState("networkidle");
  const asked = await page.evaluate(() => globalThis.asked) - before;
  check(asked >= 1 && asked <= 5, `read ${asked} times`);
  await page.close();
});

test("a tab that nobody sees asks for nothing at each event, and reads again when it is seen", async (stage) => {
  const page = await pageWithToldStream(stage);
  const hide = (hidden) => page.evaluate((is) => {
    Object.defineProperty(document, "hidden", {value: is, configurable: true});
    Object.defineProperty(document, "visibilityState", {value: is ? "hidden" : "visible", configurable: true});
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
  await page.waitForLoadState("networkidle");
  await hide(true);
  const before = await page.evaluate(() => globalThis.asked);
  for (let at = 0; at < 20; at++) await page.evaluate(() => new Promise((done) => { globalThis.tell(1); setTimeout(done, 60); }));
  const asked = await page.evaluate(() => globalThis.asked) - before;
  check(asked <= 1, `read ${asked} times while hidden`); // one may have been on its way
  await hide(false);
  await page.waitForFunction((count) => globalThis.asked > count, before);
  await page.close();
});

await run(open);
