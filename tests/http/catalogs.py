"""The catalog in force, and others made of it."""
import copy

from daemon import equal


def catalog(daemon):
    answer = daemon.admin.get("/v1/catalog").must(200)
    equal(answer.headers["etag"].strip('"')[:7], "sha256:")
    return answer.json, answer.headers["etag"]


def without(document, capability):
    """The catalog without a safe read of filesystem, and without what points at it."""
    made = copy.deepcopy(document)
    entry = made["mcps"]["filesystem"]
    entry["runtime"]["capabilities"].remove(capability)
    entry["aliases"] = {alias: name for alias, name in entry["aliases"].items() if name != capability}
    return made
