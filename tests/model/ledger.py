"""The ledger of grants and what a requirement may read by it (chapter 2.4), as plainly as it can be said.

Nothing here reads a clock: a grant is expired once its due record exists.
"""


class Grant:
    """One row. It is never changed, but for what a due record and a run say of it."""

    def __init__(self, **fields):
        self.name = fields["name"]
        self.package = fields["package"]            # the package's name, or None: the project's
        self.decision = fields["decision"]
        self.capabilities = frozenset(fields["capabilities"])
        self.dropped = frozenset(fields["dropped"])
        self.revision = fields["revision"]
        self.root_revision = fields["root_revision"]
        self.has_end = fields["has_end"]
        self.replaces = fields["replaces"]          # name of the grant it replaces, or None
        self.expired = False
        self.used_by = None                         # name of a run

    @property
    def mode(self):
        return "allow_once" if self.package else "always_allow"


def latest(grants):
    return grants[-1] if grants else None


def is_usable(record, root_revision, needs):
    """2.4: `record` is the project's latest."""
    return (record is not None and record.decision == "approved" and record.root_revision == root_revision
            and not record.expired and needs <= record.capabilities)


def stands(record, root_revision, live_run=None):
    """Something is there to revoke: an approval that still opens what it names, or lets the run that used it up read on (2.5)."""
    return (record is not None and record.decision == "approved" and record.root_revision == root_revision
            and not record.expired and record.used_by in (None, live_run))


def dropped_by(earlier, root_revision, capabilities):
    """`dropped` of a record that follows `earlier` in a project."""
    if earlier is None or earlier.root_revision != root_revision:
        return frozenset()
    return (earlier.dropped | earlier.capabilities) - frozenset(capabilities)


def approved(record, source, mode):
    state = {"phase": "approved", "source": source, "status": "approved", "grantMode": mode,
             "coveredCapabilities": sorted(record.capabilities)}
    if mode == "allow_once":
        state["consumed"] = record.used_by is not None
    return state


def revoked(source, reason):
    return {"phase": "revoked", "source": source, "status": "not_issued", "revocationReason": reason, "coveredCapabilities": []}


DENIED = {"phase": "denied", "source": "package-local", "status": "denied", "coveredCapabilities": []}
PROPOSED = {"phase": "proposed", "source": "none", "status": "not_issued", "coveredCapabilities": []}


def effective(own, projects, root_revision, needs):
    """(row of the table, effective grant state, the record it came from); `own` is the package's latest, `projects` the project's."""
    row, state = by_the_table(own, projects, root_revision, needs)
    return row, state, projects if state["source"] == "project-level" else own


def by_the_table(own, projects, root_revision, needs):
    usable = is_usable(projects, root_revision, needs)
    current = own is not None and own.root_revision == root_revision
    project_level = approved(projects, "project-level", "always_allow") if usable else None
    is_later = usable and own is not None and projects.revision > own.revision

    if current and own.decision == "denied":
        return ("P1", project_level) if is_later else ("P2", DENIED)
    if (current and own.decision == "approved" and not own.expired and own.used_by is None and needs <= own.capabilities
            and not is_later):
        return "P3", approved(own, "package-local", "allow_once")
    if usable:
        return "P4", project_level
    if own is not None:
        return of_package(own, current)
    return of_project(projects, root_revision, needs)


def of_package(own, current):
    """P5 to P8: the project's record is not usable."""
    if current and own.decision == "approved" and not own.expired:
        return "P5", approved(own, "package-local", "allow_once")
    if not current:
        return "P6", revoked("package-local", "project_root_repoint")
    if own.decision == "approved":
        return "P7", revoked("package-local", "grant_expired")
    return "P8", revoked("package-local", "package_grant_removed")


def of_project(record, root_revision, needs):
    """P9 to P13: the package has no record, and the project's is not usable."""
    if record is None:
        return "P13", PROPOSED
    if record.decision == "revoked":
        return "P9", revoked("project-level", "project_grant_removed")
    if record.root_revision != root_revision:
        return "P10", revoked("project-level", "project_root_repoint")
    if needs & record.dropped:
        return "P11", revoked("project-level", "project_grant_narrowed")
    if record.expired and needs & record.capabilities:
        return "P12", revoked("project-level", "grant_expired")
    return "P13", PROPOSED


def arm_of(state, root_revision):
    """The arm of `needs_grant` (2.2)."""
    if root_revision == 0:
        return "no_root"
    if state["phase"] == "approved":
        return "used_up" if state.get("consumed") else "insufficient"
    if state["phase"] == "revoked":
        return {"project_grant_removed": "removed", "project_grant_narrowed": "narrowed", "project_root_repoint": "root_changed",
                "grant_expired": "expired", "package_grant_removed": "taken_back"}[state["revocationReason"]]
    return "denied" if state["phase"] == "denied" else "never_approved"
