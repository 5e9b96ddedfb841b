// What a project shows: how it is now, and its ledger.
import {html} from "../lib/html.js";
import {link} from "../lib/page.js";
import {useResource} from "../lib/resource.js";
import {Age, When, clockText, useNow} from "../lib/time.js";
import {Quote, Sign, Text} from "./marks.js";

// ---- How the project's servers and folder are now.

export const isWell = (row) => row.status === "healthy" && row.enabled && row.installState === "installed" && !row.expired;

export function SeenCard({project}) {
  const {data} = useResource(`/v1/projects/${encodeURIComponent(project)}`);
  const now = useNow(1000);
  if (!data) return null;
  return html`<section class="card seen"><div class="sec"><h2>As of now</h2><p>${clockText(now)}</p></div><dl>
    ${data.health.map((row) => html`<div key=${row.mcpId}><${Sign} name=${isWell(row) ? "ok" : "setup"} tone=${isWell(row) ? "green" : "red"} /><dt><${Text} of=${row.mcpId} /> server</dt><dd>${row.status.replaceAll("_", " ")}, checked <${Age} since=${row.checkedAt} /> ago</dd></div>`)}
    <div><${Sign} name="root" /><dt>Project folder</dt><dd>${data.rootRevision === "0" ? "none yet" : `revision ${data.rootRevision}`}</dd></div></dl></section>`;
}

// ---- Every grant, denial and revocation of a project, newest first. Nothing in it was ever changed.

const SIGNS = {approved: ["ok", "green"], denied: ["denied", "amber"], revoked: ["removed", "amber"]};

function Record({one}) {
  const [sign, tone] = SIGNS[one.decision] ?? ["dot", "neutral"];
  return html`<tr><td><${Sign} name=${sign} tone=${tone} /></td><td data-k="When"><${When} at=${one.at} /></td><td data-k="Decision">${one.decision}${one.mode === "allow_once" ? ", once" : one.decision === "approved" ? ", always" : ""}</td>
    <td data-k="For">${one.packageId ? html`<a href=${link("packages", one.packageId)}><${Text} of=${one.packageLabel} /></a>` : "the project"}</td><td data-k="May read">${one.capabilities.map((name) => html`<code key=${name}><${Text} of=${name} /></code> `)}</td>
    <td data-k="By"><${Text} of=${one.actor?.principal} /> <${Quote} of=${one.reason} /></td><td data-k="Revision">${one.revision}</td></tr>`;
}

export function Ledger({project}) {
  const {data} = useResource(`/v1/grants?project=${encodeURIComponent(project)}&limit=500`);
  if (!data) return null;
  return html`<section class="card"><div class="sec"><h2>Ledger</h2><p>${data.items.length} records, all kept</p></div>${data.items.length ? html`<table class="rowlist ledger"><thead><tr><th><span class="hid">Sign</span></th><th scope="col">When</th><th scope="col">Decision</th><th scope="col">For</th><th scope="col">May read</th><th scope="col">By</th><th scope="col">Revision</th></tr></thead>
    <tbody>${data.items.map((one) => html`<${Record} key=${one.id} one=${one} />`)}</tbody></table>` : html`<p class="empty">No standing access: each package asks.</p>`}</section>`;
}
