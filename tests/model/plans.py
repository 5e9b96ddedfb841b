"""Plans that a walk submits: packages of every kind that the life cycle tells apart."""

READ, LIST, SEARCH = ("filesystem.project." + operation for operation in ("read", "list", "search"))
AGENTS = ("backend", "docs")
LABELS = ("a", "b", "c", "d", "e")
ISSUES = "github.issues.read"


def requirement(key, agent, capabilities, mcp="filesystem", level="required", action="block", index=0, **more):
    return dict({"requirementKey": key, "sourceRequirementIndex": index, "mcpId": mcp, "agent": agent, "requirement": level,
                 "capabilities": list(capabilities), "fallback": {"action": action}, "assignment": {"type": "agent", "targetId": agent}},
                **more)


SOFT = {"level": "optional", "action": "continue_without_mcp"}


def plain(_agent, _capabilities):
    return [], [], {}


def defers(agent, _capabilities):
    """Warns: a live tool, which the package does without."""
    return [requirement("gh", agent, ["github.issues.create"], mcp="github", **SOFT)], [], {}


def reads(agent, capabilities):
    return [requirement("fs", agent, capabilities)], [], {}


def reads_if_it_may(agent, capabilities):
    return [requirement("fs", agent, capabilities, **SOFT)], [], {}


def reads_twice(agent, capabilities):
    """Two requirements of one server: each has its own state, and one grant serves both."""
    return [requirement("fs-one", agent, capabilities[:1]), requirement("fs-two", "other", capabilities, index=1, action="ask_user")], [], {}


def reads_and_writes(agent, capabilities):
    """A planning-only capability beside bounded reads."""
    return [requirement("fs", agent, list(capabilities) + ["filesystem.project.write"])], [], {}


def reads_by_alias(agent, capabilities):
    return [requirement("fs", agent, [item.replace(".project", "") for item in capabilities])], [], {}


def reads_for_a_subtask(agent, capabilities):
    """The requirement alone would only warn: its subtask can't do without, and the hold is the requirement's."""
    subtask = {"id": "s1", "agent": agent, "mcpCapabilities": list(capabilities[:1]),
               "capabilityBindings": [{"capability": capabilities[0], "requirementKey": "fs"}]}
    return [requirement("fs", agent, capabilities, **SOFT)], [subtask], {}


def subtask_without_requirement(agent, capabilities):
    return [], [{"id": "s1", "agent": agent, "mcpCapabilities": list(capabilities[:1])}], {}


def asks_a_server(agent, _capabilities):
    """Planning context with its overlay: a matter of the server's health."""
    return [requirement("gh", agent, [ISSUES], mcp="github")], [], {"gh": "what the issues say"}


def asks_a_server_if_it_may(agent, _capabilities):
    return [requirement("gh", agent, [ISSUES], mcp="github", **SOFT)], [], {"gh": "what the issues say"}


def asks_without_overlay(agent, _capabilities):
    return [requirement("gh", agent, [ISSUES], mcp="github")], [], {}


def mistyped(agent, _capabilities):
    return [requirement("gh", agent, ["github.secerts.write"], mcp="github")], [], {}


def reads_and_asks(agent, capabilities):
    """Held by two causes, of which the first is told."""
    return [requirement("fs", agent, capabilities), requirement("gh", agent, [ISSUES], mcp="github", index=1)], [], {"gh": "issues"}


def reads_what_may_come(agent, capabilities):
    """One of its capabilities is a read in a wider catalog, and unknown in the others."""
    return [requirement("fs", agent, list(capabilities) + ["filesystem.project.get"])], [], {}


def prohibits(agent, capabilities):
    return [requirement("fs", agent, capabilities), requirement("no", agent, [], index=1, prohibitedCapabilities=[SEARCH], **SOFT)], [], {}


def legacy(agent, capabilities):
    """A policy and an envelope without keys."""
    ask = {"mcpId": "filesystem", "assignedRole": agent, "requirement": "required", "permissions": list(capabilities),
           "fallback": {"action": "block"}}
    envelope = {"decisionId": "adm-1", "mcpId": "filesystem", "agent": agent, "requirement": "required",
                "requiredCapabilities": list(capabilities), "fallback": {"action": "block"},
                "assignment": {"type": "agent", "targetId": agent}}
    return [ask, envelope], [], {}


KINDS = {function.__name__: function for function in (
    plain, defers, reads, reads_if_it_may, reads_twice, reads_and_writes, reads_by_alias, reads_for_a_subtask,
    subtask_without_requirement, asks_a_server, asks_a_server_if_it_may, asks_without_overlay, mistyped, reads_and_asks, reads_what_may_come, prohibits, legacy)}
WEIGHTS = {"plain": 8, "defers": 6, "reads": 12, "reads_if_it_may": 4, "asks_a_server": 5, "reads_and_asks": 3, "prohibits": 0.5, "reads_what_may_come": 2,
           "asks_without_overlay": 0.4, "mistyped": 0.4, "subtask_without_requirement": 0.3}


def package(label, kind, agent, capabilities, after=(), redo=False):
    requirements, subtasks, overlays = KINDS[kind](agent, capabilities)
    made = {"label": label, "agent": agent, "dependsOn": list(after),
            "document": {"mcpRequirements": requirements, "mcpAwareSubtasks": subtasks}, "promptOverlays": overlays}
    return dict(made, redo=True) if redo else made


def random_package(random, label, labels_before):
    kind = random.choices(list(KINDS), [WEIGHTS.get(name, 1) for name in KINDS])[0]
    capabilities = random.sample((READ, LIST, SEARCH), random.choice((1, 1, 1, 2, 3)))
    after = [other for other in labels_before if random.random() < 0.35]
    return package(label, kind, random.choice(AGENTS), capabilities, after)


def random_plan(random):
    """One to five packages, each after some of those before it."""
    labels = random.sample(LABELS, random.choice((1, 2, 2, 3, 3, 4, 5)))
    return [random_package(random, label, labels[:number]) for number, label in enumerate(labels)]


def changed_plan(random, plan):
    """The same plan but for a package: another document, gone, new, or made again."""
    packages = [dict(item) for item in plan]
    for item in packages:
        item.pop("redo", None)
    number = random.randrange(len(packages))
    labels = [item["label"] for item in packages]
    how = random.choice(("other", "other", "redo", "drop", "add" if len(packages) < 7 else "drop"))
    if how == "other":
        packages[number] = dict(random_package(random, labels[number], []), dependsOn=packages[number]["dependsOn"])
    elif how == "redo":
        packages[number]["redo"] = True
    elif len(packages) > 1 and how == "drop":
        gone = packages.pop(number)["label"]
        packages = [dict(item, dependsOn=[label for label in item["dependsOn"] if label != gone]) for item in packages]
    else:
        label = random.choice([label for label in LABELS + ("f", "g", "h") if label not in labels])
        packages.append(random_package(random, label, labels[:random.randrange(len(labels) + 1)]))
    return packages
