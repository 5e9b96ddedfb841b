"""The second evaluator: chapter 1 of the design, once more, as plainly as it can be said.

It exists to disagree with policy/ where policy/ is wrong, so it was written from the chapter and shares nothing with
the C. `evaluate(document, catalog)` gives the result of 1.11; its reasons are placeholders, everything else is meant.
A `trace` (a list), if given, receives the row of 1.8 and the arm of 1.9 that each decision came from.
"""
import re
from datetime import date

from text import display, is_identity, is_index, is_safe, normalize, shown, trim

CAPABILITY_FIELDS = ("permissions", "capabilities", "requiredCapabilities", "mcpCapabilities")
FALLBACK_ACTIONS = ("block", "ask_user", "continue_without_mcp")
ASSIGNMENT_TYPES = ("agent", "multiple_agents", "workforce", "architect_only", "reviewer_only")
MAX_ENTRIES, MAX_SUBTASKS, MAX_ITEMS = 80, 40, 30

READ = "bounded_read_only"
PACKET = "bounded_context_packet"
REVISE, APPROVE, FIX, AS_PROMPT = (
    "revise_plan", "approve_project_filesystem_context", "install_or_fix_mcp", "continue_as_prompt_context")
INVALID_SUBTASK = "invalid.subtask.mcp-declaration"
UNSET = object()


# --- 1.3 to 1.5: the catalog, capabilities, classes ---------------------------------------------------------------


def canonical(catalog, mcp, capability):
    text = normalize(capability)
    return catalog[mcp]["aliases"].get(text, text) if mcp in catalog else text


def owner(catalog, capability):
    head, dot, _ = normalize(capability).partition(".")
    return head if dot and head in catalog else None


def address(catalog, mcp, text):
    root = catalog[mcp]["rootResource"]
    parts = text.split(".")
    if parts[0] != mcp or "" in parts:
        return None
    if len(parts) == 2 and root is not None:
        return root, parts[1]
    if len(parts) == 3 and parts[1] != root:
        return parts[1], parts[2]
    return None


def spellings(catalog, mcp, capability):
    """`keys`: the canonical form and all of its aliases."""
    target = canonical(catalog, mcp, capability)
    aliases = catalog[mcp]["aliases"] if mcp in catalog else {}
    return {target} | {alias for alias, to in aliases.items() if to == target}


def classify(catalog, mcp, capability):
    if mcp not in catalog or not is_safe(capability):
        return "unknown"
    entry, text = catalog[mcp], canonical(catalog, mcp, capability)
    if owner(catalog, text) != mcp:
        return "unknown"
    if text in entry["planningOnly"]:
        return "planning_only"
    found = address(catalog, mcp, text)
    if found and found[1] in entry["deferred"].get(found[0], []):
        return "deferred_live_mcp"
    if text in entry["runtime"]["capabilities"] or text in entry["safeReadSupplement"]:
        return READ
    return "unknown"


def delivery_kind(catalog, mcp):
    if mcp not in catalog:
        return None
    return PACKET if catalog[mcp]["runtime"]["mode"] == PACKET else "planning_context_only"


def is_packet_read(catalog, capability):
    mcp = owner(catalog, capability) if is_safe(capability) else None
    return mcp is not None and delivery_kind(catalog, mcp) == PACKET and classify(catalog, mcp, capability) == READ


# --- 1.6: health and grant state ----------------------------------------------------------------------------------

INSTALL_STATES = ("installed", "missing")
HEALTH_STATUSES = ("healthy", "unhealthy", "disabled", "auth_required", "configuration_required", "unknown")
REVOCATIONS = ("project_grant_removed", "project_grant_narrowed", "project_root_repoint", "grant_expired",
               "package_grant_removed")


def is_one_of(value, words):
    return isinstance(value, str) and value in words


def is_rfc3339(value):
    match = isinstance(value, str) and re.fullmatch(
        r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?([Zz]|[+-]([0-9]{2}):([0-9]{2}))",
        value)
    if not match:
        return False
    try:
        date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return False
    in_day = int(match[4]) < 24 and int(match[5]) < 60 and int(match[6]) <= 60
    return in_day and (match[9] is None or int(match[9]) < 24 and int(match[10]) < 60)


