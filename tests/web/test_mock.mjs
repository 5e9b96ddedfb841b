#!/usr/bin/env node
// The console beside its drawing, mock.html, in one browser at one size: what can be measured is measured, and both are kept as one picture.
//
// A measure is [name, where in the drawing, where in the console, what, how far apart they may be]; "same" as the second place means the first.
// What: x, y, w, h of its box in CSS pixels (+ `end`, its right edge), or a property of its computed style, or two for the two of them.
// Each is printed.
import {readFileSync} from "node:fs";
import path from "node:path";
import {fileURLToPath, pathToFileURL} from "node:url";
import {check, diagnostic, equal, run, test} from "./tap.mjs";
import {NARROW, SHOTS, WIDE, open} from "./browser.mjs";

const MOCK = pathToFileURL(path.join(path.dirname(fileURLToPath(import.meta.url)), "mock.html")).href;
const PX = 2;
const BOXES = ["x", "y", "w", "h", "end"];
const TARGET = 44;

/** A zone in which it is two in the afternoon, so that the hours of this day's story are of one day, as drawn. */
function afternoon() {
  const east = 14 - new Date().getUTCHours();
  return {timezoneId: `Etc/GMT${east > 0 ? "-" : "+"}${Math.abs(east)}`};
}

const row = (page, label) => page.locator("tr[data-row]", {hasText: label}).first();
const item = async (stage, label) => (await stage.api("ana", "GET", "/v1/recovery?limit=500")).body.items.find((one) => one.label === label);

/** In a page: what a measure finds at a place, or null where nothing is. */
function look([place, what]) {
  const found = document.querySelector(place);
  if (!found) return null;
  const box = found.getBoundingClientRect();
  const boxes = {x: box.x, y: box.y, w: box.width, h: box.height, end: box.right};
  if (what in boxes) return Math.round(boxes[what] * 10) / 10;
  const [name, pseudo] = what.split("::");
  return getComputedStyle(found, pseudo ? `::${pseudo}` : null).getPropertyValue(name);
}

const isNear = (a, b, within) => (typeof a === "number" && typeof b === "number" ? Math.abs(a - b) <= within :
  /^[\d.]+(px)?$/.test(a) && /^[\d.]+(px)?$/.test(b) ? Math.abs(parseFloat(a) - parseFloat(b)) <= within : a === b);

/** Prints each measure; fails with those that are too far apart. */
async function compare(mock, page, scope, measures) {
  const apart = [];
  for (const [name, there, here, what, within = BOXES.includes(what) ? PX : 0.5] of measures) {
    const [drawn, made] = [what].flat().concat(what);
    const wanted = await mock.evaluate(look, [`#${scope} ${there}`, drawn]);
    const found = await page.evaluate(look, [here === "same" ? there : here, made]);
    const says = `${name}: mock ${wanted}, console ${found}`;
    diagnostic(says);
    if (wanted === null || found === null || !isNear(wanted, found, within)) apart.push(says);
  }
  equal(apart, [], "too far apart");
}

/** The drawing, as it shows one of its screens. */
async function drawing(stage, scope, options = {}) {
  const context = await stage.browser.newContext({viewport: WIDE, ...options});
  const page = await context.newPage();
  await page.goto(`${MOCK}#${scope}`);
  await page.locator(`#${scope}`).waitFor();
  return page;
}

/** Both as one picture, left the drawing, right the console. */
async function beside(stage, mock, page, name, options = {}) {
  const shots = [];
  for (const one of [mock, page]) shots.push(`data:image/png;base64,${(await one.screenshot({animations: "disabled", ...options})).toString("base64")}`);
  const sheet = await stage.browser.newPage();
  await sheet.setContent(`<style>body{margin:0;background:#888;display:inline-flex;gap:12px;align-items:start}img{display:block}</style>${shots.map((src) => `<img src="${src}">`).join("")}`);
  await sheet.locator("body").screenshot({path: path.join(SHOTS, `mock-vs-${name}.png`)});
  await sheet.close();
}

async function close(...pages) {
  for (const page of pages) await page.context().close();
}

// ---- What every screen has: the bars, the colours, the type.

const TONES = ["amber", "red", "green", "slate", "neutral"];
const TOKENS = ["bg", "surface", "sunken", "line", "edge", "text", "text2", "text3", "link", "ink", "onink", ...TONES, ...TONES.map((tone) => `${tone}-bg`)];

