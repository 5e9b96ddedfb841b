"""The second evaluator: chapter 1 of the design, once more, as plainly as it can be said.

It exists to disagree with policy/ where policy/ is wrong, so it was written from the chapter and shares nothing with
the C. `evaluate(document, catalog)` gives the result of 1.11; its reasons are placeholders, everything else is meant.
A `trace` (a list), if given, receives the row of 1.8 and the arm of 1.9 that each decision came from.
"""
from capability import PACKET, READ, canonical, classify, delivery_kind, owner, spellings
from entries import CAPABILITY_FIELDS, MAX_ITEMS, Entry, join, shown_agent
from state import covers, is_coherent, is_health_row, is_healthy, snapshot
from text import is_identity, is_safe, normalize, shown

MAX_ENTRIES, MAX_SUBTASKS = 80, 40
REVISE, APPROVE, FIX, AS_PROMPT = (
    "revise_plan", "approve_project_filesystem_context", "install_or_fix_mcp", "continue_as_prompt_context")
INVALID_SUBTASK = "invalid.subtask.mcp-declaration"


# --- 1.8: one requirement -----------------------------------------------------------------------------------------


class Package:
    """Everything that the decisions of one document look at."""

    def __init__(self, catalog, document):
        self.catalog = catalog
        self.health = document.get("health", {})
        self.grants = document.get("grants", {})
        self.prompt = document.get("prompt", {})
        self.prohibited = set()

    def grant_of(self, row):
        for name in (row.name, row.mcp):
            if self.grants.get(name) is not None:
                return self.grants[name]
        return {"phase": "none", "source": "none", "status": "not_issued", "coveredCapabilities": []}

    def is_prohibited(self, mcp, capability):
        return bool(spellings(self.catalog, mcp, capability) & self.prohibited)


def is_looked_up(package, row):
    return row.wrong is None and row.mcp in package.catalog


def observe(package, row):
    found = package.health.get(row.mcp) if is_looked_up(package, row) else None
    return snapshot(row.mcp, found if is_health_row(found, row.mcp) else None)


def is_materialised(package, row):
    return row.claims_overlay() or (is_looked_up(package, row) and package.prompt.get(row.name) is True)


def decide_requirement(package, row, health, materialised):
    """(row of the table, mode, status, recovery action or None, grant state or None)"""
    catalog = package.catalog
    grant = package.grant_of(row)
    can_proceed = row.requirement == "optional" and row.fallback["action"] == "continue_without_mcp"
    soft = "warning" if can_proceed else "blocked"
    classes = [classify(catalog, row.mcp, capability) for capability in row.capabilities]
    reads = [capability for capability, kind in zip(row.capabilities, classes) if kind == READ]

    if row.is_legacy:
        return "legacy", "unknown_legacy", "blocked", REVISE, None
    if row.wrong or row.is_over_union() or not is_coherent(catalog, grant):
        return "0", "blocked", "blocked", REVISE, None
    if row.mcp not in catalog:
        return "1", "blocked", "blocked", REVISE, None
    if "unknown" in classes:
        return "2", "blocked", "blocked", REVISE, None
    if any(package.is_prohibited(row.mcp, capability) for capability in row.capabilities):
        return "3", "blocked", "blocked", REVISE, None
    if "deferred_live_mcp" in classes:
        return "4", "deferred_live_mcp", soft, "defer_live_mcp_feature" if can_proceed else REVISE, None

    is_served = not catalog[row.mcp]["runtime"]["healthGated"] or is_healthy(health)
    if reads and delivery_kind(catalog, row.mcp) == PACKET:
        state = {name: grant[name] for name in ("phase", "consumed", "revocationReason") if name in grant}
        if not covers(catalog, grant, row.mcp, reads):
            return "5a", "bounded_context_required", soft, APPROVE, state
        if not is_served:
            return "5b", "bounded_context_approved", soft, FIX, state
        return "5c", "bounded_context_approved", "allowed", None, state
    if reads and not materialised:
        return "6a", "planning_only" if can_proceed else "blocked", soft, AS_PROMPT if can_proceed else REVISE, None
    if reads and not is_served:
        return "6b", "planning_only", soft, FIX, None
    if reads:
        return "6c", "planning_only", "allowed", AS_PROMPT, None
    if not row.capabilities and not materialised and not can_proceed:
        return "7", "blocked", "blocked", REVISE, None
    return "8", "planning_only", "warning", AS_PROMPT, None


