// Each action as a command: what a button sends, shell-quoted, for who would rather type it.
const quote = (text) => (/^[A-Za-z0-9_.,:/@%+=-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`);

export function curl(action, body, key) {
  const parts = ["curl", "-sS", "-X", action.method, quote(location.origin + action.href), "-H", '"Authorization: Bearer $ADMITD_TOKEN"',
    "-H", quote("Content-Type: application/json"), "-H", quote(`Idempotency-Key: ${key}`), "--data-raw", quote(JSON.stringify(body))];
  return parts.join(" ");
}

const VERBS = {approve_once: "grant", approve_always: "grant", deny: "deny", request_changes: "changes", cancel_package: "cancel", approve: "approve",
  reject: "reject", retry: "retry", cancel_task: "cancel", revoke: "revoke"};

function target(action) {
  const [, , kind, id] = action.href.split("/");
  return kind === "projects" ? ["--project", quote(id)] : [quote(id)];
}

/** The same as an admitctl command, or null where there is none. */
export function admitctl(action, body) {
  if (action.id === "check_server") return null;
  const verb = VERBS[action.id];
  if (!verb) return null;
  const words = ["admitctl", verb, ...target(action)];
  if (action.id === "approve_always") for (const name of body.capabilities) words.push("--capability", quote(name));
  if (action.inputs.includes("reason")) words.push("--reason", quote(body.reason || "…"));
  return words.join(" ");
}