/** In a page: each token as the browser paints it. */
function paint(names) {
  const probe = document.body.appendChild(document.createElement("i"));
  return Object.fromEntries(names.map((name) => {
    probe.style.backgroundColor = `var(--${name})`;
    return [name, getComputedStyle(probe).backgroundColor];
  }));
}

async function sameColours(mock, page) {
  const [wanted, found] = [await mock.evaluate(paint, TOKENS), await page.evaluate(paint, TOKENS)];
  for (const name of TOKENS) diagnostic(`colour ${name}: mock ${wanted[name]}, console ${found[name]}`);
  equal(found, wanted, "colours");
  check(new Set(Object.values(found)).size > 15, "colours that differ from each other");
}

const BARS = [
  ["top bar", ".top", "same", "h"], ["top bar's ground", ".top", "same", "background-color"], ["brand", ".brand", "same", "x"], ["brand's size", ".brand", "same", "font-size"],
  ["brand's weight", ".brand", "same", "font-weight"], ["first screen's name", ".top nav a", "same", "x"], ["screens' padding", ".top nav a", "same", "padding-left"],
  ["screens' weight", ".top nav a", "same", "font-weight"], ["line below the screen", ".top nav a", "same", "border-bottom-width"], ["count of the queue", ".top nav .n", "same", "h"],
  ["find", ".find", "same", "w"], ["find's height", ".find", "same", "h"], ["live's words", ".live b", "same", "color"], ["name's end", ".who", "same", "end"],
  ["footer", ".foot", "same", "h"], ["footer's place", ".foot", "same", "y"], ["footer's type", ".foot", "same", "font-size"], ["footer's first key", ".foot kbd", "same", "x"], ["a key's height", ".foot kbd", "same", "h"],
  ["text", "h1", "same", "color"],
];

// ---- The queue.

const QUEUE = [
  ["title", "h1", "same", "font-size"], ["title's weight", "h1", "same", "font-weight"], ["title's place", "h1", "same", "y"], ["title's start", "h1", "same", "x"], ["subtitle", ".head p", "same", "color"],
  ["plots", ".plots", "same", "y"], ["plots' height", ".plots", "same", "h"], ["first plot", ".plot:nth-child(1)", "same", "w"], ["second plot", ".plot:nth-child(2)", "same", "w"], ["third plot", ".plot:nth-child(3)", "same", "w"],
  ["plot's title", ".plot h2", "same", "font-size"], ["plot's title, place", ".plot h2", "same", "y"], ["kinds", ".seg", "same", "h"], ["a kind's ground", ".seg .t-amber", ".seg .t-amber", "background-color"],
  ["kinds' legend", ".keyrow", "same", "y"], ["ages, height", ".plot:nth-child(2) svg.g", "same", "h"], ["ages, type", ".plot:nth-child(2) text.v", "same", "font-weight"],
  ["tool bar", ".bar", "same", "y"], ["chip", ".chip", "same", "h"], ["chip's start", ".chip", "same", "x"], ["second chip's start", ".chip:nth-child(2)", "same", "x"], ["chip's edge", ".chip", "same", "border-top-color"], ["show new", ".fresh", "same", "h"], ["show new's colour", ".fresh", "same", "color"],
  ["table", ".tbl", "same", "y"], ["table's start", ".tbl", "same", "x"], ["table's width", ".tbl", "same", "w"], ["table's corners", ".tbl", "same", "border-top-left-radius"], ["table's ground", ".tbl", "same", "background-color"],
  ["table's head", "thead th", "same", "h"], ["head's type", "thead th", "same", "font-size"], ["head's weight", "thead th:nth-child(2)", "same", "font-weight"],
  ["what", "thead th:nth-child(2)", "same", "x"], ["why", "thead th:nth-child(3)", "same", "x"], ["since", "thead th:nth-child(4)", "same", "x"], ["what frees it", "thead th:nth-child(5)", "same", "x"], ["opens besides", "thead th:nth-child(6)", "same", "x"],
  ["group", "tr.g th", "same", "h"], ["group's ground", "tr.g th", "same", "background-color"], ["group's start", "tr.g b", "same", "x"], ["group's name", "tr.g b", "same", "font-weight"], ["cause's action", "tr.g .btn", "same", "h"], ["cause's action, end", "tr.g .btn", "same", "end"],
  ["row", "tr.cur td", "same", "h"], ["row's type", "tr.cur td", "same", "font-size"], ["sign", "td.sg svg", "same", "x"], ["sign's size", "td.sg svg", "same", "w"], ["label's start", "tr.cur td .l", "same", "x"], ["label", "tr.cur td .l", "same", "font-weight"], ["what else", "tr.cur td.what .m", "same", "color"],
  ["row's ground at the cursor", "tr.cur td", "same", "background-color"], ["cursor", "tr.cur td", "same", "box-shadow"], ["first action", "tr.cur .btn.p", "same", "h"], ["first action's ground", "tr.cur .btn.p", "same", "background-color"], ["first action's ink", "tr.cur .btn.p", "same", "color"], ["first action's start", "tr.cur .btn.p", "same", "x"],
  ["more actions", "tr.cur .btn.more", "same", "w"], ["other rows' action", "tr:not(.cur) td.act .btn", "same", "color"], ["other rows' action, start", "tr:not(.cur) td.act .btn", "same", "x"], ["opens", "tr.cur td.opens", "same", "color"], ["cleared", "tr.gone td.why", "same", "color"], ["cleared label", "tr.gone td .l", "same", "color"], ["old age", "td.old", "same", "font-weight"],
];

