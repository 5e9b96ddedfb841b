// plans.mjs - plans, projects and access made in the middle of a test, and where they are on the page.
import {mkdirSync} from "node:fs";
import path from "node:path";
import {check} from "./tap.mjs";

export const [READ, LIST] = ["filesystem.project.read", "filesystem.project.list"];
export const row = (page, label) => page.locator("tr[data-row]", {hasText: label}).first();
export const rowIds = (page) => page.locator("tr[data-row]").evaluateAll((rows) => rows.map((one) => one.dataset.row));
export const confirm = (page) => page.locator("[data-confirm][aria-disabled=false]");

/** A package that reads the project's files. */
export function reader(label, capabilities = [READ], more = []) {
  const requirement = {requirementKey: `fs-${label}`, sourceRequirementIndex: 0, mcpId: "filesystem", agent: "backend", requirement: "required",
    capabilities, fallback: {action: "block"}, assignment: {type: "agent", targetId: "backend"}};
  return {label, agent: "backend", dependsOn: [], promptOverlays: {}, document: {mcpRequirements: [requirement, ...more], mcpAwareSubtasks: []}};
}

/** A package that asks for nothing. */
export const free = (label) => ({label, agent: "backend", dependsOn: [], promptOverlays: {}, document: {mcpRequirements: []}});

export async function must(stage, who, method, href, body) {
  const answer = await stage.api(who, method, href, body);
  check(answer.status < 300, `${method} ${href}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** A project with a folder, and a plan in it. */
export async function live(stage, project, ...packages) {
  const root = path.join(stage.told.roots, project);
  mkdirSync(root, {recursive: true});
  await must(stage, "operator", "PUT", `/v1/projects/${project}`, {name: `Project ${project}`, root});
  return packages.length && must(stage, "planner", "PUT", `/v1/tasks/${project}-plan`, {project, title: `Plan of ${project}`, packages});
}

export const projectOf = (stage, project) => must(stage, "ana", "GET", `/v1/projects/${project}`);

export async function allow(stage, project, capabilities) {
  const {decisionRevision, rootRevision} = await projectOf(stage, project);
  await must(stage, "ana", "POST", `/v1/projects/${project}/grants`, {decision: "approved", capabilities, expectedRevision: decisionRevision, rootRevision});
}

/** Approves a package once, as the API does it; its record. */
export async function approveOnce(stage, who, packageId) {
  const {actions} = await must(stage, who, "GET", `/v1/packages/${packageId}`);
  const action = actions.find((one) => one.id === "approve_once");
  return must(stage, who, action.method, action.href, action.body);
}

export const queueOf = (stage) => must(stage, "ana", "GET", "/v1/recovery?limit=500");
export const itemOf = async (stage, label) => (await queueOf(stage)).items.find((item) => item.label === label);

/** Fills in an approval of a row, up to the second press. */
export async function fillGrant(page, label, reason) {
  await row(page, label).getByRole("button", {name: /^Approve once/}).click();
  await page.getByLabel("Reason").fill(reason);
  await confirm(page).waitFor();
}

/** What the page writes to the clipboard from now on is kept: read it with copied(). */
export const keepCopies = (page) => page.addInitScript(() => {
  globalThis.copies = [];
  Object.defineProperty(navigator, "clipboard", {value: {writeText: async (text) => { globalThis.copies.push(text); }}});
});
export const copied = (page) => page.evaluate(() => globalThis.copies.at(-1));

/** In the page: a stream of events that says what it is told to. */
function toldStream() {
  const real = globalThis.fetch;
  globalThis.asked = 0;
  globalThis.fetch = (href, init) => {
    if (href.startsWith("/v1/recovery")) globalThis.asked++;
    if (href !== "/v1/events") return real(href, init);
    const text = (lines) => new TextEncoder().encode(lines.map((line) => `${line}\n\n`).join(""));
    const body = new ReadableStream({start(controller) {
      globalThis.sayToPage = (text) => controller.enqueue(new TextEncoder().encode(text));
      globalThis.tell = (count) => controller.enqueue(text(Array.from({length: count}, (_, at) => `id: ${at}\nevent: health.changed\ndata: {"type":"health.changed"}`)));
      controller.enqueue(text([`event: beat\ndata: ${JSON.stringify({serverTime: new Date().toISOString()})}`]));
    }});
    return Promise.resolve(new Response(body, {headers: {"Content-Type": "text/event-stream"}}));
  };
}

/** A page whose stream says what `tell(count)` and `sayToPage(text)` in it say. */
export async function pageWithToldStream(stage) {
  const page = await stage.page(null);
  await page.addInitScript(toldStream);
  await page.addInitScript((token) => sessionStorage.setItem("admitd.token", token), stage.told.tokens.ana);
  await page.reload();
  await page.getByText("Live", {exact: true}).waitFor();
  await row(page, "map-module-boundaries").waitFor();
  return page;
}
