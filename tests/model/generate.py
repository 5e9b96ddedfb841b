#!/usr/bin/env python3
"""generate.py [--count N] [--seed S] [--coverage]: inputs of `evaluate`, ordinary and hostile, one JSON document a line.

The same seed gives the same documents. With --coverage the model decides them and what it hit is counted instead: the
rows of 1.8, the arms of 1.9. Left out on purpose are inputs that a parser refuses before the contract is asked (NUL,
lone surrogates, numbers beyond 64 bits) and texts on the fine edge of the redactor, which has tests of its own.
"""
import argparse
import collections
import json
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

AGENTS = ["backend", "frontend", "qa"]
READS = {"filesystem": ["filesystem.project.read", "filesystem.project.list", "filesystem.project.search"],
         "github": ["github.issues.read", "github.pull_requests.read", "github.contents.read", "github.repository.search",
                    "github.actions.read", "github.repository.read", "github.contents.list"]}
ALIASES = {"filesystem.project.read": "filesystem.read", "filesystem.project.list": "filesystem.list",
           "filesystem.project.search": "filesystem.search"}
DEFERRED = {"filesystem": ["filesystem.write", "filesystem.project.delete", "filesystem.move", "filesystem.project.create"],
            "github": ["github.issues.write", "github.secrets.read", "github.pull_requests.merge", "github.branches.list",
                       "github.workflows.run", "github.actions.cancel"]}
PLANNING = {"filesystem": ["filesystem.project.write"], "github": []}
UNKNOWN = ["filesystem.root.write", "filesystem.root.read", "filesystem.project.reed", "filesystem.project. read",
           "filesystem..read", "filesystem.", "filesystem", "filesystem.project.read.all", "filesystem.constructor.write",
           "github.secerts.write", "github.issues.reed", "github.secrets.banana", "github.actions.merge", "github.write",
           "github.__proto__.write", "github.toString.call", "issues.read", "slack.messages.read", "constructor.read",
           "__proto__.read", "github.wor\u212aflows.run", "g\u0130thub.issues.read", "github.issues.read.", ".read", ".",
           "github.issues", "\U0001f600", "github.issues.r\u00e9ad", "github", "hasOwnProperty"]
WHITE = [" ", "  ", "\u00a0", "\u3000", "\ufeff", "\u2003", "\u1680", "\u2028", "\u205f "]
UNSAFE = ["", "   ", "\u00a0\ufeff", "a\tb", "a\nb", "a\u0001b", "a\u007fb", "q\u0085a", "a\u009fb", "a\u202eb", "a\u2066b",
          "\u2069", "x" * 241, "\U0001f600" * 241, "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "a token=abcdef123456",
          "https://user:hunter2@example.org/x", "Bearer abcdefghijklmnop", None, 7, 1.5, True, [], {}, ["qa"], {"a": 1}]
