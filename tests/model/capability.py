"""Capabilities: their owners, spellings, addresses and classes (chapters 1.3 to 1.5)."""
from text import is_safe, normalize

READ = "bounded_read_only"
PACKET = "bounded_context_packet"


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
