"""schema.py - JSON Schema (2020-12), as much of it as docs/openapi.json uses, on the standard library alone.

    schemas = Schemas(document)
    for where, what in schemas.faults(document["components"]["schemas"]["Task"], value): ...

Schemas become functions once; references are resolved within the document. An unknown keyword is an error of the schema, so that
a typo can't make a check vanish. `format` and other annotations are not checked.

With closed=True a member that no schema describes is a fault, unless that object has `additionalProperties` of its own: what a
client must tolerate, the documentation must still name.
"""
import re

ANNOTATIONS = frozenset(("title", "description", "default", "examples", "example", "format", "deprecated", "readOnly", "writeOnly",
                         "$defs", "$comment", "discriminator"))
ALL = frozenset(("*",))     # every member of the object is described
NONE = frozenset()


class SchemaError(Exception):
    """The schema itself is wrong."""


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


TYPES = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": is_integer,
    "number": lambda value: isinstance(value, float) or is_integer(value),
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def same(one, other):
    """Equal as JSON: true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(*pair) for pair in zip(one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


def step(name):
    """A token of a JSON pointer."""
    return "/" + str(name).replace("~", "~0").replace("/", "~1")


def at_pointer(document, reference):
    """What a reference within the document points to."""
    if not reference.startswith("#/"):
        raise SchemaError("%s is no reference within the document" % reference)
    found = document
    for token in reference[2:].split("/"):
        token = token.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, dict) or token not in found:
            raise SchemaError("%s points to nothing" % reference)
        found = found[token]
    return found


class Schemas:
    """The schemas of one document. A compiled schema is a function of (value, at, faults) that appends (pointer, text) for each
    fault and returns the names of the members that it describes."""

    def __init__(self, document, closed=False):
        self.document = document
        self.closed = closed
        self.compiled = {}
        self.kept = []      # compiled schemas are known by identity, which lasts as long as they do

    def faults(self, schema, value):
        """Every fault of `value`: a list of (JSON pointer, text)."""
        found = []
        self.place(schema)(value, "", found)
        return found

    # ---- one place of the value: all of its members must be known there

    def place(self, schema):
        check = self.compile(schema)
        if not self.closed:
            return check

        def closed(value, at, faults):
            known = check(value, at, faults)
            if isinstance(value, dict) and known is not ALL:
                for name in value:
                    if name not in known:
                        faults.append((at + step(name), "is not described"))
            return known

        return closed

    # ---- one schema

    def compile(self, schema):
        if schema is True:
            return lambda value, at, faults: ALL
        if schema is False:
            return lambda value, at, faults: faults.append((at, "must not be there")) or NONE
        if not isinstance(schema, dict):
            raise SchemaError("%r is no schema" % (schema,))
        if id(schema) not in self.compiled:
            # A schema may refer to itself: it is found here while it is still being made.
            self.compiled[id(schema)] = None
            self.kept.append(schema)
            self.compiled[id(schema)] = self.make(schema)
        if self.compiled[id(schema)] is None:
            return lambda value, at, faults: self.compiled[id(schema)](value, at, faults)
        return self.compiled[id(schema)]

    def make(self, schema):
        checks = []
        for keyword, operand in schema.items():
            if keyword in ANNOTATIONS or keyword.startswith("x-"):
                continue
            maker = KEYWORDS.get(keyword)
            if maker is None:
                raise SchemaError("%s is a keyword that isn't checked" % keyword)
            check = maker(self, operand, schema)
            if check is not None:
                checks.append(check)
        if len(checks) == 1:
            return checks[0]

        def every(value, at, faults):
            known = NONE
            for check in checks:
                more = check(value, at, faults)
                if more:
                    known = ALL if known is ALL or more is ALL else known | more
            return known

        return every


# ---- keywords: each gives a compiled check, or None where another keyword does its work

def make_ref(schemas, reference, _schema):
    return schemas.compile(at_pointer(schemas.document, reference))


def make_type(_schemas, names, _schema):
    names = [names] if isinstance(names, str) else names
    tests = [TYPES[name] for name in names]

    def check(value, at, faults):
        if not any(test(value) for test in tests):
            faults.append((at, "is %.60r, not %s" % (value, " or ".join(names))))
        return NONE

    return check


def make_enum(_schemas, values, _schema):
    def check(value, at, faults):
        if not any(same(value, one) for one in values):
            faults.append((at, "is %.60r, none of %s" % (value, values)))
        return NONE

    return check


def make_const(schemas, value, schema):
    return make_enum(schemas, [value], schema)


def make_object(schemas, _operand, schema):
    """properties, patternProperties and additionalProperties together."""
    named = {name: schemas.place(one) for name, one in schema.get("properties", {}).items()}
    patterns = [(re.compile(text), schemas.place(one)) for text, one in schema.get("patternProperties", {}).items()]
    others = schemas.place(schema["additionalProperties"]) if "additionalProperties" in schema else None
    known = frozenset(named)

    def check(value, at, faults):
        if not isinstance(value, dict):
            return NONE
        seen = known
        for name, item in value.items():
            tests = [named[name]] if name in named else []
            tests += [test for pattern, test in patterns if pattern.search(name)]
            if not tests and others is not None:
                tests = [others]
            if tests and name not in seen:
                seen = seen | {name}
            for test in tests:
                test(item, at + step(name), faults)
        return ALL if others is not None else seen

    return check


def make_once(first):
    """`maker` runs for the first of the keywords that the schema has; the others are part of it."""
    def maker(schemas, operand, schema):
        present = [name for name in first if name in schema]
        return make_object(schemas, operand, schema) if schema[present[0]] is operand else None
    return maker


make_members = make_once(("properties", "patternProperties", "additionalProperties"))


def make_property_names(schemas, schema, _schema):
    test = schemas.compile(schema)

    def check(value, at, faults):
        for name in value if isinstance(value, dict) else ():
            test(name, at + step(name), faults)
        return NONE

    return check


def make_required(_schemas, names, _schema):
    def check(value, at, faults):
        if isinstance(value, dict):
            for name in names:
                if name not in value:
                    faults.append((at + step(name), "is missing"))
        return NONE

    return check


def make_items(schemas, schema, _schema):
    test = schemas.place(schema)

    def check(value, at, faults):
        if isinstance(value, list):
            for number, item in enumerate(value):
                test(item, "%s/%d" % (at, number), faults)
        return NONE

    return check


def make_unique(_schemas, wanted, _schema):
    def check(value, at, faults):
        if wanted and isinstance(value, list):
            for number, item in enumerate(value):
                if any(same(item, other) for other in value[:number]):
                    faults.append(("%s/%d" % (at, number), "is there twice"))
        return NONE

    return check


def make_pattern(_schemas, text, _schema):
    pattern = re.compile(text)

    def check(value, at, faults):
        if isinstance(value, str) and not pattern.search(value):
            faults.append((at, "%.60r doesn't match %s" % (value, text)))
        return NONE

    return check


def make_bound(of, allows, text):
    """A check that `allows(of(value), operand)`, where `of` gives None for values that it isn't about."""
    def maker(_schemas, operand, _schema):
        def check(value, at, faults):
            measure = of(value)
            if measure is not None and not allows(measure, operand):
                faults.append((at, "is %s, %s %s" % (measure, text, operand)))
            return NONE

        return check

    return maker


