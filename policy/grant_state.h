/* grant_state.h - the effective grant state a requirement is decided with (chapter 1.6).
 *
 * The lifecycle makes it from the ledger (chapter 2.4); `evaluate` reads it from JSON. An incoherent one blocks
 * the requirement on row 0. Pure, any thread.
 */
#ifndef ADMITD_POLICY_GRANT_STATE_H
#define ADMITD_POLICY_GRANT_STATE_H

#include <jansson.h>
#include <stdbool.h>

#include "policy/arena.h"
#include "policy/catalog.h"
#include "policy/json_out.h"

enum { GRANT_COVERED_LIMIT = 30 };

enum grant_phase {
	GRANT_PHASE_NONE = 0,
	GRANT_PHASE_PROPOSED,
	GRANT_PHASE_NOT_ISSUED,
	GRANT_PHASE_DENIED,
	GRANT_PHASE_REVOKED,
	GRANT_PHASE_APPROVED,
};

enum grant_source { GRANT_SOURCE_NONE = 0, GRANT_SOURCE_PACKAGE_LOCAL, GRANT_SOURCE_PROJECT_LEVEL };

enum grant_mode { GRANT_MODE_NONE = 0, GRANT_MODE_ALLOW_ONCE, GRANT_MODE_ALWAYS_ALLOW };

enum revocation_reason {
	REVOCATION_NONE = 0,
	REVOCATION_PROJECT_GRANT_REMOVED,
	REVOCATION_PROJECT_GRANT_NARROWED,
	REVOCATION_PROJECT_ROOT_REPOINT,
	REVOCATION_GRANT_EXPIRED,
	REVOCATION_PACKAGE_GRANT_REMOVED,
};

/* The zero value is "never approved", coherent. `status` is not kept: the phase implies it. */
struct grant_state {
	enum grant_phase phase;
	enum grant_source source;
	enum grant_mode mode;
	enum revocation_reason reason;
	bool is_incoherent;
	bool has_consumed; /* whether `consumed` was said at all: the decision shows what the state has */
	bool consumed;
	const struct catalog_capability *const *covered; /* bounded reads with a producer; borrowed */
	size_t covered_count;
	struct str approval_id; /* absent when there is none */
};

/* Reads one state from JSON; never refuses: an incoherent one is marked. 0 or -ENOMEM. */
int grant_state_read(struct arena *arena, const struct catalog *catalog, const json_t *value,
	struct grant_state *ret_state) MUST_USE;

/* Approved, not consumed. Whether it covers is the requirement's question. */
bool grant_state_is_usable(const struct grant_state *state);
bool grant_state_covers(const struct grant_state *state, const struct catalog_capability *capability);

/* The state as an object that grant_state_read() reads back to an equal one, members in byte-wise order; what is covered in the
 * catalog's order, each once. An incoherent state is written as {"incoherent":true}.
 */
void grant_state_write(const struct grant_state *state, struct json_out *out);

const char *grant_phase_name(enum grant_phase phase);
const char *grant_source_name(enum grant_source source);
const char *grant_mode_name(enum grant_mode mode);            /* NULL for none */
const char *revocation_reason_name(enum revocation_reason r); /* NULL for none */

#endif
