// A project: what may be read in it and until when, how its servers are, every grant there ever was.
import {html} from "../lib/html.js";
import {back, link, useKeys} from "../lib/page.js";
import {useResource} from "../lib/resource.js";
import {Age, When} from "../lib/time.js";
import {ActionButton} from "../parts/actions.js";
import {Loading} from "../parts/load.js";
import {Id, Quote, Sign, Text, Words} from "../parts/marks.js";
import {Ledger, isWell} from "../parts/project_parts.js";
import {Crumb} from "../parts/story.js";

// ---- All projects.

const NONE = html`<div class="card empty">No project yet. An operator makes one, and a planner sends a plan:
  <pre>admitctl project set tracker --root /srv/projects/tracker${"\n"}admitctl task submit plan.json</pre></div>`;

export function Projects() {
  const load = useResource("/v1/projects?limit=500", {every: true});
  const items = load.data?.items;
  return html`<div class="head"><h1 tabindex="-1">Projects</h1></div><${Loading} of=${load} />${items?.length === 0 && NONE}
    ${items?.length > 0 && html`<div class="tbl"><table class="rowlist"><thead><tr><th scope="col">Project</th><th scope="col">Id</th><th scope="col">Folder</th><th scope="col">Decisions</th><th scope="col">Since</th></tr></thead><tbody>${items.map((one) => html`
      <tr key=${one.id}><td><a class="l" href=${link("projects", one.id)}><${Text} of=${one.name} /></a>${one.archived && " (archived)"}</td><td data-k="Id"><${Id} of=${one.id} /></td>
      <td data-k="Folder">${one.root ? html`<${Id} of=${one.root} />` : one.rootRevision === "0" ? "none yet" : `revision ${one.rootRevision}`}</td><td data-k="Decisions">${one.decisionRevision}</td><td data-k="Since"><${When} at=${one.createdAt} /></td></tr>`)}</tbody></table></div>`}`;
}

const Action = ({of, project, kind}) => of && html`<${ActionButton} action=${of} others=${[]} about=${html`Project <${Text} of=${project} />`} kind=${kind} />`;

const ACCESS = ["approve_always", "narrow", "remove_access"];
const offered = (project, id) => project.actions.find((one) => one.id === id);

function Granted({grant, open}) {
  return html`<dl class="kv pad"><dt>May be read</dt><dd>${open ? grant.capabilities.map((name) => html`<code key=${name}><${Text} of=${name} /></code> `) : "nothing"}</dd>
    <dt>${open ? "Until" : grant.decision === "approved" ? "Was allowed" : "Removed"}</dt><dd>${open ? (grant.expiresAt ? html`<${When} at=${grant.expiresAt} />` : "no end") : html`<${When} at=${grant.at} />`}</dd>
    <dt>By</dt><dd><${Text} of=${grant.actor.principal} />, revision ${grant.revision} <${Quote} of=${grant.reason} /></dd></dl>`;
}

function Access({project}) {
  const remove = offered(project, "remove_access");
  return html`${project.grant ? html`<${Granted} grant=${project.grant} open=${remove && remove.whyNot !== "no_access"} />` : html`<p class="pad">No standing access: each package asks.</p>`}
    <div class="acts pad">${ACCESS.map((id) => html`<${Action} key=${id} of=${offered(project, id)} project=${project.id} />`)}</div>`;
}

function History({rows}) {
  if (!rows?.length) return null;
  return html`<details><summary class="muted">${rows.length} changes before</summary><ul>${rows.map((row, at) => html`<li key=${at}><${When} at=${row.at} /> ${row.status.replaceAll("_", " ")} <${Words} of=${row.error} /></li>`)}</ul></details>`;
}

function Server({project, row}) {
  return html`<tr><td><${Sign} name=${isWell(row) ? "ok" : "setup"} tone=${isWell(row) ? "green" : "red"} /></td><td data-k="Server"><${Text} of=${row.mcpId} /></td><td data-k="State">${row.status.replaceAll("_", " ")}${row.error && html`: <${Words} of=${row.error} />`}<${History} rows=${row.history} /></td>
    <td data-k="Seen"><${Age} since=${row.checkedAt} /> ago, ${row.source}</td><td><${Action} of=${row.actions[0]} project=${project} /></td></tr>`;
}

function Servers({project}) {
  const {data} = useResource(`/v1/projects/${encodeURIComponent(project.id)}/health`);
  return html`<section class="card"><div class="sec"><h2>Tool servers</h2></div><table class="rowlist servers"><thead><tr><th><span class="hid">Sign</span></th><th scope="col">Server</th><th scope="col">State</th><th scope="col">Seen</th><th><span class="hid">Action</span></th></tr></thead>
    <tbody>${(data?.items ?? project.health).map((row) => html`<${Server} key=${row.mcpId} project=${project.id} row=${row} />`)}</tbody></table></section>`;
}

export function Project({id}) {
  const load = useResource(`/v1/projects/${encodeURIComponent(id)}`);
  useKeys({Escape: back});
  const one = load.data;
  if (!one) return html`<h1 tabindex="-1" class="big"><${Id} of=${id} /></h1><${Loading} of=${load} />`;
  return html`<${Crumb} steps=${[["Projects", "#/projects"]]} /><div class="title"><h1 class="big" tabindex="-1"><${Text} of=${one.name} /></h1></div>
    <div class="meta"><span><${Id} of=${one.id} /></span><span>Folder ${one.root ? html`<${Id} of=${one.root} />` : one.rootRevision === "0" ? "none yet" : ""} revision <b>${one.rootRevision}</b> <${Action} of=${offered(one, "set_root")} project=${one.id} kind="ta" /></span>
      <span>Decisions <b>${one.decisionRevision}</b></span><a href=${link("queue", null, {project: one.id})}>What waits here</a></div>
    <${Loading} of=${load} /><div class="grid2"><section class="card"><div class="sec"><h2>Standing read access</h2></div><${Access} project=${one} /></section><${Servers} project=${one} /></div><${Ledger} project=${one.id} />`;
}
