#!/usr/bin/env python3
"""check_classes.py: the model's class and delivery kind of each line of tests/vectors/classes.jsonl; exit 1 on a difference."""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from capability import classify, delivery_kind  # noqa: E402
from evaluate import load_catalog  # noqa: E402


def main():
    catalog = load_catalog()
    passed, failed = 0, 0
    with open(os.path.join(HERE, "..", "vectors", "classes.jsonl"), encoding="utf-8") as lines:
        for want in map(json.loads, lines):
            have = classify(catalog, want["mcpId"], want["capability"]), delivery_kind(catalog, want["mcpId"])
            if have == (want["class"], want["deliveryKind"]):
                passed += 1
            else:
                failed += 1
                print("%(mcpId)s %(capability)r: want %(class)s %(deliveryKind)s" % want, "have %s %s" % have)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