/** The queue with its cursor as drawn, one row cleared and two new behind their button. */
async function liveQueue(stage) {
  const page = await stage.page("ana", "#/queue", afternoon());
  await row(page, "count-test-gaps").waitFor();
  const {packageId, actions} = await item(stage, "count-test-gaps");
  await row(page, "map-module-boundaries").click({position: {x: 8, y: 8}});
  const late = {project: "borealis", title: "Tidy the wiki", packages: [{label: "tidy-the-wiki", agent: "docs-2", dependsOn: [], promptOverlays: {}, document: {mcpRequirements: [{requirementKey: "fs-wiki", sourceRequirementIndex: 0, mcpId: "filesystem", agent: "docs-2",
    requirement: "required", capabilities: ["filesystem.project.read"], fallback: {action: "block"}, assignment: {type: "agent", targetId: "docs-2"}}], mcpAwareSubtasks: []}}]};
  equal((await stage.api("planner", "PUT", "/v1/tasks/tidy-the-wiki", late)).status, 201, "a late plan");
  await page.getByRole("button", {name: "Show 2 new"}).waitFor();
  equal((await stage.api("marek", "POST", `/v1/packages/${packageId}/grants`, {...actions[0].body, reason: "counted by hand"})).status, 201, "marek's approval");
  await page.locator("tr.gone", {hasText: "count-test-gaps"}).waitFor();
  await page.locator(".foot code, .foot .id").first().waitFor();
  await page.locator(".plot").nth(2).waitFor();
  return page;
}

test("the queue is as drawn, in light and in dark", async (stage) => {
  const page = await liveQueue(stage);
  const mock = await drawing(stage, "queue");
  await stage.shot(page, "console");
  for (const colorScheme of ["light", "dark"]) {
    for (const one of [mock, page]) await one.emulateMedia({colorScheme});
    await beside(stage, mock, page, `queue-${colorScheme}`);
    await sameColours(mock, page);
    await compare(mock, page, "queue", [...BARS, ...QUEUE]);
  }
  await close(mock, page);
});

test("the queue's words are those of the drawing", async (stage) => {
  const page = await stage.page("ana", "#/queue", afternoon());
  await row(page, "map-module-boundaries").waitFor();
  await page.locator(".plot").nth(2).waitFor();
  const says = async (place, wanted) => {
    const found = (await page.locator(place).allInnerTexts()).map((text) => text.replaceAll(/\s+/g, " ").trim());
    check(found.some((text) => wanted.test(text)), `${wanted} isn't in ${JSON.stringify(found)}`);
  };
  await says(".head p", /^\d+ packages held, \d plans to decide\. The oldest has waited 1 d 4 h\./);
  await says(".plot h2", /^How long they have waited median \d+ min$/);
  await says("tr.g", /^Project access was removed in atlas by marek at \d\d:\d\d: moving to a new checkout opens all \d, and later plans Always allow again…$/);
  await says("tr.in td.what", /^map-module-boundaries backend-2$/);
  await says("tr.in td.why", /^Needs filesystem\.project\.read, filesystem\.project\.list$/);
  await says("tr:not(.in) td.what", /^profile-the-import-job borealis, backend-3$/);
  await says("td.why", /^Read access was denied by ana: not this quarter$/);
  await says("td.why", /^One-time access is used up by attempt 1$/);
  await says("td.why", /^3 of 7 packages are blocked$/);
  await says("td.opens", /^2 packages$/);
  await says(".foot span", /^j ?k ?move$/);
  await close(page);
});

