#!/usr/bin/env python3
"""evaluate.py: the second evaluator as a command. JSON lines in, one result a line out."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from contract import evaluate  # noqa: E402


def load_catalog():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "catalog.json"), encoding="utf-8") as file:
        return json.load(file)


def main():
    catalog = load_catalog()
    for line in sys.stdin:
        if line.strip():
            print(json.dumps(evaluate(json.loads(line), catalog)))


if __name__ == "__main__":
    main()
