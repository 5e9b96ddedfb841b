/* lifecycle_inner.h - what the files of this room share; not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_LIFECYCLE_INNER_H
#define ADMITD_DAEMON_LIFECYCLE_LIFECYCLE_INNER_H

#include <pthread.h>
#include <stdatomic.h>

#include "daemon/lifecycle/lifecycle.h"
#include "daemon/lifecycle/package_cache.h"

struct preview_log;

/* So that one server that doesn't answer holds up nobody else's call. */
enum { CALL_THREADS = 6 };

/* Calls that must ask a server or open a folder first; a few threads take them in order. */
struct call_worker {
	pthread_t threads[CALL_THREADS];
	size_t thread_count;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* a call came, one ended, or the end */
	struct lifecycle_call *first, *last;
	size_t in_flight; /* accepted asynchronous calls that haven't ended */
	bool is_running;
	bool is_ending;
};

/* The thread that writes down what time did. */
struct due_timer {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int64_t told_at; /* the earliest end that was recorded since it looked; INT64_MAX: none */
	bool is_running;
	bool is_ending;
};

/* The term of a live run. What the store says of it is for people; this one runs on the monotonic clock. */
struct lease {
	char run[40];
	int64_t renewals; /* at its beginning: after another renewal it is a past one */
	int64_t ends_at;  /* monotonic */
	unsigned failed;  /* the turn in which its end could not be written; 0: none */
};

/* The terms of all live runs, and the thread that ends them. */
struct lease_timer {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct lease *items;
	size_t count, capacity;
	unsigned turn; /* of looking for those that are over; from 1 */
	bool is_lost;  /* memory ran out: the store is to be asked which runs there are */
	bool is_running;
	bool is_ending;
};

/* The thread that judges again what an older catalog judged. */
struct rejudge_worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_wanted;
	bool is_running;
	bool is_ending;
};

/* The thread that looks again at tool servers that packages wait for. */
struct recheck {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_running;
	bool is_ending;
};

/* What its threads do unasked (upkeep.h). */
enum upkeep { UPKEEP_DUE, UPKEEP_LEASES, UPKEEP_REJUDGE, UPKEEP_RECHECK, UPKEEP_COUNT };

struct upkeep_book {
	pthread_mutex_t lock;
	struct lifecycle_upkeep turns[UPKEEP_COUNT]; /* under way */
	struct lifecycle_upkeep facts[UPKEEP_COUNT]; /* after the last one */
};

struct prober_client;
struct seal_key;

struct lifecycle {
	struct store *store;
	pthread_mutex_t catalog_lock;
	struct catalog *catalog; /* in force; its other owners are compiled packages and the arenas of calls */
	struct rejudge_worker rejudge;
	struct package_cache *cache;
	struct call_worker worker;
	struct due_timer due_timer;
	struct recheck recheck;
	struct prober_client *prober;    /* NULL: none */
	const struct seal_key *seal_key; /* NULL: none */
	struct lease_timer leases;
	struct upkeep_book upkeep;
	void (*tell)(void *arg, const struct lifecycle_upkeep *upkeep);
	void *tell_arg;
	struct preview_log *previews;
	char *state_folder; /* resolved; NULL: none */
	char **root_prefixes;
	size_t root_prefix_count;
	bool allow_self_approval;
	bool durable_previews;
	int64_t max_age_ms;
	int64_t lease_ms;
	int64_t (*clock_ms)(void *arg);
	int64_t (*monotonic_ms)(void *arg);
	void *clock_arg;
	unsigned char run_token_key[32];
	atomic_uint_fast64_t inputs_changed;
	atomic_uint_fast64_t health_asked;
};

/* Where the first tool server stands whose health the daemon sees itself (2.3). */
#define LIFECYCLE_BUILTIN_MCP "filesystem"

enum {
	RUN_TOKEN_BYTES = 32,
	CONFLICT_LIMIT = 3, /* 2.3: at most three times */
};

#endif
