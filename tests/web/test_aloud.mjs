#!/usr/bin/env node
// Without a mouse and without eyes: each flow by keys, names of all that is pressed, where the focus goes, what is said, titles.
import {check, equal, run, test} from "./tap.mjs";
import {open} from "./browser.mjs";
import {READ, allow, approveOnce, confirm, fillGrant, itemOf, keepCopies, live, must, projectOf, reader, row} from "./plans.mjs";

const KEYS = ["j", "k", "Enter", "Esc", "J", "K", "a", "A", "d", "r", "x", "w", "c", "n", "/", "?", ...["q", "p", "d", "l", "t", "r"].map((key) => `g ${key}`)];
const focused = (page) => page.evaluate(() => { const at = document.activeElement; return at.id || at.dataset.row || at.dataset.action || at.localName; });

async function atQueue(page) {
  await page.locator("tr.cur").waitFor();
  return page;
}

test("from the sign-in to an approval and back again no mouse is needed", async (stage) => {
  await live(stage, "alfa", reader("alfa-reader"));
  const page = await stage.page(null);
  await page.keyboard.press("Tab");
  await page.getByLabel("Token").waitFor();
  await page.getByLabel("Token").focus();
  await page.keyboard.insertText(stage.told.tokens.ana);
  await page.keyboard.press("Enter");
  await atQueue(page);
  while (!(await page.locator("tr.cur").innerText()).includes("alfa-reader")) await page.keyboard.press("j");
  await page.keyboard.press("a");
  await page.getByText("Opens 1 held package now").waitFor();
  equal(await focused(page), "reason");
  await page.keyboard.type("Read it all");
  await confirm(page).waitFor();
  await page.keyboard.press("Control+Enter");
  const gone = page.locator("tr.cur.gone", {hasText: "alfa-reader"});
  await gone.waitFor();
  check(await gone.evaluate((one) => document.activeElement === one), `the focus is on ${await focused(page)}, not on the row`);
  await page.getByRole("button", {name: "Undo"}).focus();
  await page.keyboard.press("Enter");
  await page.locator(".toast", {hasText: "Taken back"}).waitFor();
  await page.close();
});

test("after an action of a package the focus is on its new headline", async (stage) => {
  await live(stage, "bravo", reader("bravo-reader"));
  const page = await stage.page("ana", `#/packages/${(await itemOf(stage, "bravo-reader")).packageId}`);
  await page.locator(".state [data-action=approve_once]").waitFor();
  await page.keyboard.press("a");
  await page.getByLabel("Reason").fill("Needed");
  await confirm(page).waitFor();
  await page.keyboard.press("Control+Enter");
  await page.locator(".state [data-action=approve_once]").waitFor({state: "detached"});
  equal(await focused(page), "state");
  await page.close();
});