def number_of(value):
    return value if TYPES["number"](value) else None


def length_of(kind):
    return lambda value: len(value) if isinstance(value, kind) else None


def at_least(measure, bound):
    return measure >= bound


def at_most(measure, bound):
    return measure <= bound


def make_all_of(schemas, parts, _schema):
    tests = [schemas.compile(part) for part in parts]

    def check(value, at, faults):
        known = NONE
        for test in tests:
            more = test(value, at, faults)
            known = ALL if known is ALL or more is ALL else known | more
        return known

    return check


def make_choice(is_enough, text):
    def maker(schemas, parts, _schema):
        tests = [schemas.compile(part) for part in parts]

        def check(value, at, faults):
            known, count, nearest = NONE, 0, None
            for test in tests:
                found = []
                more = test(value, at, found)
                if not found:
                    count += 1
                    known = ALL if known is ALL or more is ALL else known | more
                elif nearest is None or len(found) < len(nearest):
                    nearest = found
            if count == 0:
                faults.extend(nearest or [(at, "is none of the choices")])
            elif not is_enough(count):
                faults.append((at, text % count))
            return known

        return check

    return maker


KEYWORDS = {
    "$ref": make_ref,
    "type": make_type,
    "enum": make_enum,
    "const": make_const,
    "properties": make_members,
    "patternProperties": make_members,
    "additionalProperties": make_members,
    "propertyNames": make_property_names,
    "required": make_required,
    "items": make_items,
    "uniqueItems": make_unique,
    "pattern": make_pattern,
    "minimum": make_bound(number_of, at_least, "not at least"),
    "maximum": make_bound(number_of, at_most, "not at most"),
    "minLength": make_bound(length_of(str), at_least, "characters, not at least"),
    "maxLength": make_bound(length_of(str), at_most, "characters, not at most"),
    "minItems": make_bound(length_of(list), at_least, "items, not at least"),
    "maxItems": make_bound(length_of(list), at_most, "items, not at most"),
    "minProperties": make_bound(length_of(dict), at_least, "members, not at least"),
    "maxProperties": make_bound(length_of(dict), at_most, "members, not at most"),
    "allOf": make_all_of,
    "anyOf": make_choice(lambda count: count >= 1, "%d"),
    "oneOf": make_choice(lambda count: count == 1, "is %d of the choices, not one"),
}