def evaluation_of(package, row, trace):
    catalog = package.catalog
    health, materialised = observe(package, row), is_materialised(package, row)
    number, mode, status, action, state = decide_requirement(package, row, health, materialised)
    trace.append("row " + number)
    forms = [canonical(catalog, row.mcp, capability) for capability in row.capabilities]
    kind = delivery_kind(catalog, row.mcp)
    decision = {
        "schemaVersion": 1, "mcpId": row.mcp, "agent": row.agent, "requirement": row.requirement,
        "requestedCapabilities": row.capabilities, "normalizedCapabilities": forms,
        "capabilityClasses": [{"capability": form, "class": classify(catalog, row.mcp, form), "deliveryKind": kind}
                              for form in forms],
        "mode": mode, "status": status, "reason": "row " + number, "evidenceRefs": row.evidence}
    if action:
        decision["recoveryAction"] = action
    if state:
        decision["grantState"] = state
    source = {"requirementKey": row.name, "decisionId": row.decision_id, "sourceRequirementIndex": row.index,
              "assignment": row.assignment, "fallback": row.fallback, "promptOverlayPresent": materialised}
    return {"decision": decision, "source": source, "health": health}


def requirement_order(evaluation):
    decision, source = evaluation["decision"], evaluation["source"]
    return (source["requirementKey"].encode(), decision["agent"].encode(), decision["mcpId"].encode(),
            source["sourceRequirementIndex"], source["decisionId"].encode())


# --- 1.9: subtasks ------------------------------------------------------------------------------------------------


class Subtask:
    def __init__(self, raw, position, seen):
        self.is_object = isinstance(raw, dict)
        self.raw = raw if self.is_object else {}
        self.has_good_id = is_identity("id", self.raw.get("id"))
        self.id = shown("id", self.raw.get("id")) or "unknown-subtask"
        if not self.is_object:
            self.id = "invalid-subtask-%d" % position
        self.is_repeated = self.has_good_id and self.id in seen
        if self.has_good_id:
            seen.add(self.id)
        self.agent = shown_agent(self.raw)
        self.has_good_agent = is_identity("agent", self.raw.get("agent"))

        items = self.raw.get("mcpCapabilities")
        self.items = items if isinstance(items, list) else []
        self.capabilities = list(dict.fromkeys(normalize(item) for item in self.items if is_safe(item)))
        bindings = self.raw.get("capabilityBindings", [])
        self.given = bindings if isinstance(bindings, list) else []
        self.bindings = [(normalize(b["capability"]), b["requirementKey"]) for b in self.given if self.is_binding(b)]

    def is_binding(self, binding):
        return (isinstance(binding, dict) and is_safe(binding.get("capability"))
                and normalize(binding["capability"]) in self.capabilities
                and is_identity("requirementKey", binding.get("requirementKey")))

    def explicit_keys(self, capability):
        return [key for bound, key in self.bindings if bound == capability]

    def is_decidable(self):
        return self.is_object and self.has_good_id and not self.is_repeated and self.has_good_agent

    def is_malformed(self):
        if not self.is_decidable() or not self.items or len(self.capabilities) != len(self.items):
            return True
        if "capabilityBindings" not in self.raw:
            return False
        if not isinstance(self.raw["capabilityBindings"], list) or len(self.bindings) != len(self.given):
            return True
        return any(len(self.explicit_keys(capability)) != 1 for capability in self.capabilities)


def bound_key(package, subtask, capability, mcp, rows):
    candidates = [row.name for row in rows if mcp is not None and row.agent == subtask.agent and row.mcp == mcp and any(
        spellings(package.catalog, mcp, asked) & spellings(package.catalog, mcp, capability) for asked in row.capabilities)]
    explicit = subtask.explicit_keys(capability)
    if len(explicit) > 1:
        return ""
    if explicit:
        return explicit[0] if explicit[0] in candidates else ""
    return candidates[0] if len(candidates) == 1 else ""