test("a dialog that is left gives the focus back to what opened it", async (stage) => {
  const page = await atQueue(await stage.page("ana"));
  const button = row(page, "map-module-boundaries").getByRole("button", {name: /^Approve once/});
  await button.focus();
  await page.keyboard.press("Enter");
  await page.locator("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({state: "detached"});
  check(await button.evaluate((one) => document.activeElement === one), `the focus is on ${await focused(page)}`);
  await page.close();
});

test("keys sleep behind a dialog, wherever in it one has pressed", async (stage) => {
  const page = await atQueue(await stage.page("ana"));
  await fillGrant(page, "map-module-boundaries", "half a thought");
  await page.locator("dialog .imp h3").click();
  for (const key of ["d", "j", "x", "n", "?", "g", "l"]) await page.keyboard.press(key);
  equal(await page.locator("dialog h2").innerText(), "Approve once");
  equal(await page.getByLabel("Reason").inputValue(), "half a thought");
  check(page.url().includes("#/queue"), page.url());
  await page.close();
});

test("keys can be switched off, and are no longer promised", async (stage) => {
  const page = await atQueue(await stage.page("ana"));
  const press = async (name) => { await page.getByRole("button", {name: /^ana/}).click(); await page.getByRole("button", {name}).click(); };
  await press("Switch keys off");
  equal(await page.locator("footer kbd").count(), 0, "keys in the footer");
  await page.keyboard.press("d");
  await page.keyboard.press("?");
  equal(await page.locator("dialog").count(), 0, "dialogs");
  await page.reload();
  await atQueue(page);
  await page.keyboard.press("?");
  equal(await page.locator("dialog").count(), 0, "dialogs after a reload");
  await press("Switch keys on");
  await page.keyboard.press("?");
  await page.getByRole("heading", {name: "Keys"}).waitFor();
  await page.close();
});

test("the sheet of keys names every key there is", async (stage) => {
  const page = await atQueue(await stage.page("ana"));
  await page.keyboard.press("?");
  const said = (await page.locator("dialog dt").allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim());
  const all = said.flatMap((text) => (text.startsWith("g ") ? [text] : text.split(" ")));
  equal(KEYS.filter((key) => !all.includes(key)), []);
  await page.close();
});

test("g and a letter lead to each screen, which has one heading and a title of its own", async (stage) => {
  const page = await atQueue(await stage.page("ana"));
  const titles = new Set();
  for (const [key, name] of [["p", "Projects"], ["d", "Decisions"], ["l", "Log"], ["t", "Trends"], ["r", "Rules"], ["q", "wait for a person"]]) {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await page.getByRole("heading", {level: 1, name}).waitFor();
    equal(await page.locator("h1").count(), 1, `headings of ${name}`);
    equal(await page.locator("main, header.top, nav[aria-label=Main], [role=search], footer").count() >= 5, true, `landmarks of ${name}`);
    titles.add(await page.title());
  }
  equal(titles.size, 6, [...titles].join());
  await page.close();
});

test("whatever is pressed has a name, and nothing is told by a sign alone", async (stage) => {
  const {packageId, decisionId} = await itemOf(stage, "map-module-boundaries");
  const page = await stage.page("ana");
  const faults = [];
  for (const hash of ["#/queue", `#/packages/${packageId}`, "#/tasks/index-the-support-archive", "#/projects/atlas", `#/decisions/${decisionId}`, "#/log", "#/trends", "#/rules"]) {
    await page.goto(`${stage.url}/${hash}`);
    await page.locator("main .card:visible, main .tbl:visible, main .plots:visible").first().waitFor();
    for (const one of await page.locator("button:visible, a:visible, input:visible, select:visible, summary:visible").all()) {
      const said = await one.ariaSnapshot();
      if (!/^- '?\w+ "[^"]+"|^- \w+: .+/.test(said)) faults.push(`${hash}: ${said}`);
    }
    faults.push(...(await page.locator("svg.s:visible").evaluateAll((list) => list.filter((one) => !(one.closest("li, tr, button, a, div, span, dt")?.textContent.trim() || one.parentElement.closest("tr, li, div")?.textContent.trim())).map((one) => one.outerHTML))));
  }
  equal(faults, []);
  await page.close();
});

test("one line is read aloud, seldom, and leaves nothing out", async (stage) => {
  const page = await stage.page(null);
  await keepCopies(page);
  await page.addInitScript((token) => sessionStorage.setItem("admitd.token", token), stage.told.tokens.ana);
  await page.addInitScript(() => {
    globalThis.heard = [];
    new MutationObserver(() => { const text = document.querySelector("[role=status].hid")?.textContent; if (text && text !== globalThis.heard.at(-1)?.text) globalThis.heard.push({text, at: performance.now()}); }).observe(document, {subtree: true, childList: true, characterData: true});
  });
  await live(stage, "charlie", ...["one", "two", "three"].map((name) => reader(`charlie-${name}`)));
  await page.reload();
  await atQueue(page);
  equal(await page.getByRole("status").count(), 1, "status lines");
  for (const name of ["one", "two", "three"]) {
    await approveOnce(stage, "marek", (await itemOf(stage, `charlie-${name}`)).packageId);
    await page.locator("tr.gone", {hasText: `charlie-${name}`}).waitFor();
  }
  await page.waitForFunction(() => globalThis.heard.some((one) => one.text.includes("3 cleared")));
  const heard = await page.evaluate(() => globalThis.heard);
  for (const [at, one] of heard.entries()) check(at === 0 || one.at - heard[at - 1].at > 2500, JSON.stringify(heard));
  await page.close();
});

test("find opens what was typed, however fast, and says when there is nothing", async (stage) => {
  const page = await atQueue(await stage.page("ana"));
  await page.keyboard.press("/");
  await page.keyboard.type("zzzz-nothing");
  await page.getByText("Nothing has this name or id.").waitFor();
  await page.getByRole("search").getByRole("textbox").fill("");
  await page.keyboard.type("trace-");
  await page.locator(".find .menu a", {hasText: "trace-slow-queries"}).waitFor();
  await page.getByRole("search").getByRole("textbox").fill("rebuild-the-glossary");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", {name: "rebuild-the-glossary"}).waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("trace-slow");
  await page.locator(".find .menu a").first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", {name: "trace-slow-queries"}).waitFor();
  await page.close();
});

test("what was copied is said where one looks too", async (stage) => {
  const page = await stage.page(null);
  await keepCopies(page);
  await page.addInitScript((token) => sessionStorage.setItem("admitd.token", token), stage.told.tokens.ana);
  await page.goto(`${stage.url}/#/packages/${(await itemOf(stage, "map-module-boundaries")).packageId}`);
  await page.reload();
  await page.locator(".state").waitFor();
  await page.keyboard.press("c");
  await page.locator(".toast", {hasText: "id copied"}).waitFor();
  await page.close();
});

test("rows of two projects are refused together in words, and what can't be done to all of them too", async (stage) => {
  const page = await atQueue(await stage.page("ana"));
  const pick = async (label) => { await row(page, label).click({position: {x: 8, y: 8}}); await page.keyboard.press("x"); };
  await pick("count-test-gaps");
  await pick("trace-slow-queries");
  await page.getByText("They must be of one project.").waitFor();
  await page.getByLabel("Reason").fill("both");
  equal(await page.getByRole("button", {name: /^Approve once, opens/}).getAttribute("aria-disabled"), "true");
  await pick("trace-slow-queries");
  await page.getByText("1 package selected").waitFor();
  let posts = 0;
  await page.route("**/grants", async (route) => { posts++; await route.continue(); });
  await page.getByRole("button", {name: "Approve once, opens 1"}).evaluate((button) => { button.click(); button.click(); });
  await page.locator(".toast", {hasText: "1 package decided."}).waitFor();
  equal(posts, 1, "decisions");
  await page.getByRole("button", {name: "Undo"}).click();
  await page.locator(".toast", {hasText: "Taken back"}).waitFor();
  await page.close();
});

test("light and dark are chosen, kept, and the machine's else; nothing moves for who wants no motion", async (stage) => {
  const page = await atQueue(await stage.page("ana", "#/queue", {colorScheme: "light", reducedMotion: "reduce"}));
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await ground();
  await page.getByRole("button", {name: /^ana/}).click();
  await page.getByRole("button", {name: "Dark", exact: true}).click();
  const dark = await ground();
  check(light !== dark, light);
  await page.reload();
  await atQueue(page);
  equal(await ground(), dark, "after a reload");
  equal(await page.evaluate(() => document.getAnimations().length), 0, "movements");
  await page.getByRole("button", {name: /^ana/}).click();
  await page.getByRole("button", {name: /Colours as the machine/}).click();
  equal(await ground(), light);
  await page.close();
});

test("a package that more than one thing holds says how many, and lists them", async (stage) => {
  const more = {requirementKey: "gh-x", sourceRequirementIndex: 1, mcpId: "github", agent: "backend", requirement: "required", capabilities: ["github.secerts.write"], fallback: {action: "block"}, assignment: {type: "agent", targetId: "backend"}};
  await live(stage, "kilo", reader("kilo-reader", undefined, [more]));
  const page = await stage.page("ana", `#/packages/${(await itemOf(stage, "kilo-reader")).packageId}`);
  await page.locator(".state", {hasText: "1 more reason holds it"}).waitFor();
  await page.locator("tr", {hasText: "github.secerts.write"}).waitFor();
  await page.close();
});

test("what is said again and again is one line, with its count and since when", async (stage) => {
  const task = await live(stage, "lima", reader("lima-reader"));
  await allow(stage, "lima", [READ]);
  await must(stage, "ana", "POST", "/v1/tasks/lima-plan/approval", {planRevision: "1"});
  await must(stage, "ana", "POST", "/v1/projects/lima/grants", {decision: "revoked", expectedRevision: (await projectOf(stage, "lima")).grant.revision});
  const href = `/v1/packages/${task.packages[0].id}`;
  for (const worker of ["one", "two", "three"]) equal((await stage.api("executor", "POST", `${href}/handoff`, {worker})).status, 409);
  const page = await stage.page("ana", `#/packages/${task.packages[0].id}`);
  const fold = page.getByRole("button", {name: /^3 times, since/});
  await fold.click();
  equal(await fold.count(), 0, "folds that are open");
  await page.close();
});

await run(open);
