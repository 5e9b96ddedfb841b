#!/usr/bin/env python3
"""`admitctl evaluate` (found through ADMITCTL) against the vectors and against the model. Speaks TAP."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(os.path.dirname(HERE), "vectors")
sys.path.insert(0, HERE)
from text import is_safe  # noqa: E402

COMMAND = [os.environ["ADMITCTL"], "evaluate"]


def run(script, *arguments):
    done = subprocess.run([sys.executable, "-B", script, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    return [] if done.returncode == 0 else done.stdout.splitlines() or ["exit %d" % done.returncode]


def every_vector_is_decided_as_it_is_written():
    return run(os.path.join(VECTORS, "check.py"), *COMMAND)


def asking(line):
    return {"entries": [{
        "requirementKey": "r", "sourceRequirementIndex": 0, "agent": "qa", "mcpId": line["mcpId"], "requirement": "required",
        "capabilities": [line["capability"]], "fallback": {"action": "block"}, "assignment": {"type": "agent", "targetId": None}}]}


def every_capability_is_classed_as_it_is_listed():
    with open(os.path.join(VECTORS, "classes.jsonl"), encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    data = "".join(json.dumps(asking(line)) + "\n" for line in lines)
    done = subprocess.run(COMMAND, input=data, stdout=subprocess.PIPE, text=True, check=False)
    results = [json.loads(text) for text in done.stdout.splitlines()]
    if len(results) != len(lines):
        return ["%d inputs, %d answers" % (len(lines), len(results))]
    wrong = []
    for line, result in zip(lines, results):
        have = [(item["class"], item["deliveryKind"]) for item in result["evaluations"][0]["decision"]["capabilityClasses"]]
        if have != ([(line["class"], line["deliveryKind"])] if is_safe(line["capability"]) else []):
            wrong.append("%s %r: have %s" % (line["mcpId"], line["capability"], have))
    return wrong


def the_engine_and_the_model_agree_in_any_order_of_entries():
    return run(os.path.join(HERE, "differential.py"), "--count", "2500", "--seed", "check", "--", *COMMAND)


TESTS = [every_vector_is_decided_as_it_is_written, every_capability_is_classed_as_it_is_listed,
         the_engine_and_the_model_agree_in_any_order_of_entries]


def main():
    print("1..%d" % len(TESTS))
    failed = False
    for number, test in enumerate(TESTS, 1):
        wrong = test()
        failed = failed or bool(wrong)
        print("%sok %d - %s" % ("not " if wrong else "", number, test.__name__))
        for text in wrong[:60]:
            print("# " + text[:4000])
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