def is_health_row(row, mcp):
    return (isinstance(row, dict) and row.get("mcpId") == mcp and is_one_of(row.get("installState"), INSTALL_STATES)
            and is_one_of(row.get("status"), HEALTH_STATUSES) and isinstance(row.get("enabled"), bool)
            and "error" in row and (row["error"] is None or isinstance(row["error"], str))
            and is_rfc3339(row.get("checkedAt")))


def snapshot(mcp, row):
    if row is None:
        return {"schemaVersion": 1, "observed": False, "mcpId": mcp, "installState": "unknown", "status": "unknown",
                "enabled": False, "error": None, "checkedAt": None}
    return {"schemaVersion": 1, "observed": True, "mcpId": mcp, "installState": row["installState"],
            "status": row["status"], "enabled": row["enabled"],
            "error": None if row["error"] is None else display(row["error"]), "checkedAt": row["checkedAt"]}


def is_healthy(health):
    return health["installState"] == "installed" and health["enabled"] and health["status"] == "healthy"


def is_coherent(catalog, state):
    if not isinstance(state, dict):
        return False
    covered = state.get("coveredCapabilities")
    if not isinstance(covered, list) or len(covered) > MAX_ITEMS:
        return False
    if not all(is_packet_read(catalog, item) for item in covered):
        return False
    if "grantApprovalId" in state and not isinstance(state["grantApprovalId"], str):
        return False

    phase, source, status = state.get("phase"), state.get("source"), state.get("status")
    mode, consumed = state.get("grantMode", UNSET), state.get("consumed", UNSET)
    reason = state.get("revocationReason", UNSET)
    if is_one_of(phase, ("none", "proposed", "not_issued")):
        return (source, status) == ("none", "not_issued") and mode is consumed is reason is UNSET and covered == []
    if phase == "denied":
        return (source, status) == ("package-local", "denied") and mode is consumed is reason is UNSET and covered == []
    if phase == "revoked":
        return (is_one_of(source, ("project-level", "package-local")) and status == "not_issued"
                and mode is consumed is UNSET and is_one_of(reason, REVOCATIONS))
    if phase != "approved" or status != "approved" or reason is not UNSET:
        return False
    if (source, mode) == ("package-local", "allow_once"):
        return consumed is UNSET or isinstance(consumed, bool)
    if mode == "always_allow" and is_one_of(source, ("project-level", "package-local")):
        return consumed is UNSET or consumed is False
    return False


def covers(catalog, state, mcp, reads):
    if state["phase"] != "approved" or state.get("consumed") is True:
        return False
    covered = set()
    for item in state["coveredCapabilities"]:
        covered |= spellings(catalog, owner(catalog, item), item)
    return all(spellings(catalog, mcp, read) & covered for read in reads)


# --- 1.2 and 1.7: one entry ---------------------------------------------------------------------------------------


def capability_union(entry):
    texts = []
    for field in CAPABILITY_FIELDS:
        items = entry.get(field)
        for item in items if isinstance(items, list) else []:
            if is_safe(item) and normalize(item) not in texts:
                texts.append(normalize(item))
    return texts


def single_target(holder):
    assignment = holder.get("assignment")
    targets = assignment.get("targetAgents") if isinstance(assignment, dict) else None
    return targets[0] if isinstance(targets, list) and len(targets) == 1 else None


def shown_agent(holder):
    for value in (holder.get("agent"), holder.get("assignedRole"), single_target(holder)):
        text = shown("agent", value)
        if text is not None:
            return text
    return "unknown"


def shown_assignment(entry):
    assignment = entry.get("assignment")
    if not isinstance(assignment, dict):
        return None
    kind = assignment.get("type")
    return {"type": kind if is_one_of(kind, ASSIGNMENT_TYPES) else "agent",
            "targetId": shown("targetId", assignment.get("targetId"))}


def shown_fallback(entry):
    fallback = entry.get("fallback")
    if not isinstance(fallback, dict) or not is_one_of(fallback.get("action"), FALLBACK_ACTIONS):
        return {"action": "block", "message": ""}
    message = fallback.get("message")
    return {"action": fallback["action"], "message": display(message) if isinstance(message, str) else ""}


