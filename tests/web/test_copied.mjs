#!/usr/bin/env node
// What is copied for a terminal, pasted into one: it does what the button would have, whatever the words in it are.
import {execFile} from "node:child_process";
import path from "node:path";
import {promisify} from "node:util";
import {check, equal, run, test} from "./tap.mjs";
import {open} from "./browser.mjs";
import {copied, itemOf, keepCopies, live, must, reader, row} from "./plans.mjs";

const HOSTILE = "it's $(touch pwned) `touch pwned` \"; touch pwned; # \\ !! %s 'x' é \u202e z";
const KEPT = HOSTILE.replace(" \u202e", ""); // the daemon keeps no letter that turns a line around
const build = path.resolve(process.env.BUILDDIR ?? ".");

/** A line in a shell, as one who has the token would run it; what it printed. */
async function paste(stage, line) {
  const env = {PATH: `${build}:${process.env.PATH}`, ADMITD_URL: stage.url, ADMITD_TOKEN: stage.told.tokens.ana, HOME: stage.told.roots, LC_ALL: "C.UTF-8"};
  const {stdout} = await promisify(execFile)("bash", ["-c", line], {env, cwd: stage.told.roots});
  return stdout;
}

async function nothingElseRan(stage) {
  equal((await paste(stage, "ls")).includes("pwned"), false, "a word of the reason was run");
}

const grantsOf = async (stage, project) => (await must(stage, "ana", "GET", `/v1/grants?project=${project}&limit=10`)).items;

async function copyingPage(stage) {
  const page = await stage.page(null);
  await keepCopies(page);
  await page.addInitScript((token) => sessionStorage.setItem("admitd.token", token), stage.told.tokens.ana);
  return page;
}

test("an approval copied as curl is done by a shell, once, with every letter of its reason", async (stage) => {
  await live(stage, "whiskey", reader("whiskey-reader"));
  const page = await copyingPage(stage);
  await page.reload();
  await row(page, "whiskey-reader").getByRole("button", {name: /^Approve once/}).click();
  await page.getByLabel("Reason").fill(HOSTILE);
  await page.locator("[data-confirm][aria-disabled=false]").waitFor();
  await page.getByRole("button", {name: "Copy as curl"}).click();
  const line = await copied(page);
  check(line.includes("Idempotency-Key") && line.includes("$ADMITD_TOKEN") && !line.includes(stage.told.tokens.ana), line);
  check(/^[\x20-\x7e]*$/.test(line), "a letter of it isn't plain");
  for (const again of [false, true]) {
    const answer = JSON.parse(await paste(stage, line));
    equal(answer.grant?.reason, KEPT, `the answer${again ? " again" : ""} ${JSON.stringify(answer).slice(0, 200)}`);
  }
  equal((await grantsOf(stage, "whiskey")).length, 1, "records");
  await nothingElseRan(stage);
  await page.close();
});

test("a folder and an access for always are copied as curl too", async (stage) => {
  await live(stage, "xray", reader("xray-reader"));
  const page = await copyingPage(stage);
  await page.reload();
  await row(page, "xray-reader").getByRole("button", {name: /^Approve once/}).click();
  await page.getByText("The project, always").click();
  await page.getByLabel("Reason").fill(HOSTILE);
  await page.locator("[data-confirm][aria-disabled=false]").waitFor();
  await page.getByRole("button", {name: "Copy as curl"}).click();
  await paste(stage, await copied(page));
  const [one] = await grantsOf(stage, "xray");
  equal([one.packageId ?? null, one.reason], [null, KEPT]);
  check(Date.parse(one.expiresAt) > Date.now(), "its end is lost");
  await nothingElseRan(stage);
  await page.close();
});

test("the line for a terminal on a package does there what its first button does", async (stage) => {
  await live(stage, "yankee", reader("yankee-reader"));
  const {packageId} = await itemOf(stage, "yankee-reader");
  const page = await copyingPage(stage);
  await page.goto(`${stage.url}/#/packages/${packageId}`);
  await page.reload();
  await page.locator(".curl").getByRole("button", {name: "Copy", exact: true}).click();
  const line = await copied(page);
  equal(line, await page.locator(".curl code").innerText(), "what is shown is what is copied");
  await paste(stage, line);
  const [one] = await grantsOf(stage, "yankee");
  equal([one.packageId, one.decision, one.reason], [packageId, "approved", null]);
  await page.locator(".state [data-action=approve_once]").waitFor({state: "detached"});
  await page.close();
});


await run(open);