// ---- The package.

const PACKAGE = [
  ["crumb", ".crumb", "same", "y"], ["crumb's links", ".crumb a", "same", "color"], ["title", "h1", "same", "y"], ["title's size", "h1", "same", "font-size"], ["facts", ".meta", "same", "y"], ["facts, bold", ".meta b", "same", "font-weight"],
  ["left column", ".cols > div:nth-child(1)", "same", "w"], ["side column", ".cols > div:nth-child(2)", "same", "w"], ["side column's start", ".cols > div:nth-child(2)", "same", "x"],
  ["state", ".state", "same", "y"], ["state's ground", ".state", "same", "background-color"], ["state's edge", ".state", "same", "border-left-color"], ["state's edge, width", ".state", "same", "border-left-width"], ["state's padding", ".state", "same", "padding-left"], ["state's corners", ".state", "same", "border-top-right-radius"],
  ["state's headline", ".state h2", "same", "font-size"], ["state's headline, weight", ".state h2", "same", "font-weight"], ["state's headline, colour", ".state h2", "same", "color"], ["state's headline, start", ".state h2", "same", "x"], ["state's sign", ".state .hd svg", "same", "w"],
  ["since", ".state .since", "same", "color"], ["since's end", ".state .since", "same", "end"], ["state's words", ".state p", "same", "font-size"], ["state's words, start", ".state p", "same", "x"], ["state's words, colour", ".state p", "same", "color"],
  ["actions", ".acts .btn", "same", "h"], ["actions' start", ".acts .btn", "same", "x"], ["first action's ground", ".acts .btn.p", "same", "background-color"], ["actions' weight", ".acts .btn", "same", "font-weight"],
  ["what it opens, start", ".opensbox", "same", "x"], ["what it opens, width", ".opensbox", "same", "w"], ["what it opens, height", ".opensbox", "same", "h"], ["what it opens, type", ".opensbox h3", "same", "font-size"],
  ["asks", ".cols > div:first-child .card", "same", "x"], ["asks' title", ".cols > div:first-child .sec h2", "same", "font-size"], ["asks' head", ".caps thead th", "same", "h"], ["asks' requirement", ".caps .req th", "same", "h"], ["asks' row", ".caps td", "same", "h"],
  ["capability's start", ".caps td", "same", "padding-left"], ["reaches", ".caps thead th:nth-child(2)", "same", "x"], ["verdict", ".caps thead th:nth-child(3)", "same", "x"], ["verdict's colour", ".caps .v", "same", "color"], ["verdict's sign", ".caps .v svg", "same", "w"],
  ["terminal's ground", ".curl", "same", "background-color"], ["terminal's height", ".curl", "same", "h"], ["terminal's button", ".curl .btn", "same", "h"],
  ["one decision", ".ident", "same", "y"], ["one decision, title", ".ident h2", "same", "font-size"], ["track", ".track", "same", "y"], ["preview", ".track div:nth-child(1)", "same", "x"], ["approval", ".track div:nth-child(2)", "same", "x"], ["handoff", ".track div:nth-child(3)", "same", "x"], ["track's height", ".track", "same", "h"],
  ["same decision", ".track div:nth-child(1)", "same", "border-top-style::after"], ["another decision", ".track div:nth-child(2)", "same", "border-top-style::after"], ["another decision's colour", ".track div:nth-child(2)", "same", "border-top-color::after"], ["its diamond", ".track div:nth-child(3)", "same", "border-top-color::before"],
  ["what changed, ground", ".diff", "same", "background-color"], ["what changed, type", ".diff", "same", "font-size"], ["what changed, padding", ".diff", "same", "padding-left"],
  ["what happened, start", ".tl", "same", "x"], ["its times", ".tl time", "same", "font-size"], ["its words, start", ".tl li > div", "same", "x"], ["its words", ".tl b", "same", "font-weight"], ["its line", ".tl li", "same", "left::before"],
  ["as of now, type", ".seen dd", "same", "font-size"], ["as of now, start", ".seen dt", "same", "x"], ["as of now, value", ".seen dd", "same", "x"],
];

