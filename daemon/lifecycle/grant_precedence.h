/* grant_precedence.h - which record of the ledger counts (chapter 2.4, rows P1 to P13).
 *
 * One pure function over the latest record of the package, the latest of the project, what one requirement needs, the
 * revision of the current root and whether the package's one-time approval was used. It reads no clock: a record
 * is expired when its due record exists, which the caller says. Records are ordered by revision, never by time. Every
 * combination lands on exactly one row and gives a coherent grant state (chapter 1.6). May use policy only; any thread.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_GRANT_PRECEDENCE_H
#define ADMITD_DAEMON_LIFECYCLE_GRANT_PRECEDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/grant_state.h"

/* PRECEDENCE_NO_RECORD: there is none. A project's record is never denied; a package's approval is allow_once. */
enum precedence_decision {
	PRECEDENCE_NO_RECORD = 0,
	PRECEDENCE_DENIED,
	PRECEDENCE_REVOKED,
	PRECEDENCE_APPROVED,
};

/* Capabilities under the current catalog; those it no longer reads through a packet are left out by the caller. */
struct precedence_set {
	const struct catalog_capability *const *items;
	size_t count;
};

struct precedence_record {
	enum precedence_decision decision;
	bool is_expired; /* its due record exists */
	int64_t revision;
	int64_t root_revision; /* of the root it was made for */
	struct precedence_set capabilities;
	struct precedence_set dropped; /* of a project's record */
	struct str id;
};

struct precedence_input {
	struct precedence_record package;
	struct precedence_record project;
	struct precedence_set needs; /* the bounded reads of the requirement; not empty */
	int64_t root_revision;       /* of the current root; 0: none */
	bool is_consumed;            /* a run was given the package's record */
};

enum precedence_row {
	PRECEDENCE_P1 = 1,
	PRECEDENCE_P2,
	PRECEDENCE_P3,
	PRECEDENCE_P4,
	PRECEDENCE_P5,
	PRECEDENCE_P6,
	PRECEDENCE_P7,
	PRECEDENCE_P8,
	PRECEDENCE_P9,
	PRECEDENCE_P10,
	PRECEDENCE_P11,
	PRECEDENCE_P12,
	PRECEDENCE_P13,
};

/* The row that decides, and the effective state, which borrows from `input`. A state's coverage has at most
 * GRANT_COVERED_LIMIT capabilities; of a longer record those that are needed.
 */
enum precedence_row grant_precedence(const struct precedence_input *input, struct grant_state *ret_state);

/* Approved for the current root, not expired, and covering all that is needed: "usable" of 2.4. */
bool grant_precedence_is_usable(
	const struct precedence_record *record, const struct precedence_set *needs, int64_t root_revision);

bool precedence_set_has(const struct precedence_set *set, const struct catalog_capability *capability);
/* Whether every item of `needs` is in `set`. */
bool precedence_set_covers(const struct precedence_set *set, const struct precedence_set *needs);

#endif