def decide_subtask(package, kind, mcp, form, grip, coverage):
    """(arm, status, recovery action or None); `grip` is (bound key, agent, capability)"""
    bounded, planning = coverage
    is_bound = grip[0] != ""
    if package.is_prohibited(mcp, form):
        return "prohibited", "blocked", REVISE
    if mcp is None or kind in ("unknown", "deferred_live_mcp"):
        return "no owner" if mcp is None else kind, "blocked", REVISE
    if kind == "planning_only":
        return ("write bound", "allowed", None) if is_bound else ("write unbound", "blocked", REVISE)
    if delivery_kind(package.catalog, mcp) == PACKET:
        if grip in bounded:
            return "read covered", "allowed", None
        return ("read bound, not covered", "blocked", APPROVE) if is_bound else ("read unbound", "blocked", REVISE)
    return ("planning read covered", "allowed", None) if grip in planning else ("planning read not covered", "blocked", REVISE)


def subtask_row(subtask, key, mcp, form, kind, delivery, verdict):
    arm, status, action = verdict
    row = {"subtaskId": subtask.id, "agent": subtask.agent, "requirementKey": key, "mcpId": mcp, "capability": form,
           "class": kind, "deliveryKind": delivery, "status": status, "reason": arm}
    if action:
        row["recoveryAction"] = action
    return row


def decide_capability(package, subtask, capability, rows, coverage, trace):
    mcp = owner(package.catalog, capability)
    form = canonical(package.catalog, mcp, capability)
    key = bound_key(package, subtask, capability, mcp, rows)
    kind = classify(package.catalog, mcp, form)
    verdict = decide_subtask(package, kind, mcp, form, (key, subtask.agent, form), coverage)
    trace.append("arm " + verdict[0])
    return subtask_row(subtask, key, mcp or "", form, kind, delivery_kind(package.catalog, mcp), verdict)


def decide_subtasks(package, subtasks, rows, coverage, trace):
    out, seen = [], set()
    for position, raw in enumerate(subtasks):
        subtask = Subtask(raw, position, seen)
        if subtask.is_malformed():
            trace.append("arm malformed")
            out.append(subtask_row(subtask, "", "", INVALID_SUBTASK, "unknown", None, ("malformed", "blocked", REVISE)))
        if subtask.is_decidable():
            out += [decide_capability(package, subtask, capability, rows, coverage, trace)
                    for capability in subtask.capabilities]
    return sorted(out, key=lambda row: tuple(row[name].encode() for name in (
        "subtaskId", "agent", "capability", "requirementKey")))


# --- 1.9: the fold ------------------------------------------------------------------------------------------------

ACTION_ORDER = (REVISE, APPROVE, FIX)
MODE_ORDER = ("blocked", "unknown_legacy", "deferred_live_mcp", "bounded_context_required", "bounded_context_approved",
              "planning_only")


def collect_coverage(evaluations):
    bounded, planning = set(), set()
    for evaluation in evaluations:
        decision = evaluation["decision"]
        reads = {(evaluation["source"]["requirementKey"], decision["agent"], item["capability"])
                 for item in decision["capabilityClasses"] if item["class"] == READ}
        if decision["status"] == "allowed":
            (bounded if decision["mode"] == "bounded_context_approved" else planning).update(reads)
    return bounded, planning


def items_of(evaluations, subtask_rows):
    """Every decision as (status, primaryDecision it would make), in the order of 1.9."""
    items = []
    for evaluation in evaluations:
        decision, source = evaluation["decision"], evaluation["source"]
        items.append((decision["status"], {
            "kind": "requirement", "mode": decision["mode"], "recoveryAction": decision.get("recoveryAction"),
            "reason": decision["reason"], "requirementKey": source["requirementKey"], "agent": decision["agent"],
            "mcpId": decision["mcpId"], "evidenceRefs": decision["evidenceRefs"], "decisionId": source["decisionId"],
            "sourceRequirementIndex": source["sourceRequirementIndex"]}))
    for row in subtask_rows:
        items.append((row["status"], {
            "kind": "subtask", "mode": "deferred_live_mcp" if row["class"] == "deferred_live_mcp" else "blocked",
            "recoveryAction": row.get("recoveryAction"), "reason": row["reason"],
            "requirementKey": row["requirementKey"], "agent": row["agent"], "mcpId": row["mcpId"], "evidenceRefs": [],
            "subtaskId": row["subtaskId"], "capability": row["capability"]}))
    return items


