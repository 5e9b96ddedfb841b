/* grant.h - deciding on read access: for a package or for a project (chapter 2.4).
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_GRANT_H
#define ADMITD_DAEMON_LIFECYCLE_GRANT_H

#include "daemon/lifecycle/lifecycle.h"
#include "daemon/lifecycle/view.h"

enum lifecycle_effect {
	LIFECYCLE_EFFECT_STARTS = 0, /* no hold is in its way any more */
	LIFECYCLE_EFFECT_PLAN,       /* the same of a plan that isn't approved yet */
	LIFECYCLE_EFFECT_HOLDS,
	LIFECYCLE_EFFECT_STAYS,     /* it concerns them and they stay held */
	LIFECYCLE_EFFECT_OVERRIDES, /* their denial */
	LIFECYCLE_EFFECT_KEEPS,     /* they run, and keep what they were given */
	LIFECYCLE_EFFECT_MORE,      /* what didn't go into the list */
	LIFECYCLE_EFFECT_COUNT
};

/* The wire word: `starts`, … */
const char *lifecycle_effect_name(enum lifecycle_effect effect);

struct lifecycle_named {
	struct str id;
	struct str label;
};

/* One thing that a decision would do, as people read it; packages of one plan that isn't approved share a line. */
struct lifecycle_impact_line {
	enum lifecycle_effect effect;
	const char *sign; /* as in an operator's state */
	const char *tone;
	struct str text; /* what it happens to */
	struct str does; /* what happens */
	struct lifecycle_named *packages;
	size_t package_count;
	struct str task;
	struct str title; /* of a plan that isn't approved */
	bool has_state;   /* why they are held then */
	struct lifecycle_state state;
};

/* What a decision does to packages; the first five are ids. */
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

	/* of a rehearsal only */
	struct str headline;
	struct str brief; /* for a button: "opens 3"; absent: it changes no hold */
	const struct lifecycle_impact_line *lines;
	size_t line_count;
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
	struct lifecycle_package view;        /* of a package's */
	struct lifecycle_action_list actions; /* what takes it back; none in a rehearsal */
	struct str no_undo;                   /* why nothing does; absent: something does */
};

/* INVALID_DOCUMENT (capabilities, expiresAt, rootRevision, replace), NOT_FOUND, PROJECT_ARCHIVED, PACKAGE_STATUS, REVISION_CONFLICT,
 * ROOT_MISSING, ROOT_CHANGED, SELF_APPROVAL, GRANT_NOT_ASKED, GRANT_INSUFFICIENT, ALREADY_COVERED, NOTHING_TO_REVOKE.
 */
int lifecycle_grant(struct lifecycle *lifecycle, struct lifecycle_grant *call) MUST_USE;

#endif