def is_assignment(value):
    return (isinstance(value, dict) and is_one_of(value.get("type"), ASSIGNMENT_TYPES) and "targetId" in value
            and (value["targetId"] is None or is_identity("targetId", value["targetId"])))


def is_agent_declared(entry, keyed):
    if "agent" in entry and "assignedRole" in entry:
        agree = is_identity("agent", entry["agent"]) and entry["agent"] == entry["assignedRole"]
        if not agree:
            return False
    if keyed or "agent" in entry:
        return is_identity("agent", entry.get("agent"))
    if "assignedRole" in entry:
        return is_identity("agent", entry["assignedRole"])
    return is_identity("agent", single_target(entry))


class Entry:
    """What the rules of 1.7 say about one item of `entries`."""

    def __init__(self, catalog, raw, position):
        self.catalog = catalog
        self.position = position
        self.is_object = isinstance(raw, dict)
        self.raw = raw if self.is_object else {}
        self.is_envelope = "decisionId" in self.raw
        self.is_keyed = "requirementKey" in self.raw
        self.key = self.raw.get("requirementKey") if is_identity("requirementKey", self.raw.get("requirementKey")) else None
        self.mcp = shown("mcpId", self.raw.get("mcpId")) or ""
        self.agent = shown_agent(self.raw)
        level = self.raw.get("requirement")
        self.requirement = level if is_one_of(level, ("required", "optional")) else "required"
        self.capabilities = capability_union(self.raw)
        self.fallback = shown_fallback(self.raw)
        self.assignment = shown_assignment(self.raw)
        self.index = int(self.raw["sourceRequirementIndex"]) if is_index(self.raw.get("sourceRequirementIndex")) else None
        self.has_index = "sourceRequirementIndex" in self.raw
        self.decision_id = self.raw.get("decisionId") if is_identity("decisionId", self.raw.get("decisionId")) else None
        refs = self.raw.get("evidenceRefs")
        self.evidence = [display(ref) for ref in refs if isinstance(ref, str)] if isinstance(refs, list) else []
        self.is_used = False

    def prohibitions(self):
        """The valid ones."""
        items = self.raw.get("prohibitedCapabilities")
        return [item for item in items if classify(self.catalog, self.mcp, item) != "unknown"] if isinstance(items, list) else []

    def fingerprint(self):
        return self.mcp, self.requirement, sorted(self.capabilities), self.fallback["action"]

    def has_bad_key(self):
        return self.is_keyed and self.key is None

    def has_bad_frame(self):
        """The rules that policies and envelopes share."""
        if self.has_bad_key() or (self.has_index and self.index is None):
            return True
        if self.is_keyed or "assignment" in self.raw:
            return not is_assignment(self.raw.get("assignment"))
        return False

    def is_malformed_policy(self):
        if not self.is_object or self.has_bad_frame():
            return True
        for field in CAPABILITY_FIELDS + ("prohibitedCapabilities",):
            items = self.raw.get(field, [])
            if not isinstance(items, list) or not all(is_safe(item) for item in items):
                return True
        if len(self.prohibitions()) != len(self.raw.get("prohibitedCapabilities", [])):
            return True
        if not is_identity("mcpId", self.raw.get("mcpId")) or not is_agent_declared(self.raw, self.is_keyed):
            return True
        if not is_one_of(self.raw.get("requirement"), ("required", "optional")):
            return True
        fallback = self.raw.get("fallback")
        if not isinstance(fallback, dict) or not is_one_of(fallback.get("action"), FALLBACK_ACTIONS):
            return True
        return self.is_keyed and self.index is None

    def is_malformed_envelope(self):
        if self.has_bad_frame() or self.decision_id is None:
            return True
        if self.is_keyed and not is_identity("agent", self.raw.get("agent")):
            return True
        overlay = self.raw.get("promptOverlayPresent", UNSET)
        return not isinstance(overlay, bool) and (self.is_keyed or overlay is not UNSET)


# --- 1.7: the join ------------------------------------------------------------------------------------------------