NOT_OBJECTS = [None, 7, -1.5, "x", "", True, False, [], ["x"]]
NOT_ARRAYS = [None, 7, "x", True, {}, {"0": "filesystem.project.read"}]
MESSAGES = ["", "go on without it", "  ask   first ", None, 7, ["x"], "\u00e9\u00e8 \U0001f600",
            "a\tb\n\u0001c\u202ed", "\u001b[31mred\u001b[0m  x", "m" * 239 + " n"]


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.is_calm = False  # a package that is mostly in order, so that allowed and warning are reached too

    # --- small choices

    def chance(self, probability):
        return self.random.random() < probability

    def pick(self, items):
        return self.random.choice(items)

    def weighted(self, **weights):
        return self.random.choices(list(weights), list(weights.values()))[0]

    def some(self, items, most):
        return [self.pick(items) for _ in range(self.random.randint(1, most))]

    def few(self):
        return self.random.choices([0, 1, 2, 3, 4, 6], [4, 40, 30, 15, 8, 3])[0]

    # --- text

    def spelled(self, capability, often=0.15):
        """Another spelling of it, mostly one that normalizes to the same."""
        if capability in ALIASES and self.chance(0.3):
            capability = ALIASES[capability]
        if not self.chance(often):
            return capability
        how = self.weighted(upper=3, title=3, pad=4, inner=2, underscore=1)
        if how == "upper":
            return capability.upper()
        if how == "title":
            return capability.title()
        if how == "pad":
            return self.pick(WHITE) + capability + self.pick(WHITE + [""])
        if how == "inner":
            return capability.replace("_", self.pick(WHITE))
        return capability.replace("_", "__")

    def bad_identity(self, limit):
        return self.weighted_value([
            (6, lambda: self.pick(UNSAFE)), (2, lambda: " qa"), (2, lambda: "qa" + self.pick(WHITE)),
            (1, lambda: "front" + self.pick(WHITE) + self.pick(WHITE) + "end"), (1, lambda: "b" * (limit + 1)),
            (1, lambda: "b" * (limit - 1) + "  " + "c"), (1, lambda: "\u00e9" * (limit + 1)), (1, lambda: "backend ")])

    def weighted_value(self, pairs):
        weights = [weight for weight, _ in pairs]
        return self.random.choices([make for _, make in pairs], weights)[0]()

    def agent(self):
        return self.pick(AGENTS) if self.chance(0.95) else self.pick(
            ["front end", "b" * 80, "\u00e9quipe", "front\u00a0end", "constructor", "QA", "unknown-agent"])

    def bad_agent(self):
        return "unknown" if self.chance(0.2) else self.bad_identity(80)

    def bad_mcp(self):
        return self.pick(["Filesystem", " github ", "github\u00a0", "GITHUB", "-x", "git hub", "b" * 81, "", None, 7, ["github"],
                          "git\u202ehub", "github.issues", "__proto__"])

    def bad_key(self):
        return self.pick([None, "", " ", "req 0", " req-0", "req-0 ", "r\u00a00", "k" * 161, 7, True, [], {}, "r\u202e0", "r\u00010"])

    def bad_index(self):
        return self.pick([None, -1, 0.5, 2**53, 2.0**53, "0", True, [], -0.5, 1e300, -1e300])

    # --- parts of an entry

    def capability(self, mcp, kind):
        if kind == "unknown" or mcp not in READS:
            return self.pick(UNKNOWN)
        if kind == "cross":
            return self.pick(READS["github" if mcp == "filesystem" else "filesystem"])
        pool = {"read": READS, "deferred": DEFERRED, "planning": PLANNING}[kind][mcp]
        return self.pick(pool or READS[mcp])

    def capabilities(self, mcp):
        intent = (self.weighted(read=90, planning=7, deferred=3) if self.is_calm else
                  self.weighted(read=62, planning=8, deferred=9, unknown=5, cross=2, nothing=6, mixed=8))
        if intent == "nothing":
            return []
        if intent == "mixed":
            kinds = self.some(["read", "read", "deferred", "planning", "unknown"], 4)
        else:
            kinds = [intent] + (["planning"] if intent == "read" and self.chance(0.1) else [])
            kinds += [intent] * self.random.randint(0, 2)
        return [self.spelled(self.capability(mcp, kind)) for kind in kinds]

    def spread(self, entry, capabilities):
        """Over the four fields, overlapping now and then."""
        fields = ["permissions", "capabilities", "requiredCapabilities", "mcpCapabilities"]
        if self.chance(0.75):
            entry[self.pick(fields)] = capabilities
            return
        for capability in capabilities:
            for field in self.some(fields, 2):
                entry.setdefault(field, []).append(capability)
        for field in fields:
            if self.chance(0.1):
                entry.setdefault(field, [])

    def fallback(self):
        out = {"action": self.weighted(block=4, ask_user=2, continue_without_mcp=4)}
        if self.chance(0.8):
            out["message"] = self.pick(MESSAGES) if self.chance(0.3) else ""
        return out

    def assignment(self, agent):
        kind = self.weighted(agent=80, multiple_agents=6, workforce=6, architect_only=4, reviewer_only=4)
        out = {"type": kind, "targetId": agent if self.chance(0.85) else None}
        if self.chance(0.08):
            out["targetAgents"] = self.pick([[agent], [agent, "qa"], []])
        return out

    def policy(self, key, index):
        agent = self.agent()
        mcp = self.weighted(filesystem=55, github=45) if self.is_calm else self.weighted(filesystem=55, github=42, slack=2, constructor=1)
        entry = {"mcpId": mcp, "agent": agent, "requirement": "optional" if self.chance(0.5) else "required",
                 "fallback": self.fallback()}
        self.spread(entry, self.capabilities(mcp))
        if self.chance(0.03 if self.is_calm else 0.16):
            pool = READS.get(mcp, UNKNOWN) + DEFERRED.get(mcp, []) + PLANNING.get(mcp, [])
            entry["prohibitedCapabilities"] = [self.spelled(item) for item in self.some(pool, 2)]
        if self.chance(0.3):
            entry["evidenceRefs"] = self.some(["docs/a.md", "src/b.c:12", "a  b", " c ", 7, None, ["x"], {}] + MESSAGES, 3)
        if key is None:
            self.keyless_shape(entry, agent, index)
        else:
            entry.update(requirementKey=key, sourceRequirementIndex=index, assignment=self.assignment(agent))
            if self.chance(0.05):
                entry["assignedRole"] = agent
        if self.chance(0.04):
            entry["promptOverlayPresent"] = self.pick([True, False, "yes", None])
        return entry

    def keyless_shape(self, entry, agent, index):
        if self.chance(0.35):
            entry["sourceRequirementIndex"] = index
        if self.chance(0.3):
            entry["assignment"] = self.assignment(agent)
        how = self.weighted(agent=70, role=12, both=5, target=8, nobody=5)
        if how in ("role", "both"):
            entry["assignedRole"] = agent
        if how in ("role", "target", "nobody"):
            del entry["agent"]
        if how == "target":
            entry["assignment"] = {"type": "agent", "targetId": None, "targetAgents": [agent]}

    def envelope(self, policy, number):
        """One that belongs to the policy."""
        entry = json.loads(json.dumps(policy))
        entry.pop("prohibitedCapabilities", None)
        entry.update(decisionId="dec-%d" % number, promptOverlayPresent=self.chance(0.7))
        if "requirementKey" not in entry and self.chance(0.2):
            del entry["promptOverlayPresent"]
        if self.chance(0.1):
            entry["capabilityClasses"] = self.pick([[], None, [7], "x", ["unknown"] * 30])
        if self.chance(0.15):
            for field in ("permissions", "capabilities", "requiredCapabilities", "mcpCapabilities"):
                if isinstance(entry.get(field), list):
                    self.random.shuffle(entry[field])
        if self.chance(0.1):
            entry["evidenceRefs"] = ["packets/%d" % number]
        return entry

    def nearly(self, envelope):
        """Almost the envelope of its policy."""
        what = self.weighted(agent=3, role=1, mcp=3, index=4, no_index=3, decision=4, requirement=2, fallback=2, capabilities=3,
                             key=2, overlay=3, assignment=3, unknown=2, respelled=3)
        changes = {
            "agent": lambda: {"agent": self.agent() if self.chance(0.5) else self.bad_agent()},
            "role": lambda: {"assignedRole": self.agent()},
            "mcp": lambda: {"mcpId": self.pick(["filesystem", "github"]) if self.chance(0.5) else self.bad_mcp()},
            "index": lambda: {"sourceRequirementIndex": self.random.randint(0, 4) if self.chance(0.6) else self.bad_index()},
            "decision": lambda: {"decisionId": self.bad_identity(160)},
            "requirement": lambda: {"requirement": self.pick(["required", "optional", "Required", None])},
            "fallback": lambda: {"fallback": self.pick([self.fallback(), {"action": "maybe"}, None, {}])},
            "capabilities": lambda: {"capabilities": [self.capability("github", "read")]},
            "key": lambda: {"requirementKey": self.pick(["req-9", self.bad_key()])},
            "overlay": lambda: {"promptOverlayPresent": self.pick([None, "true", 1, 0, []])},
            "assignment": lambda: {"assignment": self.bad_assignment()},
            "respelled": lambda: {field: [ALIASES.get(item, item) if isinstance(item, str) else item for item in items]
                                  for field, items in envelope.items() if field.endswith("apabilities") and isinstance(items, list)},
            "unknown": lambda: {"agent": "unknown"}}
        if what == "no_index":
            envelope.pop("sourceRequirementIndex", None)
        else:
            envelope.update(changes[what]())

    def bad_assignment(self):
        return self.pick([None, {}, "agent", 7, [], {"type": "agent"}, {"type": "team", "targetId": "qa"}, {"targetId": "qa"},
                          {"type": "agent", "targetId": 5}, {"type": "agent", "targetId": " qa"}, {"type": None, "targetId": None},
                          {"type": "agent", "targetId": "t" * 161}, {"type": "workforce", "targetId": "a\u202eb"},
                          {"type": "multiple_agents", "targetId": None, "targetAgents": ["qa"]},
                          {"type": "Agent", "targetId": None, "targetAgents": [" qa "]},
                          {"type": "agent", "targetId": None, "targetAgents": [7]}])

    def spoil(self, entry):
        """Break one rule of 1.7, or nearly."""
        field = self.weighted(capabilities=5, items=5, prohibited=4, prohibited_items=4, mcpId=4, requirement=3, fallback=4, agent=5,
                              role=4, assignment=5, index=4, evidence=2, key=4, missing=6)
        fields = ["permissions", "capabilities", "requiredCapabilities", "mcpCapabilities"]
        if field == "missing":
            entry.pop(self.pick(list(entry)), None)
        elif field == "items":
            entry.setdefault(self.pick(fields), []).append(self.pick(UNSAFE))
        elif field == "prohibited_items":
            entry["prohibitedCapabilities"] = self.some(READS["filesystem"] + READS["github"], 2) + [self.pick(UNSAFE + UNKNOWN)]
        else:
            name, value = {
                "capabilities": lambda: (self.pick(fields), self.pick(NOT_ARRAYS)),
                "prohibited": lambda: ("prohibitedCapabilities", self.pick(NOT_ARRAYS + [self.some(UNKNOWN + READS["github"], 2)])),
                "mcpId": lambda: ("mcpId", self.bad_mcp()),
                "requirement": lambda: ("requirement", self.pick(["Required", "", None, 1, " optional", ["required"]])),
                "fallback": lambda: ("fallback", self.pick(NOT_OBJECTS + [{}, {"action": "maybe"}, {"action": ["block"]}, {"action": "Block"}])),
                "agent": lambda: ("agent", self.bad_agent()),
                "role": lambda: ("assignedRole", self.agent() if self.chance(0.5) else self.bad_agent()),
                "assignment": lambda: ("assignment", self.bad_assignment()),
                "index": lambda: ("sourceRequirementIndex", self.bad_index()),
                "evidence": lambda: ("evidenceRefs", self.pick(NOT_ARRAYS)),
                "key": lambda: ("requirementKey", self.bad_key())}[field]()
            entry[name] = value

    # --- the documents around them

    def entries(self, keyed, hostile):
        policies, envelopes = [], []
        for number in range(self.few()):
            is_keyed = keyed if keyed is not None else self.chance(0.5)
            index = number if self.chance(0.9) else self.pick([0, 1.0, 3.0, 2**53 - 1, 40])
            policy = self.policy("req-%d" % number if is_keyed else None, index)
            if policies and not is_keyed and self.chance(0.25):
                policy = json.loads(json.dumps(self.pick(policies)))
            policies.append(policy)
            if self.chance(0.45):
                envelopes.append(self.envelope(policy, number))
        if hostile:
            self.twist(policies, envelopes)
        out = policies + envelopes
        if hostile or self.chance(0.3):
            self.random.shuffle(out)
        return out

    def twist(self, policies, envelopes):
        for policy in policies:
            if self.chance(0.3):
                self.spoil(policy)
        for envelope in envelopes:
            if self.chance(0.45):
                self.nearly(envelope)
        if policies and self.chance(0.12):
            policies.append(json.loads(json.dumps(self.pick(policies))))
        if envelopes and self.chance(0.12):
            envelopes.append(dict(self.pick(envelopes), decisionId=self.pick(["dec-other", "dec-0", None])))
        if envelopes and policies and self.chance(0.1):
            policies.pop(self.random.randrange(len(policies)))
        if self.chance(0.06):
            policies.append(self.pick(NOT_OBJECTS + [{}]))
        if self.chance(0.05):
            envelopes.append({"decisionId": self.pick([None, "dec-x", " padded ", 7])})

    def health(self):
        out = {}
        for mcp in ("filesystem", "github"):
            row = {"mcpId": mcp, "installState": "installed", "status": "healthy", "enabled": True, "error": None,
                   "checkedAt": "2026-11-30T08:00:00Z"}
            if self.chance(0.05 if self.is_calm else 0.25):
                row.update(self.pick([
                    {"status": "unhealthy", "error": "connect  refused"}, {"status": "disabled", "enabled": False}, {"status": "auth_required"},
                    {"status": "configuration_required"}, {"status": "unknown"}, {"installState": "missing"}, {"enabled": False},
                    {"checkedAt": "2026-11-30T08:00:00.25+02:00"},
                    {"error": self.pick([text for text in MESSAGES if isinstance(text, str)])}]))
            if self.chance(0.01 if self.is_calm else 0.06):
                row.update(self.pick([
                    {"mcpId": "slack"}, {"mcpId": " " + mcp}, {"mcpId": None}, {"installState": "absent"}, {"installState": None}, {"status": "ok"},
                    {"status": ["healthy"]}, {"enabled": 1}, {"enabled": "true"}, {"error": 7}, {"error": {}}, {"checkedAt": None},
                    {"checkedAt": "yesterday"}, {"checkedAt": "2026-11-30"}, {"checkedAt": "2026-13-01T00:00:00Z"},
                    {"checkedAt": "2026-11-30T08:00:00"}, {"checkedAt": 7}, {"checkedAt": "2026-11-30T25:00:00Z"}, {"extra": 1}]))
            if self.chance(0.03):
                row.pop(self.pick(list(row)))
            if self.chance(0.94):
                out[mcp] = row if self.chance(0.98) else self.pick(NOT_OBJECTS)
        if self.chance(0.05):
            out["slack"] = dict(out.get("github") or {}, mcpId="slack") if isinstance(out.get("github"), dict) else {}
        return out

    def covered(self, wanted):
        pool = wanted if wanted and (self.is_calm or self.chance(0.7)) else READS["filesystem"]
        out = [self.spelled(item, 0.05) for item in (pool if self.is_calm or self.chance(0.8) else self.some(pool, 2))]
        return out + [self.pick(READS["filesystem"])] * self.random.randint(0, 1)

    def coherent(self, wanted):
        phase = "approved" if self.is_calm else self.weighted(approved=70, revoked=12, denied=8, none=4, proposed=3, not_issued=3)
        if phase == "revoked":
            state = {"phase": phase, "source": self.pick(["project-level", "package-local"]), "status": "not_issued",
                     "coveredCapabilities": self.covered(wanted) if self.chance(0.5) else [],
                     "revocationReason": self.pick(["project_grant_removed", "project_grant_narrowed", "project_root_repoint",
                                                    "grant_expired", "package_grant_removed"])}
        elif phase == "denied":
            state = {"phase": phase, "source": "package-local", "status": "denied", "coveredCapabilities": []}
        elif phase != "approved":
            state = {"phase": phase, "source": "none", "status": "not_issued", "coveredCapabilities": []}
        else:
            source, mode = self.pick([("project-level", "always_allow"), ("package-local", "allow_once"), ("package-local", "always_allow")])
            state = {"phase": phase, "source": source, "status": "approved", "grantMode": mode, "coveredCapabilities": self.covered(wanted)}
            if self.chance(0.1 if self.is_calm else 0.3):
                state["consumed"] = self.chance(0.4) if mode == "allow_once" else False
        if self.chance(0.2):
            state.update(self.pick([{"grantApprovalId": "gr-1"}, {"revision": 3, "rootRevision": 1}, {"note": "ignored"}]))
        return state

    def incoherent(self, wanted):
        state = self.coherent(wanted)
        change = self.pick([
            {"phase": "granted"}, {"phase": None}, {"source": "none"}, {"source": "project-level"}, {"source": "elsewhere"}, {"status": "approved"},
            {"status": "denied"}, {"status": None}, {"grantMode": "allow_once"}, {"grantMode": "sometimes"}, {"grantMode": None}, {"consumed": True},
            {"consumed": "yes"}, {"consumed": None}, {"coveredCapabilities": None}, {"coveredCapabilities": "filesystem.project.read"},
            {"coveredCapabilities": ["github.issues.read"]}, {"coveredCapabilities": ["filesystem.project.write"]},
            {"coveredCapabilities": [7]}, {"coveredCapabilities": ["filesystem.read"] * 31}, {"coveredCapabilities": ["filesystem.root.read"]},
            {"coveredCapabilities": ["filesystem.read\t"]}, {"revocationReason": "grant_expired"}, {"revocationReason": "because"},
            {"revocationReason": None}, {"grantApprovalId": 7}, {"grantApprovalId": None}])
        state.update(change)
        if self.chance(0.2):
            state.pop(self.pick(list(state)))
        return state if self.chance(0.9) else self.pick([value for value in NOT_OBJECTS if value is not None])

    def grants(self, entries):
        out = {}
        for position, entry in enumerate(entries):
            if not isinstance(entry, dict) or entry.get("mcpId") != "filesystem" and self.chance(0.8):
                continue
            wanted = [item for item in READS["filesystem"]]
            key = entry.get("requirementKey")
            name = key if isinstance(key, str) else "legacy-%d-%s-%s" % (position, entry.get("mcpId"), entry.get("agent"))
            if self.chance(0.9 if self.is_calm else 0.6):
                out[name] = self.coherent(wanted) if self.is_calm or self.chance(0.94) else self.incoherent(wanted)
            elif self.chance(0.05):
                out[name] = None
        if self.chance(0.5):
            out["filesystem"] = self.coherent([]) if self.chance(0.96) else self.incoherent([])
        if self.chance(0.03):
            out["github"] = self.coherent([]) if self.chance(0.5) else self.incoherent([])
        return out

    def prompt(self, entries):
        out = {}
        for position, entry in enumerate(entries):
            if isinstance(entry, dict) and self.chance(0.9 if self.is_calm else 0.5):
                key = entry.get("requirementKey")
                name = key if isinstance(key, str) else "legacy-%d-%s-%s" % (position, entry.get("mcpId"), entry.get("agent"))
                out[name] = True if self.chance(0.93) else self.pick([False, None, 1, "true", {}])
        if self.chance(0.03):
            out[self.pick(["github", "invalid-requirement-key-0", "legacy-grant-only-0"])] = True
        return out

    # --- subtasks

    def asked(self, entry):
        fields = ("permissions", "capabilities", "requiredCapabilities", "mcpCapabilities")
        return [item for field in fields if isinstance(entry.get(field), list) for item in entry[field] if isinstance(item, str)]

    def subtask(self, number, policies):
        source = self.pick(policies) if policies and self.chance(0.9) else {}
        agent = source.get("agent")
        agent = agent if isinstance(agent, str) and self.chance(0.92) else self.agent()
        asked = self.asked(source)
        capabilities = []
        for item in self.some(asked, 2) if asked else []:
            if item not in capabilities:
                capabilities.append(item)
        if not capabilities or self.chance(0.02 if self.is_calm else 0.15):
            mcp = self.pick(["filesystem", "github"])
            capabilities.append(self.spelled(self.capability(mcp, self.weighted(read=50, planning=15, deferred=15, unknown=20))))
        if self.chance(0.2):
            capabilities = [self.spelled(item, 0.5) if item in READS["github"] + READS["filesystem"] else item for item in capabilities]
        out = {"id": "sub-%d" % number, "agent": agent, "mcpCapabilities": capabilities}
        if self.chance(0.7 if self.is_calm else 0.45):
            out["capabilityBindings"] = self.bindings(capabilities, source.get("requirementKey"))
        return out

    def bindings(self, capabilities, key):
        key = key if isinstance(key, str) else self.pick(["req-0", "legacy-0-filesystem-qa", "legacy-0-github-backend"])
        out = [{"capability": item, "requirementKey": key} for item in capabilities]
        if self.chance(0.97 if self.is_calm else 0.7):
            return out
        how = self.weighted(twice=3, other=4, none=2, key=2, undeclared=2, not_object=2, drop=2, alias=2, unsafe=1, spelled=2, extra=1)
        if how == "twice":
            out.append({"capability": self.pick(capabilities), "requirementKey": self.pick([key, "req-1"])})
        elif how == "none":
            return []
        elif how == "drop":
            out.pop()
        elif how in ("not_object", "undeclared"):
            out.append(self.pick(NOT_OBJECTS) if how == "not_object" else {"capability": "github.contents.search", "requirementKey": key})
        else:
            out[0].update({
                "other": lambda: {"requirementKey": self.pick(["req-1", "req-9", "legacy-1-filesystem-backend"])},
                "key": lambda: {"requirementKey": self.bad_key()},
                "alias": lambda: {"capability": ALIASES.get(capabilities[0], "filesystem.read")},
                "unsafe": lambda: {"capability": self.pick(UNSAFE)},
                "spelled": lambda: {"capability": " " + capabilities[0].upper()},
                "extra": lambda: {"note": 1}}[how]())
        return out

    def spoil_subtask(self, subtask):
        how = self.weighted(id=5, agent=5, capabilities=5, items=5, repeated=3, bindings=3, missing=4, role=3)
        if how == "id":
            subtask["id"] = self.pick(["sub-0", "unknown-subtask", " sub-0", "sub-0 ", "s  x", "invalid-subtask-0", self.bad_identity(160)])
        elif how == "agent":
            subtask["agent"] = self.bad_agent()
        elif how == "role":
            subtask.pop("agent", None)
            subtask.update(self.pick([{"assignedRole": "qa"}, {"assignment": {"targetAgents": ["backend"]}}, {"assignedRole": " qa"}]))
        elif how == "capabilities":
            subtask["mcpCapabilities"] = self.pick(NOT_ARRAYS + [[]])
        elif how == "items":
            subtask["mcpCapabilities"] = subtask["mcpCapabilities"] + [self.pick(UNSAFE)]
        elif how == "repeated":
            subtask["mcpCapabilities"] = subtask["mcpCapabilities"] + [self.pick(subtask["mcpCapabilities"]).upper()]
        elif how == "bindings":
            subtask["capabilityBindings"] = self.pick(NOT_ARRAYS)
        else:
            subtask.pop(self.pick(list(subtask)))

    def subtasks(self, entries, hostile):
        policies = [entry for entry in entries if isinstance(entry, dict) and "decisionId" not in entry]
        out = [self.subtask(number, policies) for number in range(self.random.choices([0, 1, 2, 3, 5], [12, 34, 30, 16, 8])[0])]
        if hostile:
            for subtask in out:
                if self.chance(0.25):
                    self.spoil_subtask(subtask)
            if self.chance(0.05):
                out.append(self.pick(NOT_OBJECTS + [{}]))
        if self.chance(0.3):
            self.random.shuffle(out)
        return out

    def limits(self, document):
        """At a limit, or one over."""
        over = self.random.randint(0, 1)
        entries = [entry for entry in document["entries"] if isinstance(entry, dict)]
        subtasks = [subtask for subtask in document["subtasks"] if isinstance(subtask, dict)]
        what = self.weighted(entries=2, subtasks=2, field=4, union=6, subtask_field=2, envelope_union=2)
        if what == "entries":
            document["entries"] = [self.policy("req-%d" % number, number) for number in range(80 + over)]
        elif what == "subtasks":
            document["subtasks"] = [self.subtask(number, entries) for number in range(40 + over)]
        elif what == "subtask_field" and subtasks:
            self.pick(subtasks)[self.pick(["mcpCapabilities", "capabilityBindings"])] = ["filesystem.x%d" % n for n in range(30 + over)]
        elif what == "field" and entries:
            name = self.pick(["permissions", "capabilities", "requiredCapabilities", "mcpCapabilities", "prohibitedCapabilities", "evidenceRefs",
                              "capabilityClasses"])
            self.pick(entries)[name] = [self.pick(["filesystem.project.read", "github.issues.read", 7, "x"])] * (30 + over)
        elif entries:
            entry = self.pick([e for e in entries if ("decisionId" in e) == (what == "envelope_union")] or entries)
            entry["permissions"] = ["github.x%d.read" % number for number in range(20)]
            entry["capabilities"] = ["github.y%d.read" % number for number in range(10)]
            entry["mcpCapabilities"] = ["github.y0.read", "GITHUB.Y1.READ"] + ["github.z.read"] * over
            entry.pop("requiredCapabilities", None)

    def older_spelling(self, document):
        entries = document.pop("entries")
        cut = self.random.randint(0, len(entries))
        metadata = {}
        document["mcpRequirements"] = entries[:cut]
        self.pick([document, metadata])["mcpGrants"] = entries[cut:]
        self.pick([document, metadata])["mcpAwareSubtasks"] = document.pop("subtasks")
        if metadata and self.chance(0.3):
            for name in ("mcpGrants", "mcpAwareSubtasks"):
                metadata.setdefault(name, [7])
        if metadata:
            document["metadata"] = metadata

    def document(self):
        style = self.weighted(calm=25, ordinary=25, hostile=35, keyless=8, limits=5, containers=2)
        self.is_calm = style == "calm"
        hostile = style == "hostile" or (style in ("keyless", "limits", "containers") and self.chance(0.4))
        entries = self.entries({"keyless": False, "ordinary": True, "calm": True}.get(style, self.pick([True, True, False, None])), hostile)
        document = {"label": "package", "entries": entries, "subtasks": self.subtasks(entries, hostile), "health": self.health(),
                    "grants": self.grants(entries), "prompt": self.prompt(entries)}
        if style == "limits":
            self.limits(document)
        if style == "containers":
            name = self.pick(["entries", "subtasks", "health", "grants", "prompt"])
            if self.chance(0.4):
                del document[name]
            else:
                document[name] = self.pick([None, 7, "x", True, {} if name in ("entries", "subtasks") else []])
        if "entries" in document and isinstance(document["entries"], list) and "subtasks" in document and self.chance(0.12):
            self.older_spelling(document)
        return document

    def orderly(self):
        """Keyed, its keys and subtask ids valid and distinct: what may come in any order (1.9)."""
        entries = self.entries(True, False)
        for entry in entries:
            if self.chance(0.15):
                self.spoil_in_place(entry)
        return {"label": "package", "entries": entries, "subtasks": self.subtasks(entries, False), "health": self.health(),
                "grants": self.grants(entries), "prompt": self.prompt(entries)}

    def spoil_in_place(self, entry):
        """Malformed, but with its key and index, by which alone it is found again."""
        kept = {name: entry[name] for name in ("requirementKey", "sourceRequirementIndex") if name in entry}
        decision = entry.get("decisionId")
        self.spoil(entry)
        entry.update(kept)
        if decision is not None:
            entry["decisionId"] = decision


def generate(seed, number):
    return Maker("%s/%d" % (seed, number)).document()


def generate_orderly(seed, number):
    """(document, the same document with its entries and subtasks in another order)"""
    maker = Maker("%s/orderly/%d" % (seed, number))
    document = maker.orderly()
    shuffled = json.loads(json.dumps(document))
    maker.random.shuffle(shuffled["entries"])
    maker.random.shuffle(shuffled["subtasks"])
    return document, shuffled


def print_coverage(count, seed):
    from contract import evaluate
    from evaluate import load_catalog
    catalog, hits, statuses = load_catalog(), collections.Counter(), collections.Counter()
    for number in range(count):
        trace = []
        statuses[evaluate(generate(seed, number), catalog, trace)["aggregate"]["status"]] += 1
        hits.update(trace)
    for name, times in sorted(hits.items()) + sorted(statuses.items()):
        print("%7d  %s" % (times, name))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--coverage", action="store_true")
    arguments = parser.parse_args()
    if arguments.coverage:
        print_coverage(arguments.count, arguments.seed)
        return
    for number in range(arguments.count):
        print(json.dumps(generate(arguments.seed, number)))


if __name__ == "__main__":
    main()
