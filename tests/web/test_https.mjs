#!/usr/bin/env node
// The console over https: signed in, live, and through a certificate that is renewed.
import {check, equal, run, test} from "./tap.mjs";
import {open} from "./browser.mjs";
import {confirm, fillGrant, row} from "./plans.mjs";

const ANY_CERTIFICATE = {ignoreHTTPSErrors: true};  // the test's own authority

test("a grant is given in a secure context, and what it frees goes while the certificate is renewed", async (stage) => {
  const page = await stage.page("ana", "#/queue", ANY_CERTIFICATE);
  await row(page, "read-the-archive").waitFor();
  equal(await page.evaluate(() => [location.protocol, isSecureContext, typeof navigator.locks]), ["https:", true, "object"]);
  await stage.story.tell("renew");
  await fillGrant(page, "read-the-archive", "the archive is public");
  await confirm(page).click();
  await page.locator("tr.gone", {hasText: "read-the-archive"}).waitFor();
  check((await page.title()).includes("admitd"), await page.title());
  await page.close();
});

await run(() => open("secure_story.py"));
