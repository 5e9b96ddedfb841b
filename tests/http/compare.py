"""compare.py - an answer against a written example, member for member.

What a daemon invents is named otherwise in each run: ids, times, digests. An invented name of the example stands for one of the
answer, the same wherever it stands, and never two for one. Where the example says "…" anything goes. All the rest must be equal; each
difference is a line with its path.
"""
import re

INVENTED = re.compile(r"\b(?:(?:pkg|grt|run|tok)_[0-9A-Za-z]+|sha256:[0-9a-f]{64})")
WHOLE = re.compile(r"(?:pkg|grt|run|tok)_[0-9A-Za-z]+|sha256:[0-9a-f]{64}")
OPEN = {"req_": re.compile(r"[0-9A-Za-z._-]{1,64}"), "art_": re.compile(r"art_[0-9A-Za-z_-]{20,}"),
        "sha256:": re.compile(r"sha256:[0-9a-f]{64}")}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
CLOCK = re.compile(r"\b(?:\d{1,2} [A-Z][a-z]{2} )?\d\d:\d\d\b")
MISSING = object()


class Names:
    """Which invented name of the examples is which of the answers, over all exchanges."""

    def __init__(self):
        self.found = {}
        self.wanted = {}

    def bind(self, wanted, found):
        """True if the two can be the same thing."""
        kind = re.match(r"[a-z0-9]+[_:]", wanted).group(0)
        if not WHOLE.fullmatch(found) or not found.startswith(kind):
            return False
        return self.found.setdefault(wanted, found) == found and self.wanted.setdefault(found, wanted) == wanted

    def told(self, found):
        """What an answer's name is in the examples, to be read."""
        return " (%s)" % self.wanted[found] if found in self.wanted else ""

    def fill(self, text):
        """The example's text with the answers' names."""
        return INVENTED.sub(lambda match: self.found.get(match.group(0), match.group(0)), text)


class Comparison:
    """Collects differences. `extra` are paths ("/packages/*/aggregate") that an answer may have beyond the example."""

    def __init__(self, names, extra=(), free=()):
        self.names = names
        self.extra = [re.compile(pattern.replace("*", "[^/]+")) for pattern in extra]
        self.free = [re.compile(pattern.replace("*", "[^/]+")) for pattern in free]
        self.differences = []

    def say(self, path, text, *values):
        self.differences.append("%s: %s" % (path or "/", text % values))

    def compare(self, wanted, found, path=""):
        if wanted == "…" or any(pattern.fullmatch(path) for pattern in self.free):
            return
        if isinstance(wanted, str) and isinstance(found, str):
            if not self.same_text(wanted, found):
                self.say(path, "is %r%s, wanted %r%s", found, self.names.told(found), self.names.fill(wanted),
                         " (%s)" % wanted if WHOLE.fullmatch(wanted) else "")
        elif isinstance(wanted, dict) and isinstance(found, dict):
            self.compare_members(wanted, found, path)
        elif isinstance(wanted, list) and isinstance(found, list):
            if len(wanted) != len(found):
                self.say(path, "has %d items, wanted %d: %r", len(found), len(wanted), found)
            for index, pair in enumerate(zip(wanted, found)):
                self.compare(pair[0], pair[1], "%s/%d" % (path, index))
        elif type(wanted) is not type(found) or wanted != found:
            self.say(path, "is %r, wanted %r", found, wanted)

    def compare_members(self, wanted, found, path):
        for key in list(wanted) + [key for key in found if key not in wanted]:
            at = "%s/%s" % (path, key)
            if key not in found:
                self.say(at, "is missing")
            elif key in wanted:
                self.compare(wanted[key], found[key], at)
            elif not any(pattern.fullmatch(at) for pattern in self.extra):
                self.say(at, "is not in the example: %r", found[key])

    def same_text(self, wanted, found):
        if TIME.fullmatch(wanted):
            return bool(TIME.fullmatch(found))
        for prefix, shape in OPEN.items():
            if wanted.startswith(prefix) and wanted.endswith("…"):
                return bool(shape.fullmatch(found))
        if WHOLE.fullmatch(wanted):
            return self.names.bind(wanted, found)
        return CLOCK.sub("HH:MM", self.names.fill(wanted)) == CLOCK.sub("HH:MM", found)
