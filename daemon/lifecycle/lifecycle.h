/* lifecycle.h - chapter 2 as code: what is asked of the engine when, and what is written with the answer.
 *
 * The room knows no HTTP: an operation is a struct with a typed request and a typed outcome; http turns a body into the one and
 * the other into an answer. It may use daemon/store, daemon/health and policy. It prints nothing. Other headers of this room
 * hold the operations: plan.h, project.h, surface.h, grant.h, outcome.h, move.h, report.h, and read views in view.h.
 *
 * Calls. Every operation begins with a `struct lifecycle_call`. The caller owns the struct, what the request points to, and the
 * arena, until the end of the call; the outcome lives in that arena, which the lifecycle resets before it writes there, so
 * nothing of the request may live in it. With `done` the call is asynchronous: the function answers 0 when it was accepted and
 * `done` is called exactly once, from another thread or (previews) before the function returns; another answer means
 * that `done` won't be called. Without `done` it waits and returns the result: for tests and start-up.
 *
 * Results. 0 done; enum lifecycle_result: a refusal, one for each code of chapter 4.4, with `refusal` filled as documented there;
 * negative: -errno, an internal fault (500): nothing was changed. What a refusal leaves behind is said with its operation.
 *
 * Invariants
 *  L1 Every change of state, its events and the reconciliation it causes are one transaction.
 *  L2 A hold is what the last reconciliation found (2.2), never stale: whatever can change it reconciles.
 *  L3 Inside a transaction nothing is asked but the store: no file, clock or server. Times are taken before it.
 *  L4 `run` of an operation may run twice; it starts from its request alone.
 *
 * Any thread, unless said otherwise.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_LIFECYCLE_H
#define ADMITD_DAEMON_LIFECYCLE_LIFECYCLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/store/store.h"
#include "policy/catalog.h"

struct lifecycle;
struct prober_client;
struct seal_key;

enum lifecycle_result {
	LIFECYCLE_DONE = 0,
	LIFECYCLE_INVALID_DOCUMENT,       /* refusal.faults */
	LIFECYCLE_FORBIDDEN,              /* not the run's token and not who claimed it */
	LIFECYCLE_NOT_EXECUTOR,           /* no operator, and ran nothing that depends on the package */
	LIFECYCLE_SELF_APPROVAL,          /* the actor is a contributor (4.1) */
	LIFECYCLE_NOT_FOUND,              /* unknown, or outside the scope */
	LIFECYCLE_ADMISSION_BLOCKED,      /* the outcome says what blocks */
	LIFECYCLE_INPUTS_CHANGED,         /* three times in a row; try again at once */
	LIFECYCLE_PLAN_REVISION_CONFLICT, /* refusal.revision: the current one */
	LIFECYCLE_REVISION_CONFLICT,      /* refusal.revision and the record that made it */
	LIFECYCLE_ROOT_CHANGED,           /* refusal.revision: the root's */
	LIFECYCLE_PRECONDITION_FAILED,    /* refusal: the record as it stands; revision 0 = there is none */
	LIFECYCLE_TASK_STATUS,            /* refusal.status */
	LIFECYCLE_PACKAGE_STATUS,         /* refusal.status */
	LIFECYCLE_ALREADY_COVERED,        /* refusal: the project's record */
	LIFECYCLE_NOTHING_TO_REVOKE,      /* refusal: the latest record, if any */
	LIFECYCLE_RUN_ACTIVE,             /* refusal.ids: runs */
	LIFECYCLE_RUN_ENDED,              /* refusal.status: the outcome the daemon gave it */
	LIFECYCLE_OUTCOME_CONFLICT,       /* refusal.status: the outcome that was reported */
	LIFECYCLE_GRANT_WITHDRAWN,        /* a grant that the run names no longer stands */
	LIFECYCLE_HAS_DEPENDENTS,         /* refusal.ids: packages */
	LIFECYCLE_NOT_RETRYABLE,          /* refusal.status: the package's */
	LIFECYCLE_PROJECT_ARCHIVED,       /**/
	LIFECYCLE_TASK_EXISTS,            /* the id belongs to a task of another project */
	LIFECYCLE_STALE_OBSERVATION,      /* refusal.at: of the stored one */
	LIFECYCLE_GRANT_NOT_ASKED,        /* refusal.ids: capabilities */
	LIFECYCLE_GRANT_INSUFFICIENT,     /* refusal.ids: the missing capabilities */
	LIFECYCLE_ROOT_MISSING,           /**/
	LIFECYCLE_ROOT_NOT_ALLOWED,       /* not a directory that opens, or outside what is allowed */
	LIFECYCLE_QUEUE_FULL,             /**/
	LIFECYCLE_JOBS_FULL,              /**/
	LIFECYCLE_NOT_STORED,             /**/
	LIFECYCLE_SHUTTING_DOWN,          /**/
	LIFECYCLE_OUTCOME_UNKNOWN,        /**/
	LIFECYCLE_NOTHING_READY,          /* handoff of the next: none is left (204) */
	LIFECYCLE_RESULT_COUNT
};

