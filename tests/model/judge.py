"""What holds a package (chapter 2.2), asked of the second evaluator of chapter 1."""
import copy
import json

from capability import PACKET, READ
from contract import ACTION_ORDER, MODE_ORDER, evaluate
from evaluate import load_catalog
from ledger import arm_of, effective

APPROVE, FIX, REVISE = "approve_project_filesystem_context", "install_or_fix_mcp", "revise_plan"
KINDS = {APPROVE: "needs_grant", FIX: "needs_setup", REVISE: "needs_plan_change"}
REMEMBERED = {}


def widen(mcps):
    mcps["filesystem"]["runtime"]["capabilities"].append("filesystem.project.get")


def ungate(mcps):
    mcps["github"]["runtime"]["healthGated"] = False


# The default one, one that knows another read, and one whose external server needs no health: what is changed in it.
CHANGES = {"default": lambda mcps: None, "wider": widen, "ungated": ungate}


def changed_catalog(mcps, name):
    made = copy.deepcopy(mcps)
    CHANGES[name](made)
    return made


CATALOGS = {name: changed_catalog(load_catalog(), name) for name in CHANGES}


class InForce:
    """The catalog is the daemon's, one for all projects, so it is the model's too."""

    name = "default"


def catalog():
    return CATALOGS[InForce.name]


def known_reads():
    """What a project can allow."""
    return frozenset(catalog()["filesystem"]["runtime"]["capabilities"])


def in_force(state):
    """An effective state, of which the catalog in force knows all that it covers."""
    return dict(state, coveredCapabilities=[item for item in state["coveredCapabilities"] if item in known_reads()])


def decide(document, overlays, health, grants):
    """`evaluate`, remembered: a walk asks the same again and again. The API's document is the engine's (1.2)."""
    asked = dict(document, health=health, grants=grants, prompt={key: True for key in overlays})
    key = InForce.name + json.dumps(asked, sort_keys=True)
    if key not in REMEMBERED:
        if len(REMEMBERED) > 20000:
            REMEMBERED.clear()
        REMEMBERED[key] = evaluate(asked, catalog())
    return REMEMBERED[key]


def bounded_reads(evaluation):
    return frozenset(item["capability"] for item in evaluation["decision"]["capabilityClasses"]
                     if item["class"] == READ and item["deliveryKind"] == PACKET)


def needs_of(document, overlays):
    """{row's name: its bounded reads with a producer}"""
    rows = decide(document, overlays, {}, {})["evaluations"]
    return {row["source"]["requirementKey"]: bounded_reads(row) for row in rows}


class Judgement:
    """One package in one world: the engine's result, and the hold that follows from it."""

    def __init__(self, package, own, projects, root_revision, health):
        self.states = {name: effective(own, projects, root_revision, needs)
                       for name, needs in needs_of(package.document, package.overlays).items()}
        self.root_revision = root_revision
        self.result = decide(package.document, package.overlays, health, {name: in_force(found[1]) for name, found in self.states.items()})
        self.status = self.result["aggregate"]["status"]

    def rows(self):
        """The rows of the table P1–P13 that decided."""
        return {found[0] for found in self.states.values()}

    def admitted(self):
        """{row's name: the grant that admits it} of those that row 5c admits."""
        return {item["source"]["requirementKey"]: self.states[item["source"]["requirementKey"]][2]
                for item in self.result["evaluations"]
                if item["decision"]["mode"] == "bounded_context_approved" and item["decision"]["status"] == "allowed"}

    def origins(self):
        """[(sort key, origin)] of all that is blocked; an origin is the part of a hold that it decides."""
        found, by_name = [], {}
        for position, item in enumerate(self.result["evaluations"]):
            decision = item["decision"]
            by_name[item["source"]["requirementKey"]] = (position, decision)
            if decision["status"] == "blocked":
                found.append(self.from_requirement(item["source"]["requirementKey"], position, decision))
        for position, row in enumerate(self.result["subtaskDecisions"]):
            if row["status"] != "blocked":
                continue
            bound = by_name.get(row["requirementKey"]) if row["requirementKey"] else None
            if bound and bound[1].get("recoveryAction") in (APPROVE, FIX):
                found.append(self.from_requirement(row["requirementKey"], *bound))
            else:
                found.append(self.from_subtask(position, row))
        return sorted(found, key=lambda pair: pair[0])

    @staticmethod
    def from_subtask(position, row):
        mode = "deferred_live_mcp" if row["class"] == "deferred_live_mcp" else "blocked"
        return ((ACTION_ORDER.index(REVISE), MODE_ORDER.index(mode), 1, position),
                {"kind": "needs_plan_change", "arm": None, "mode": mode, "recoveryAction": row["recoveryAction"],
                 "requirementKey": row["requirementKey"], "subtaskId": row["subtaskId"]})

    def from_requirement(self, name, position, decision):
        action = decision["recoveryAction"]
        arm = arm_of(self.states[name][1], self.root_revision) if action == APPROVE else None
        return ((ACTION_ORDER.index(action), MODE_ORDER.index(decision["mode"]), 0, position),
                {"kind": KINDS[action], "arm": arm, "mode": decision["mode"], "recoveryAction": action, "requirementKey": name,
                 "subtaskId": None})

    def hold(self):
        if self.status != "blocked":
            return None
        origins = [origin for _, origin in self.origins()]
        if not origins:  # the whole package is refused: no rows
            return {"kind": "needs_plan_change", "arm": None, "mode": "blocked", "recoveryAction": REVISE, "requirementKey": "",
                    "subtaskId": None, "retryable": False}
        return dict(origins[0], retryable=all(origin["recoveryAction"] == FIX for origin in origins))