async function packagePage(stage, label = "map-module-boundaries", options = {}) {
  const page = await stage.page("ana", "#/queue", {...afternoon(), ...options});
  await row(page, label).waitFor();
  await page.goto(`${stage.url}/#/packages/${(await item(stage, label)).packageId}`);
  for (const place of [".caps td", ".track", ".seen", ".opensbox", ".tl li"]) await page.locator(place).first().waitFor();
  return page;
}

test("a package is as drawn, in light and in dark", async (stage) => {
  const page = await packagePage(stage);
  const mock = await drawing(stage, "package");
  for (const colorScheme of ["light", "dark"]) {
    for (const one of [mock, page]) await one.emulateMedia({colorScheme});
    await beside(stage, mock, page, `package-${colorScheme}`);
    await sameColours(mock, page);
    await compare(mock, page, "package", [...BARS, ...PACKAGE]);
  }
  await close(mock, page);
});

// ---- The grant dialog.

const GRANT = [
  ["dialog", ".dlg", "same", "w"], ["dialog's place", ".dlg", "same", "y"], ["dialog's start", ".dlg", "same", "x"], ["dialog's corners", ".dlg", "same", "border-top-left-radius"], ["dialog's ground", ".dlg", "same", "background-color"],
  ["title", ".dlg h2", "same", "font-size"], ["title's weight", ".dlg h2", "same", "font-weight"], ["title's start", ".dlg h2", "same", "x"], ["about", ".dlg header p", "same", "color"], ["header", ".dlg header", "same", "h"],
  ["labels", ".dlg .b > span", "same", "x"], ["labels' colour", ".dlg .b > span", "same", "color"], ["fields", ".dlg .rad", "same", "x"], ["choice, height", ".rad > *", "same", "h"], ["choice, width", ".rad > *", "same", "w"], ["second choice", ".rad > :nth-child(2)", "same", "x"],
  ["chosen edge", ".rad > :nth-child(2)", "same", "border-top-width"], ["chosen edge's colour", ".rad > :nth-child(2)", "same", "border-top-color"], ["other edge", ".rad > :nth-child(1)", "same", "border-top-width"], ["choice's name", ".rad b", "same", "font-weight"],
  ["radio", ".rad i", ".rad input", "w"], ["tick", ".tick i", ".tick input", "w"], ["tick's start", ".tick i", ".tick input", "x"], ["tick's ground", ".tick i", ".tick input", ["background-color", "accent-color"]],
  ["end", ".fld", "#ends", "h"], ["reason", ".fld.focus", "#reason", "h"], ["reason's width", ".fld.focus", "#reason", "w"], ["reason's edge", ".fld.focus", "#reason", "border-top-color"], ["focus", ".fld.focus", "#reason", "outline-color"],
  ["warning", ".warn", "same", "x"], ["warning's width", ".warn", "same", "w"], ["warning's ground", ".warn", "same", "background-color"], ["warning's edge", ".warn", "same", "border-left-color"], ["warning's height", ".warn", "same", "h"],
  ["what it opens", ".imp", "same", "w"], ["its head", ".imp h3", "same", "h"], ["its head, weight", ".imp h3", "same", "font-weight"], ["a line of it", ".imp li", "same", "h"], ["a line's name", ".imp li b", "same", "font-weight"], ["a line's name, start", ".imp li b", "same", "x"], ["a line's effect, start", ".imp li span", "same", "x"],
  ["footer", ".dlg footer", "same", "h"], ["footer's ground", ".dlg footer", "same", "background-color"], ["cancel", ".dlg footer .btn", "same", "x"], ["cancel's height", ".dlg footer .btn", "same", "h"], ["confirm's end", ".dlg footer .btn.p", "same", "end"], ["confirm's ground", ".dlg footer .btn.p", "same", "background-color"],
];