/* The code of chapter 4.4 (`admission_blocked`); NULL for DONE and NOTHING_READY. */
const char *lifecycle_result_code(int result);

/* A fault of a document: an RFC 6901 pointer into it, and what is wrong, in our words. */
struct lifecycle_fault {
	struct str pointer;
	struct str text;
};

/* What goes with a refusal; absent members don't apply. */
struct lifecycle_refusal {
	int64_t revision;         /* current; -1: doesn't apply */
	struct str status;        /* wire word of a task, a package, or an outcome */
	struct store_actor actor; /* who made the current record, when and why */
	int64_t at;
	struct str reason;
	struct str detail; /* a sentence for people; absent: the usual one */
	const struct str *ids;
	size_t id_count;
	const struct lifecycle_fault *faults;
	size_t fault_count;
};

/* What a writer that replaces asks of the record as it stands (4.1); zeroed: nothing. */
struct lifecycle_condition {
	bool has_revision; /* it is there, with this revision */
	int64_t revision;
	bool only_there;
	bool only_new; /* there is none */
};

bool lifecycle_condition_holds(const struct lifecycle_condition *condition, bool is_there, int64_t revision);

/* The projects a token may see. Zeroed, it sees none. */
struct lifecycle_scope {
	bool is_all;
	const struct str *projects;
	size_t project_count;
};

bool lifecycle_scope_has(const struct lifecycle_scope *scope, struct str project);

struct lifecycle_call;
typedef void lifecycle_done_fn(struct lifecycle_call *call, int result);
/* Writes what must be in the same transaction, such as a remembered answer. Called with the outcome complete, only when something
 * took effect (result DONE, not a dry run). May be called twice (S2). 0; anything else fails the call, nothing is changed.
 */
typedef int lifecycle_record_fn(struct store_tx *tx, struct lifecycle_call *call);

struct lifecycle_call {
	struct store_actor actor;
	struct lifecycle_scope scope;
	struct arena *arena;         /* for the outcome */
	lifecycle_done_fn *done;     /* NULL: wait */
	lifecycle_record_fn *record; /* may be NULL */
	void *arg;                   /* the caller's */

	struct lifecycle_refusal refusal; /* out */
	int64_t now;                      /* out: the time of its transaction, ms */

	/* the lifecycle's own from here on */
	struct lifecycle *lifecycle;
	struct store_op op;
	int (*run)(struct store_tx *tx, struct lifecycle_call *call);
	int (*prepare)(struct lifecycle_call *call);            /* may wait for files; never in a transaction */
	int (*finish)(struct lifecycle_call *call, int result); /* of a reading call: after its snapshot */
	struct lifecycle_call *next;
	struct lifecycle_asked *asked; /* health that was asked for this call */
	struct met_project *met;       /* what its tries before know of projects (met.h) */
	int result;
	int64_t due_at;       /* an end that this try put into the store; 0: none */
	struct str lease_run; /* whose lease this try began or renewed; absent: none */
	int64_t lease_renewals;
	unsigned conflicts; /* how often the inputs changed under it */
	bool is_dry;
	bool is_read;
	bool is_kept; /* a refusal that leaves a record */
};

/* What the daemon does unasked, and how that stands. */
enum { LIFECYCLE_UPKEEPS = 4, LIFECYCLE_PROJECT_ID_SIZE = 65 };

