#!/usr/bin/env python3
"""The model itself: it agrees with the vectors, its generator reaches everything, and what differs from it is found.
Speaks TAP.
"""
import collections
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(os.path.dirname(HERE), "vectors")
sys.path[:0] = [HERE, VECTORS]
import check  # noqa: E402
import differential  # noqa: E402
from capability import classify, delivery_kind  # noqa: E402
from contract import evaluate  # noqa: E402
from evaluate import load_catalog  # noqa: E402
from generate import generate, generate_orderly  # noqa: E402

CATALOG = load_catalog()
ROWS = ["row " + name for name in ("legacy", "0", "1", "2", "3", "4", "5a", "5b", "5c", "6a", "6b", "6c", "7", "8")]
ARMS = ["arm " + name for name in (
    "malformed", "prohibited", "no owner", "unknown", "deferred_live_mcp", "write bound", "write unbound", "read covered",
    "read bound, not covered", "read unbound", "planning read covered", "planning read not covered")]


def lines_of(name):
    with open(os.path.join(VECTORS, name), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Planted:
    """Stands where a command stands: the model, with a fault put in."""

    def __init__(self, fault):
        self.fault = fault

    def answers(self, documents):
        return [json.dumps(self.fault(document, evaluate(document, CATALOG))).encode() for document in documents]


def the_model_decides_every_vector_as_it_is_written():
    wrong = []
    for vector in lines_of("named.jsonl") + lines_of("random.jsonl"):
        wrong += check.diff(vector["name"], vector["expect"], check.got(evaluate(vector["input"], CATALOG)))
    return wrong


def the_model_classes_every_capability_as_it_is_listed():
    return ["%(mcpId)s %(capability)r" % want for want in lines_of("classes.jsonl")
            if (classify(CATALOG, want["mcpId"], want["capability"]), delivery_kind(CATALOG, want["mcpId"]))
            != (want["class"], want["deliveryKind"])]


def the_generator_reaches_every_row_and_every_arm_often():
    hits = collections.Counter()
    for number in range(1000):
        trace = []
        status = evaluate(generate("reach", number), CATALOG, trace)["aggregate"]["status"]
        hits.update(trace + [status])
    wanted = ROWS + ARMS + ["refused", "allowed", "warning", "blocked"]
    return ["%s: %d times" % (name, hits[name]) for name in wanted if hits[name] < 10] + [
        "nobody asked for " + name for name in hits if name not in wanted]


def the_same_seed_gives_the_same_documents():
    same = [generate("a", number) == generate("a", number) for number in range(50)]
    other = [generate("a", number) == generate("b", number) for number in range(50)]
    return [] if all(same) and not all(other) else ["%d of 50 the same" % sum(same)]


def another_order_of_an_orderly_package_gives_the_same_result():
    pairs = [generate_orderly("order", number) for number in range(300)]
    if not any(one["entries"] != other["entries"] for one, other in pairs):
        return ["nothing was reordered"]
    return [json.dumps(one) for one, other in pairs if evaluate(one, CATALOG) != evaluate(other, CATALOG)]


def a_model_without_faults_passes():
    documents = [generate("clean", number) for number in range(200)]
    failing = differential.decisions_failing(Planted(lambda document, result: result), CATALOG)
    wording = [text for text in map(differential.bad_wording, (evaluate(d, CATALOG) for d in documents)) if text]
    return [json.dumps(d) for d, failed in zip(documents, failing(documents)) if failed] + wording


def a_planted_fault_is_found_and_its_input_made_small():
    def fault(document, result):
        for item in result["evaluations"]:
            if item["decision"]["mode"] == "bounded_context_approved" and not item["health"]["observed"]:
                item["decision"]["status"] = "allowed"
        return result

    failing = differential.decisions_failing(Planted(fault), CATALOG)
    documents = [generate("planted", number) for number in range(600)]
    found = [document for document, failed in zip(documents, failing(documents)) if failed]
    if not found:
        return ["not found"]
    small = differential.minimise(found[0], failing)
    size = len(small.get("entries", small.get("mcpRequirements", [])))
    return [] if failing([small]) == [True] and size == 1 and "subtasks" not in small else [json.dumps(small)]


def a_true_is_no_one_and_a_missing_field_is_seen():
    different = [({"a": True}, {"a": 1}), ({"a": 1}, {"a": 1.0}), ({"a": None}, {}), ({}, {"a": None}), ([1], [1, 2]), ([1, 2], [2, 1])]
    return [repr(pair) for pair in different if differential.first_difference(*pair) is None]


TESTS = [the_model_decides_every_vector_as_it_is_written, the_model_classes_every_capability_as_it_is_listed,
         the_generator_reaches_every_row_and_every_arm_often, the_same_seed_gives_the_same_documents,
         another_order_of_an_orderly_package_gives_the_same_result, a_model_without_faults_passes,
         a_planted_fault_is_found_and_its_input_made_small, a_true_is_no_one_and_a_missing_field_is_seen]


def main():
    print("1..%d" % len(TESTS))
    failed = False
    for number, test in enumerate(TESTS, 1):
        wrong = test()
        failed = failed or bool(wrong)
        print("%sok %d - %s" % ("not " if wrong else "", number, test.__name__))
        for text in wrong[:5]:
            print("# " + text[:2000].replace("\n", "\n# "))
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
