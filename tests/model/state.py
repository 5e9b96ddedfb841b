"""What is known of the world: health rows and effective grant states (chapter 1.6)."""
import re

from capability import is_packet_read, owner, spellings
from text import display

MAX_COVERED = 30
UNSET = object()

INSTALL_STATES = ("installed", "missing")
HEALTH_STATUSES = ("healthy", "unhealthy", "disabled", "auth_required", "configuration_required", "unknown")
REVOCATIONS = ("project_grant_removed", "project_grant_narrowed", "project_root_repoint", "grant_expired",
               "package_grant_removed")


def is_one_of(value, words):
    return isinstance(value, str) and value in words


def is_rfc3339(value):
    match = isinstance(value, str) and re.fullmatch(
        r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?([Zz]|[+-]([0-9]{2}):([0-9]{2}))",
        value)
    if not match:
        return False
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not 1 <= month <= 12 or not 1 <= day <= (31, 29 if is_leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]:
        return False
    in_day = int(match[4]) < 24 and int(match[5]) < 60 and int(match[6]) <= 60
    return in_day and (match[9] is None or int(match[9]) < 24 and int(match[10]) < 60)


def is_health_row(row, mcp):
    return (isinstance(row, dict) and row.get("mcpId") == mcp and is_one_of(row.get("installState"), INSTALL_STATES)
            and is_one_of(row.get("status"), HEALTH_STATUSES) and isinstance(row.get("enabled"), bool)
            and "error" in row and (row["error"] is None or isinstance(row["error"], str))
            and is_rfc3339(row.get("checkedAt")))


def snapshot(mcp, row):
    if row is None:
        return {"schemaVersion": 1, "observed": False, "mcpId": mcp, "installState": "unknown", "status": "unknown",
                "enabled": False, "error": None, "checkedAt": None}
    return {"schemaVersion": 1, "observed": True, "mcpId": mcp, "installState": row["installState"],
            "status": row["status"], "enabled": row["enabled"],
            "error": None if row["error"] is None else display(row["error"]), "checkedAt": row["checkedAt"]}


def is_healthy(health):
    return health["installState"] == "installed" and health["enabled"] and health["status"] == "healthy"


def is_coherent(catalog, state):
    if not isinstance(state, dict):
        return False
    covered = state.get("coveredCapabilities")
    if not isinstance(covered, list) or len(covered) > MAX_COVERED:
        return False
    if not all(is_packet_read(catalog, item) for item in covered):
        return False
    if "grantApprovalId" in state and not isinstance(state["grantApprovalId"], str):
        return False

    phase, source, status = state.get("phase"), state.get("source"), state.get("status")
    mode, consumed = state.get("grantMode", UNSET), state.get("consumed", UNSET)
    reason = state.get("revocationReason", UNSET)
    if is_one_of(phase, ("none", "proposed", "not_issued")):
        return (source, status) == ("none", "not_issued") and mode is consumed is reason is UNSET and covered == []
    if phase == "denied":
        return (source, status) == ("package-local", "denied") and mode is consumed is reason is UNSET and covered == []
    if phase == "revoked":
        return (is_one_of(source, ("project-level", "package-local")) and status == "not_issued"
                and mode is consumed is UNSET and is_one_of(reason, REVOCATIONS))
    if phase != "approved" or status != "approved" or reason is not UNSET:
        return False
    if (source, mode) == ("package-local", "allow_once"):
        return consumed is UNSET or isinstance(consumed, bool)
    if mode == "always_allow" and is_one_of(source, ("project-level", "package-local")):
        return consumed is UNSET or consumed is False
    return False


def covers(catalog, state, mcp, reads):
    if state["phase"] != "approved" or state.get("consumed") is True:
        return False
    covered = set()
    for item in state["coveredCapabilities"]:
        covered |= spellings(catalog, owner(catalog, item), item)
    return all(spellings(catalog, mcp, read) & covered for read in reads)
