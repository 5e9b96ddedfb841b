/* grant.h - deciding on read access: for a package or for a project (chapter 2.4).
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_GRANT_H
#define ADMITD_DAEMON_LIFECYCLE_GRANT_H

#include "daemon/lifecycle/lifecycle.h"
#include "daemon/lifecycle/view.h"

/* What a decision does to packages; all but revision are ids. */
struct lifecycle_impact {
	const struct str *opens; /* packages whose hold it clears */
	size_t open_count;
	const struct str *holds; /* packages it puts on hold */
	size_t hold_count;
	const struct str *stays; /* packages it concerns that stay held */
	size_t stay_count;
	const struct str *overrides; /* packages whose denial a project's approval overrides */
	size_t override_count;
	const struct str *plans; /* proposed tasks of which nothing is blocked any more, by a project's decision */
	size_t plan_count;
	int64_t revision; /* the project's decision revision with it */
};

struct lifecycle_grant {
	struct lifecycle_call call;
	struct str package; /* present: for this package; absent: */
	struct str project; /* for this project */
	enum store_grant_decision decision;
	const struct str *capabilities; /* as written; none: all the package's bounded reads (has_capabilities false) */
	size_t capability_count;
	bool has_capabilities;
	bool replace;       /* a project's: sets instead of adding */
	struct str reason;  /* absent: none */
	int64_t expires_at; /* 0: no end */
	int64_t expected_revision;
	int64_t root_revision; /* with an approval; -1: not said */
	bool dry_run;          /* answers impact, writes nothing */

	struct store_grant grant;  /* out */
	const struct str *granted; /* its capabilities */
	size_t granted_count;
	struct lifecycle_impact impact;
	struct lifecycle_package view; /* of a package's */
	struct lifecycle_action_list
		actions; /* taking an approval away again; none for another decision or a dry run */
};

/* INVALID_DOCUMENT (capabilities, expiresAt, rootRevision, replace), NOT_FOUND, PROJECT_ARCHIVED, PACKAGE_STATUS, REVISION_CONFLICT,
 * ROOT_MISSING, ROOT_CHANGED, SELF_APPROVAL, GRANT_NOT_ASKED, GRANT_INSUFFICIENT, ALREADY_COVERED, NOTHING_TO_REVOKE.
 */
int lifecycle_grant(struct lifecycle *lifecycle, struct lifecycle_grant *call) MUST_USE;

#endif
