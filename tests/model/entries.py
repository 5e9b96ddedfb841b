"""Entries: what makes one malformed, and how policies and envelopes join (chapters 1.2 and 1.7)."""
from capability import classify
from state import UNSET, is_one_of
from text import display, is_identity, is_index, is_safe, normalize, shown

CAPABILITY_FIELDS = ("permissions", "capabilities", "requiredCapabilities", "mcpCapabilities")
FALLBACK_ACTIONS = ("block", "ask_user", "continue_without_mcp")
ASSIGNMENT_TYPES = ("agent", "multiple_agents", "workforce", "architect_only", "reviewer_only")
MAX_ITEMS = 30


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
