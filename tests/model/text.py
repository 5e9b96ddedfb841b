"""Text as chapter 1.4 sees it: white space, unsafe text, identities, and which text the redactor (1.10) would touch.

Only the model uses this. It is naive on purpose: short, one rule a line, no care for speed.
"""
import re

# Unicode White_Space, and U+FEFF.
WHITE_SPACE = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff")
TEXT_LIMIT = 240
MAX_INDEX = 2**53 - 1

IDENTITY_LIMIT = {"mcpId": 80, "agent": 80, "requirementKey": 160, "decisionId": 160, "targetId": 160, "id": 160}
NOT_IDENTITIES = {"agent": "unknown", "id": "unknown-subtask"}

_NAME = r"[\w.-]*(?:token|secret|passw(?:or)?d|pwd|api[_ .-]?key|credential|private[_ .-]?key)(?![a-z])[\w.-]*"
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")
_SECRETS = [re.compile(pattern, re.I) for pattern in (
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----",
    r"\b(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|sqlserver|oracle|clickhouse)://\S",
    r"\b[a-z][a-z0-9+.-]*://[^\s/?#@]+@",
    r"\b(?:basic|bearer)\s+\S",
    r"(?<![a-z0-9])gh[pousr]_[a-z0-9]{10,}",
    r"(?<![a-z0-9])github_pat_[a-z0-9_]{10,}",
    r"(?<![a-z0-9])gl[a-z]{2,4}-[a-z0-9_-]{10,}",
    r"(?<![a-z0-9])xox[a-z]-[a-z0-9-]{8,}",
    r"(?<![a-z0-9])sk-[a-z0-9_-]{10,}",
    r"(?<![a-z0-9])(?:AKIA|ASIA)[a-z0-9]{16}",
    r"(?<![a-z0-9])AIza[a-z0-9_-]{30,}",
    r"(?<![a-z0-9])eyJ[a-z0-9_-]{5,}\.[a-z0-9_-]{5,}\.[a-z0-9_-]*",
    r'"auth"\s*:\s*"[^"]+"',
    r"\bmachine\s+\S+\s+login\s+\S+\s+password\s+\S",
    r"^[^\s:]+:\d+:[^\s:]+:[^\s:]+:\S+$",
    r"(?<![\w.-])" + _NAME + r"[\"']?\s*=\s*\S",
)]


def has_secret(text):
    return any(pattern.search(text) for pattern in _SECRETS)


def is_control(char):
    point = ord(char)
    return point < 0x20 or 0x7f <= point <= 0x9f


def is_bidi(char):
    return 0x202a <= ord(char) <= 0x202e or 0x2066 <= ord(char) <= 0x2069


def trim(text):
    start, end = 0, len(text)
    while start < end and text[start] in WHITE_SPACE:
        start += 1
    while end > start and text[end - 1] in WHITE_SPACE:
        end -= 1
    return text[start:end]


def squeeze(text, filler):
    """Trimmed, and each inner run of white space replaced by `filler`."""
    out = []
    for char in trim(text):
        if char not in WHITE_SPACE:
            out.append(char)
        elif out[-1] is not None:
            out.append(None)
    return "".join(filler if char is None else char for char in out)


def is_safe(value):
    if not isinstance(value, str) or len(value) > TEXT_LIMIT or trim(value) == "":
        return False
    if any(is_control(char) or is_bidi(char) for char in value):
        return False
    return not has_secret(value)


def is_identity(field, value):
    if not is_safe(value) or len(value) > IDENTITY_LIMIT[field] or value == NOT_IDENTITIES.get(field):
        return False
    if value != trim(value):
        return False
    if any(a in WHITE_SPACE and b in WHITE_SPACE for a, b in zip(value, value[1:])):
        return False
    if field == "mcpId":
        return re.fullmatch(r"[a-z0-9][a-z0-9_-]*", value) is not None
    if field == "requirementKey":
        return not any(char in WHITE_SPACE for char in value)
    return True


def shown(field, value):
    """How an identity is shown: itself; or, malformed but safe, trimmed, folded and cut; or None."""
    if is_identity(field, value):
        return value
    if not is_safe(value):
        return None
    return squeeze(value, " ")[:IDENTITY_LIMIT[field]]


def is_index(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 0 <= value <= MAX_INDEX and value == int(value)


def normalize(text):
    lowered = "".join(char.lower() if "A" <= char <= "Z" else char for char in trim(text))
    return squeeze(lowered, "_")


def display(text):
    """A text from outside as it enters a decision (1.10), for text in which there is nothing to redact."""
    visible = (char for char in _ANSI.sub("", text)
               if char in WHITE_SPACE or not (is_control(char) or is_bidi(char)))
    return trim(squeeze("".join(visible), " ")[:TEXT_LIMIT])