class Row:
    """One logical requirement: what is shown of it, and whether something about it is already wrong."""

    def __init__(self, name, policy=None, envelope=None, wrong=None, is_legacy=False, evidence=None):
        shown_from = policy or envelope
        self.name = name
        self.policy, self.envelope = policy, envelope
        self.is_legacy = is_legacy
        self.mcp = shown_from.mcp if shown_from else ""
        self.agent = shown_from.agent if shown_from else "unknown"
        self.requirement = shown_from.requirement if shown_from else "required"
        self.capabilities = policy.capabilities if policy else []
        self.fallback = shown_from.fallback if shown_from else {"action": "block", "message": ""}
        self.evidence = shown_from.evidence if shown_from else []
        self.assignment = ((envelope.assignment if envelope else None) or (policy.assignment if policy else None)
                           or {"type": "agent", "targetId": None})
        self.decision_id = self.find_decision_id()
        self.index = self.find_index()
        self.wrong = wrong or self.find_wrong()

    def find_decision_id(self):
        raw = self.envelope.raw["decisionId"] if self.envelope else None
        return shown("decisionId", raw) or "req-" + self.name

    def find_index(self):
        if self.envelope and self.envelope.index is not None:
            return self.envelope.index
        if self.policy and self.policy.index is not None:
            return self.policy.index
        return self.policy.position if self.policy else 0

    def find_wrong(self):
        if self.is_legacy:
            return "legacy"
        if self.policy.is_malformed_policy():
            return "malformed"
        if self.envelope and self.envelope.is_malformed_envelope():
            return "malformed envelope"
        return None

    def claims_overlay(self):
        return (not self.is_legacy and self.envelope is not None
                and self.envelope.raw.get("promptOverlayPresent") is True)

    def is_over_union(self):
        return any(len(entry.capabilities) > MAX_ITEMS for entry in (self.policy, self.envelope) if entry)


def join_keyed(key, policies, envelopes):
    if len(policies) > 1:
        return Row(key, wrong="two policies")
    if not policies:
        return Row(key, envelope=envelopes[0], is_legacy=True) if len(envelopes) == 1 else Row(key, is_legacy=True)
    policy = policies[0]
    if not envelopes:
        return Row(key, policy)
    envelope = envelopes[0]
    agree = (len(envelopes) == 1 and envelope.decision_id is not None and envelope.mcp == policy.mcp
             and envelope.agent == policy.agent and policy.index is not None and envelope.index == policy.index)
    return Row(key, policy, envelope) if agree else Row(key, policy, wrong="join")


def keyless_name(policy):
    return "legacy-%d-%s-%s" % (policy.position, policy.mcp or "unknown", policy.agent)


def find_keyless_envelope(policy, envelopes):
    free = [e for e in envelopes if not e.is_keyed and not e.is_used and e.decision_id is not None]
    for envelope in free:
        if (policy.index is not None and envelope.index == policy.index and envelope.agent == policy.agent
                and envelope.mcp == policy.mcp):
            return envelope
    for envelope in free:
        agents_fit = envelope.agent == policy.agent or "unknown" in (envelope.agent, policy.agent)
        index_fits = not envelope.has_index or (envelope.index is not None and not policy.has_index)
        if agents_fit and index_fits and envelope.fingerprint() == policy.fingerprint():
            return envelope
    return None


def join(entries):
    policies = [entry for entry in entries if not entry.is_envelope]
    envelopes = [entry for entry in entries if entry.is_envelope]
    rows = []
    for key in dict.fromkeys(entry.key for entry in entries if entry.key is not None):
        rows.append(join_keyed(key, [p for p in policies if p.key == key], [e for e in envelopes if e.key == key]))
    for policy in policies:
        if policy.has_bad_key():
            rows.append(Row("invalid-requirement-key-%d" % policy.position, policy))
        elif not policy.is_keyed:
            envelope = find_keyless_envelope(policy, envelopes)
            if envelope:
                envelope.is_used = True
            rows.append(Row(keyless_name(policy), policy, envelope))
    for envelope in envelopes:
        if envelope.key is None and not envelope.is_used:
            rows.append(Row("legacy-grant-only-%d" % envelope.position, envelope=envelope, is_legacy=True))
    return rows


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