test("the grant dialog is as drawn", async (stage) => {
  const page = await packagePage(stage);
  await page.locator(".state").getByRole("button", {name: /^Always allow/}).click();
  await page.getByLabel("Reason").fill("Checkout moved back, build work goes on");
  await page.locator("[data-confirm][aria-disabled=false]").waitFor();
  await page.locator(".imp li").first().waitFor();
  const mock = await drawing(stage, "grant");
  await beside(stage, mock, page, "grant-light");
  await compare(mock, page, "grant", GRANT);
  await close(mock, page);
});

// ---- Narrow.

const NARROW_QUEUE = [
  ["top bar", ".top", "same", "h"], ["brand", ".brand", "same", "x"], ["title", "h1", "same", "y"], ["title's start", "h1", "same", "x"], ["title's size", "h1", "same", "font-size"], ["tool bar", ".bar", "same", "x"],
  ["cards", ".tbl", "same", "x"], ["cards' width", ".tbl", "same", "w"], ["cards' corners", ".tbl", "same", "border-top-left-radius"], ["card's padding", "tr.cur", "same", "padding-top"], ["card's sign", "tr.cur td.sg svg", "same", "x"], ["card's label", "tr.cur .l", "same", "x"], ["card's why", "tr.cur td.why", "same", "x"],
  ["card's age, end", "tr.cur td.num", "same", "end"], ["card at the cursor", "tr.cur", "same", "background-color"], ["card's action", "tr.cur .btn.p", "same", "x"], ["group's padding", "tr.g th", "same", "padding-left"],
];
const NARROW_PACKAGE = [
  ["top bar", ".top", "same", "h"], ["crumb", ".crumb", "same", "x"], ["title's size", "h1", "same", "font-size"], ["state", ".state", "same", "w"], ["state's padding", ".state", "same", "padding-left"], ["state's headline", ".state h2", "same", "font-size"], ["state's words", ".state p", "same", "x"], ["actions", ".acts .btn", "same", "h"], ["actions' start", ".acts .btn", "same", "x"],
  ["what it opens", ".opensbox", "same", "x"], ["asks", ".cols .card", "same", "w"], ["asks' row, padding", ".caps tr:not(.req)", "same", "padding-left"], ["track", ".track", "same", "w"],
];

/** In a page: what can be pressed and is smaller than a thumb, and what stands out of the screen. Links in running text are text. */
function small(least) {
  const inText = "p a, td a, dd a, .tl a, .sec a, .crumb a, .meta a, .track a, .skip";
  return [...document.querySelectorAll("button, select, input, a[href], .has-menu > button")].filter((one) => !one.matches(inText) && one.checkVisibility()).map((one) => {
    const box = (one.closest("label") ?? one).getBoundingClientRect();
    return box.height < least || box.left < 0 || box.right > innerWidth && !one.closest(".bar") ? `${one.className || one.tagName} "${one.textContent.slice(0, 20)}" ${Math.round(box.width)} x ${Math.round(box.height)}, ${Math.round(box.left)} to ${Math.round(box.right)}` : null;
  }).filter(Boolean);
}

test("the narrow queue is as drawn, and whatever is pressed is as large as a thumb", async (stage) => {
  const page = await stage.page("ana", "#/queue", {...afternoon(), viewport: NARROW});
  await row(page, "map-module-boundaries").click({position: {x: 8, y: 8}});
  const mock = await drawing(stage, "queue", {viewport: NARROW});
  for (const one of [mock, page]) await one.evaluate(() => scrollTo(0, 0));
  await beside(stage, mock, page, "narrow-queue");
  await compare(mock, page, "queue", NARROW_QUEUE);
  equal(await page.evaluate(small, TARGET), [], "too small");
  await close(mock, page);
});

test("the narrow package is as drawn, and whatever is pressed is as large as a thumb", async (stage) => {
  const page = await packagePage(stage, "map-module-boundaries", {viewport: NARROW});
  const mock = await drawing(stage, "package", {viewport: NARROW});
  await beside(stage, mock, page, "narrow-package", {fullPage: true});
  await compare(mock, page, "package", NARROW_PACKAGE);
  equal(await page.evaluate(small, TARGET), [], "too small");
  await close(mock, page);
});

await run(open);