struct lifecycle_upkeep {
	const char *name; /* "due", "leases", "rejudge", "recheck" */
	const char *what; /* "writing down what time did" */
	int result;       /* of the last turn: 0; or the first that failed, a lifecycle_result or -errno */
	int64_t since;    /* ms, when it began to fail; 0: it works */
	/* In how many projects it fails, while all others are kept up, and the first of them; 0: as a whole, or not at all. */
	uint64_t project_count;
	char project[LIFECYCLE_PROJECT_ID_SIZE];
};

enum { LEASE_USUAL_MS = 60 * 1000 };

struct lifecycle_config {
	struct store *store;             /* outlives the lifecycle */
	struct str catalog;              /* bytes of --catalog; absent: the one in force in the store, or the default */
	const char *state_folder;        /* no root may hold it or lie in it; NULL in tests */
	const struct str *root_prefixes; /* [roots] allow; none: anywhere */
	size_t root_prefix_count;
	bool allow_self_approval;        /* [approval] allow_self */
	bool durable_previews;           /* [preview] durable: a preview's answer waits for its record */
	struct prober_client *prober;    /* outlives the lifecycle; NULL: tool servers are unknown */
	const struct seal_key *seal_key; /* of their credentials; outlives it too; NULL: none can be kept */
	bool keeps_time;                 /* threads write what time does when it is due (2.1); without: the next call */
	int64_t max_age_ms;              /* of health before it is asked again; 0 = 30000 */
	size_t cache_bytes;              /* for compiled packages; 0 = 64 MiB */
	int64_t lease_ms;                /* of a run (2.5); 0 = LEASE_USUAL_MS */
	int64_t (*clock_ms)(void *arg);  /* milliseconds since 1970; NULL: the system's */
	int64_t (*monotonic_ms)(void *arg); /* what leases run on; NULL: the system's */
	void *clock_arg;
	unsigned char run_token_key[32]; /* run tokens are derived from it and the run's id */
	/* What the daemon does by itself fails and is tried again, or works again. From its threads, once for each turn of
	 * events. NULL: nobody hears of it. */
	void (*tell)(void *arg, const struct lifecycle_upkeep *upkeep);
	void *tell_arg;
};

/* Loads the catalog (a new one opens an epoch; projects are reconciled at once, or by a thread if it keeps time), takes up work. 0 and *ret, owned by the caller;
 * CATALOG_REFUSED with *ret_fault; or -errno.
 */
int lifecycle_new(
	const struct lifecycle_config *config, struct lifecycle **ret, struct catalog_fault *ret_fault) MUST_USE;

/* Ends every accepted call, writes the queued previews, stops. The caller makes no new calls. Before store_close. NULL is fine. */
void lifecycle_free(struct lifecycle *lifecycle);
void lifecycle_drop(struct lifecycle **lifecycle);

/* In force now; it and all that points into it live as long as what is in `arena`. NULL when memory is out. */
const struct catalog *lifecycle_catalog(struct lifecycle *lifecycle, struct arena *arena) MUST_USE;
int64_t lifecycle_now(struct lifecycle *lifecycle);
/* A full term, and after how much of it a lease is to be renewed: a third. */
int64_t lifecycle_lease_seconds(const struct lifecycle *lifecycle);
int64_t lifecycle_renew_seconds(const struct lifecycle *lifecycle);
struct store *lifecycle_store(struct lifecycle *lifecycle);

/* "art_…", derived from the run's id: shown once with the claim, and again with a remembered answer. */
struct str lifecycle_run_token(struct lifecycle *lifecycle, struct arena *arena, struct str run) MUST_USE;

/* Any thread. */
void lifecycle_upkeep_read(struct lifecycle *lifecycle, struct lifecycle_upkeep ret[LIFECYCLE_UPKEEPS]);

struct lifecycle_stats {
	uint64_t cache_hits, cache_misses, cache_bytes, cache_packages;
	uint64_t inputs_changed;   /* transactions that had to start again */
	uint64_t health_asked;     /* times a server was asked */
	uint64_t previews_written; /* records of previews on disk */
	uint64_t previews_folded;  /* the same again within a minute */
	uint64_t previews_lost;    /* records that could not be written: an alarm */
};
void lifecycle_stats_read(struct lifecycle *lifecycle, struct lifecycle_stats *ret);

#endif
