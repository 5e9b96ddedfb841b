#!/usr/bin/env python3
"""The checker of schemas itself: every keyword refuses something."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "lib"))
from schema import KEYWORDS, SchemaError, Schemas  # noqa: E402
from tap import Failed, check, equal, run, test  # noqa: E402

# keyword: (schema, values that hold, values that don't)
CASES = {
    "$ref": ({"$ref": "#/$defs/word"}, ["a"], [1]),
    "type": ({"type": ["integer", "null"]}, [1, None, -7], [1.5, True, "1", [], {}]),
    "enum": ({"enum": ["a", 1, None]}, ["a", 1, None], ["b", True, 1.5]),
    "const": ({"const": 2}, [2], [1, "2"]),
    "properties": ({"properties": {"a": {"type": "string"}}}, [{"a": "x"}, {}, 7], [{"a": 7}]),
    "patternProperties": ({"patternProperties": {"^x-": {"type": "string"}}}, [{"x-a": "b"}, {"y": 1}], [{"x-a": 1}]),
    "additionalProperties": ({"properties": {"a": True}, "additionalProperties": False}, [{"a": 1}], [{"b": 1}]),
    "propertyNames": ({"propertyNames": {"maxLength": 2}}, [{"ab": 1}], [{"abc": 1}]),
    "required": ({"required": ["a"]}, [{"a": None}, 7], [{}, {"b": 1}]),
    "items": ({"items": {"type": "string"}}, [[], ["a"]], [["a", 1]]),
    "uniqueItems": ({"uniqueItems": True}, [[1, True, {"a": 1}, {"a": 2}]], [[1, 1], [{"a": [1]}, {"a": [1]}]]),
    "pattern": ({"pattern": "^[0-9]+$"}, ["12", 12], ["1a", ""]),
    "minimum": ({"minimum": 3}, [3, "a"], [2]),
    "maximum": ({"maximum": 3}, [3, 2.5, True], [4]),
    "minLength": ({"minLength": 2}, ["ab", 1], ["a"]),
    "maxLength": ({"maxLength": 2}, ["ab"], ["abc"]),
    "minItems": ({"minItems": 1}, [[1], {}], [[]]),
    "maxItems": ({"maxItems": 1}, [[1]], [[1, 2]]),
    "minProperties": ({"minProperties": 1}, [{"a": 1}], [{}]),
    "maxProperties": ({"maxProperties": 1}, [{"a": 1}], [{"a": 1, "b": 2}]),
    "allOf": ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, [1, 2], [0, 3]),
    "anyOf": ({"anyOf": [{"type": "string"}, {"const": 1}]}, ["a", 1], [2]),
    "oneOf": ({"oneOf": [{"minimum": 1}, {"maximum": 2}]}, [0, 3], [1, 2]),
}
DEFINITIONS = {"$defs": {"word": {"type": "string"}, "tree": {"properties": {"twigs": {"items": {"$ref": "#/$defs/tree"}}, "leaf": {"type": "string"}}}}}


def faults(schema, value, closed=False):
    return Schemas(DEFINITIONS, closed).faults(schema, value)


@test
def every_keyword_is_tried():
    equal(sorted(CASES), sorted(KEYWORDS))


@test
def a_keyword_lets_pass_what_it_is_not_about_and_refuses_what_it_is():
    for keyword, (schema, good, bad) in CASES.items():
        for value in good:
            equal(faults(schema, value), [], "%s with %r" % (keyword, value))
        for value in bad:
            check(faults(schema, value), "%s lets %r pass" % (keyword, value))


@test
def a_fault_says_where():
    schema = {"properties": {"a/b": {"items": {"required": ["c"]}}}}
    equal(faults(schema, {"a/b": [{"c": 1}, {}]}), [("/a~1b/1/c", "is missing")])


@test
def a_schema_may_refer_to_itself():
    tree = {"$ref": "#/$defs/tree"}
    equal(faults(tree, {"twigs": [{"twigs": [{"leaf": "a"}]}]}), [])
    equal([at for at, _ in faults(tree, {"twigs": [{"twigs": [{"leaf": 1}]}]})], ["/twigs/0/twigs/0/leaf"])


@test
def closed_means_that_every_member_is_described_somewhere():
    schema = {"allOf": [{"properties": {"a": {"properties": {"b": True}}}}, {"oneOf": [{"properties": {"c": {"type": "string"}}, "required": ["c"]}, {"required": ["d"]}]}]}
    equal(faults(schema, {"a": {"b": 1}, "c": "x"}, closed=True), [])
    equal([at for at, _ in faults(schema, {"a": {"z": 1}, "c": "x", "y": 1}, closed=True)], ["/a/z", "/y"])
    equal(faults({"type": "object", "additionalProperties": True}, {"z": {"y": 1}}, closed=True), [])
    equal(faults(schema, {"a": {"z": 1}, "c": "x", "y": 1}), [])


@test
def of_several_choices_the_nearest_says_what_is_wrong():
    schema = {"oneOf": [{"required": ["a", "b"]}, {"required": ["a", "c", "d"]}]}
    equal(faults(schema, {"a": 1}), [("/b", "is missing")])


@test
def a_schema_that_is_wrong_is_refused():
    for schema in ({"maxlength": 2}, {"$ref": "#/$defs/none"}, {"$ref": "elsewhere"}, {"items": 7}):
        try:
            faults(schema, [])
        except SchemaError:
            continue
        raise Failed("%r was taken" % schema)


if __name__ == "__main__":
    run()