def fold(evaluations, subtask_rows):
    items = items_of(evaluations, subtask_rows)
    blocked = [item for status, item in items if status == "blocked"]
    warnings = [item["reason"] for status, item in items if status == "warning"]
    warnings += ["compatibility" for evaluation in evaluations if evaluation["decision"]["mode"] == "unknown_legacy"]
    aggregate = {"status": "blocked" if blocked else "warning" if warnings else "allowed",
                 "blocked": [item["reason"] for item in blocked], "warnings": warnings, "blockedReason": None,
                 "retryable": bool(blocked) and all(item["recoveryAction"] == FIX for item in blocked)}
    if blocked:
        primary = min(blocked, key=lambda item: (ACTION_ORDER.index(item["recoveryAction"]), MODE_ORDER.index(item["mode"])))
        aggregate.update(blockedReason=primary["reason"], primaryMode=primary["mode"],
                         primaryRecoveryAction=primary["recoveryAction"], primaryDecision=primary)
    return aggregate


def referenced_health(evaluations):
    found = {}
    for evaluation in evaluations:
        health = evaluation["health"]
        if health["mcpId"] and (health["mcpId"] not in found or health["observed"]):
            found[health["mcpId"]] = health
    names = ("mcpId", "installState", "status", "enabled", "error")
    return [{name: found[mcp][name] for name in names} for mcp in sorted(found, key=str.encode)]


# --- 1.2: the document --------------------------------------------------------------------------------------------


def unify(document):
    """The older spelling read as the newer one."""
    out = {name: document[name] for name in ("entries", "subtasks", "health", "grants", "prompt") if name in document}
    metadata = document.get("metadata") if isinstance(document.get("metadata"), dict) else {}
    older = {**{name: metadata[name] for name in ("mcpAwareSubtasks", "mcpGrants") if name in metadata}, **document}
    if "entries" not in out and ("mcpRequirements" in older or "mcpGrants" in older):
        parts = [older.get("mcpRequirements", []), older.get("mcpGrants", [])]
        out["entries"] = parts[0] + parts[1] if all(isinstance(part, list) for part in parts) else None
    if "subtasks" not in out and "mcpAwareSubtasks" in older:
        out["subtasks"] = older["mcpAwareSubtasks"]
    return out


def is_over_items(holder, fields):
    return isinstance(holder, dict) and any(
        isinstance(holder.get(field), list) and len(holder[field]) > MAX_ITEMS for field in fields)


def is_refused(document):
    """A limit is broken, or a container has the wrong type: the whole package is blocked."""
    entries, subtasks = document.get("entries", []), document.get("subtasks", [])
    if not isinstance(entries, list) or not isinstance(subtasks, list):
        return True
    if not all(isinstance(document.get(name, {}), dict) for name in ("health", "grants", "prompt")):
        return True
    if len(entries) > MAX_ENTRIES or len(subtasks) > MAX_SUBTASKS:
        return True
    entry_fields = CAPABILITY_FIELDS + ("prohibitedCapabilities", "evidenceRefs", "capabilityClasses")
    return (any(is_over_items(entry, entry_fields) for entry in entries)
            or any(is_over_items(subtask, ("mcpCapabilities", "capabilityBindings")) for subtask in subtasks))


def result_of(evaluations, subtask_rows, aggregate):
    return {"schemaVersion": 2, "evaluations": evaluations, "subtaskDecisions": subtask_rows,
            "referencedHealth": referenced_health(evaluations), "aggregate": aggregate}


def evaluate(document, catalog, trace=None):
    trace = [] if trace is None else trace
    if not isinstance(document, dict) or is_refused(unify(document)):
        trace.append("refused")
        return result_of([], [], {
            "status": "blocked", "blocked": ["refused"], "warnings": [], "blockedReason": "refused", "retryable": False,
            "primaryMode": "blocked", "primaryRecoveryAction": REVISE})
    document = unify(document)
    package = Package(catalog, document)
    entries = [Entry(catalog, raw, position) for position, raw in enumerate(document.get("entries", []))]
    for entry in entries:
        for capability in [] if entry.is_envelope else entry.prohibitions():
            package.prohibited |= spellings(catalog, entry.mcp, capability)
    rows = join(entries)
    evaluations = sorted((evaluation_of(package, row, trace) for row in rows), key=requirement_order)
    subtask_rows = decide_subtasks(package, document.get("subtasks", []), rows, collect_coverage(evaluations), trace)
    return result_of(evaluations, subtask_rows, fold(evaluations, subtask_rows))
