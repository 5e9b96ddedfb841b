/* world.h - what one transaction sees of a project, and a package judged on it; not for other rooms.
 *
 * world_open() reads the project, its grant record and its health once; world_judge() evaluates one package. Compiled
 * packages are held until world_close(); what must live longer is copied. Everything else lives in the transaction's arena.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_WORLD_H
#define ADMITD_DAEMON_LIFECYCLE_WORLD_H

#include "daemon/lifecycle/grant_precedence.h"
#include "daemon/lifecycle/hold.h"
#include "daemon/lifecycle/lifecycle_inner.h"
#include "daemon/lifecycle/plan.h"
#include "daemon/store/event.h"
#include "daemon/store/grant.h"
#include "daemon/store/health.h"
#include "daemon/store/package.h"
#include "daemon/store/project.h"
#include "policy/admission.h"
#include "policy/projection.h"

struct world_holder {
	struct cached_package *taken;
	struct world_holder *next;
};

struct world {
	struct lifecycle *lifecycle;
	struct lifecycle_call *call; /* whose actor and time go into what is written */
	struct store_tx *tx;
	struct arena *arena;
	const struct catalog *catalog;
	struct store_project project;
	bool has_root;
	bool asks; /* a surface: health that is too old is asked before the judgement */
	bool has_grant;
	struct store_grant grant; /* the project's latest record */
	struct precedence_record record;
	struct store_health_list health;
	struct store_server_list servers;
	bool has_package_grants;
	struct store_grant_list package_grants; /* of all unfinished packages, by package id */
	bool has_own_reads;
	struct precedence_set own_reads; /* self_approval_reads() */
	struct world_holder *holders;
	struct world *next; /* of a list that a handoff of several projects keeps */
};

/* 0, LIFECYCLE_NOT_FOUND, CALL_DUE_FIRST (for an operation, met.h), or -errno. Zero the struct or open it; then close it
 * (CLEANUP(world_close)).
 */
int world_open(struct store_tx *tx, struct lifecycle_call *call, struct str project, struct world *ret) MUST_USE;
/* Reads again what a change of this transaction may have changed. */
int world_reread(struct world *world) MUST_USE;
/* Reads the records of all packages in one query, for judging many. */
int world_read_grants(struct world *world) MUST_USE;
void world_close(struct world *world);

/* A tool server that the project has set; NULL: none. */
const struct store_server *world_server(const struct world *world, struct str mcp_id);

/* A package as it comes to be judged: a stored one, or one of a plan. */
struct subject {
	const struct store_package *row; /* NULL: not stored */
	const struct plan_package *plan; /* when not stored */
	struct str label;
	struct str agent;
	const struct package *package;
	bool has_grant;
	struct store_grant grant; /* the package's latest record */
	struct precedence_record record;
	bool is_consumed;
	struct str *prompt; /* keys of its overlays, sorted */
	size_t prompt_count;
	const struct catalog_capability **asked; /* every bounded read it needs a grant for, by name, once each */
	size_t asked_count;
};

int subject_of_row(struct world *world, const struct store_package *row, struct subject *ret) MUST_USE;
int subject_of_plan(struct world *world, const struct plan_package *plan, struct subject *ret) MUST_USE;

struct verdict {
	struct subject subject;
	struct admission_inputs inputs;
	struct admission admission;
	struct str inputs_json; /* canonical */
	struct str decision_id;
	bool is_held;
	struct hold_origin origin;
};

/* 0, CALL_ASK_HEALTH or CALL_INPUTS_CHANGED (only where world->asks), or -errno. */
int world_judge(struct world *world, const struct subject *subject, struct verdict *ret) MUST_USE;

/* The bounded reads of one requirement, as precedence needs them. */
int world_needs(struct world *world, const struct requirement *requirement, struct precedence_set *ret) MUST_USE;

/* The result as it is stored, without checkedAt and error texts, into an empty buffer. 0 or -errno. */
int verdict_result(const struct verdict *verdict, struct buf *ret_result) MUST_USE;
/* Stores the decision of a verdict; an id that is there must have the same result (2.1), else -EUCLEAN. */
int verdict_store(struct world *world, const struct verdict *verdict) MUST_USE;

/* Capabilities of a ledger's JSON array that the catalog still reads through a packet. */
int world_read_set(struct world *world, struct str json, struct precedence_set *ret) MUST_USE;

#endif
