#include "daemon/lifecycle/lifecycle.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/due_timer.h"
#include "daemon/lifecycle/lease_timer.h"
#include "daemon/lifecycle/lifecycle_inner.h"
#include "daemon/lifecycle/preview_log.h"
#include "daemon/lifecycle/recheck.h"
#include "daemon/lifecycle/rejudge.h"
#include "daemon/lifecycle/upkeep.h"
#include "daemon/store/catalog.h"
#include "policy/redact.h"

enum { MAX_AGE_MS = 30000, CACHE_BYTES = 64 * 1024 * 1024, CATALOG_ARENA_BYTES = 16 * 1024 * 1024 };

const char *lifecycle_result_code(int result)
{
	static const char *const codes[LIFECYCLE_RESULT_COUNT] = {
		[LIFECYCLE_INVALID_DOCUMENT] = "invalid_document",
		[LIFECYCLE_FORBIDDEN] = "forbidden",
		[LIFECYCLE_NOT_EXECUTOR] = "forbidden",
		[LIFECYCLE_SELF_APPROVAL] = "self_approval",
		[LIFECYCLE_NOT_FOUND] = "not_found",
		[LIFECYCLE_ADMISSION_BLOCKED] = "admission_blocked",
		[LIFECYCLE_INPUTS_CHANGED] = "inputs_changed",
		[LIFECYCLE_PLAN_REVISION_CONFLICT] = "plan_revision_conflict",
		[LIFECYCLE_REVISION_CONFLICT] = "revision_conflict",
		[LIFECYCLE_ROOT_CHANGED] = "root_changed",
		[LIFECYCLE_PRECONDITION_FAILED] = "precondition_failed",
		[LIFECYCLE_TASK_STATUS] = "task_status",
		[LIFECYCLE_PACKAGE_STATUS] = "package_status",
		[LIFECYCLE_ALREADY_COVERED] = "already_covered",
		[LIFECYCLE_NOTHING_TO_REVOKE] = "nothing_to_revoke",
		[LIFECYCLE_RUN_ACTIVE] = "run_active",
		[LIFECYCLE_RUN_ENDED] = "run_ended",
		[LIFECYCLE_OUTCOME_CONFLICT] = "outcome_conflict",
		[LIFECYCLE_GRANT_WITHDRAWN] = "grant_withdrawn",
		[LIFECYCLE_HAS_DEPENDENTS] = "has_dependents",
		[LIFECYCLE_NOT_RETRYABLE] = "not_retryable",
		[LIFECYCLE_PROJECT_ARCHIVED] = "project_archived",
		[LIFECYCLE_TASK_EXISTS] = "task_exists",
		[LIFECYCLE_STALE_OBSERVATION] = "stale_observation",
		[LIFECYCLE_GRANT_NOT_ASKED] = "grant_not_asked",
		[LIFECYCLE_GRANT_INSUFFICIENT] = "grant_insufficient",
		[LIFECYCLE_ROOT_MISSING] = "root_missing",
		[LIFECYCLE_ROOT_NOT_ALLOWED] = "root_not_allowed",
		[LIFECYCLE_QUEUE_FULL] = "queue_full",
		[LIFECYCLE_JOBS_FULL] = "jobs_full",
		[LIFECYCLE_NOT_STORED] = "not_stored",
		[LIFECYCLE_SHUTTING_DOWN] = "shutting_down",
		[LIFECYCLE_OUTCOME_UNKNOWN] = "outcome_unknown",
	};

	if (result < 0)
		return "internal";
	return result < LIFECYCLE_RESULT_COUNT ? codes[result] : NULL;
}

bool lifecycle_condition_holds(const struct lifecycle_condition *condition, bool is_there, int64_t revision)
{
	if (condition->has_revision && (!is_there || revision != condition->revision))
		return false;
	return is_there ? !condition->only_new : !condition->only_there;
}

bool lifecycle_scope_has(const struct lifecycle_scope *scope, struct str project)
{
	if (scope->is_all)
		return true;
	for (size_t i = 0; i < scope->project_count; i++)
		if (str_equal(scope->projects[i], project))
			return true;
	return false;
}

static int64_t read_clock_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t system_clock_ms(void *arg)
{
	(void)arg;
	return read_clock_ms(CLOCK_REALTIME);
}

static int64_t system_monotonic_ms(void *arg)
{
	(void)arg;
	return read_clock_ms(CLOCK_MONOTONIC);
}

int64_t lifecycle_lease_seconds(const struct lifecycle *lifecycle)
{
	return lifecycle->lease_ms / 1000;
}

int64_t lifecycle_renew_seconds(const struct lifecycle *lifecycle)
{
	int64_t third = lifecycle_lease_seconds(lifecycle) / 3;

	return third > 0 ? third : 1;
}

int64_t lifecycle_now(struct lifecycle *lifecycle)
{
	return lifecycle->clock_ms(lifecycle->clock_arg);
}

struct store *lifecycle_store(struct lifecycle *lifecycle)
{
	return lifecycle->store;
}

static void give_catalog(void *catalog)
{
	catalog_free(catalog);
}

const struct catalog *lifecycle_catalog(struct lifecycle *lifecycle, struct arena *arena)
{
	struct catalog *catalog;

	(void)pthread_mutex_lock(&lifecycle->catalog_lock);
	catalog = catalog_hold(lifecycle->catalog);
	(void)pthread_mutex_unlock(&lifecycle->catalog_lock);
	if (arena_adopt(arena, give_catalog, catalog))
		return catalog;
	catalog_free(catalog);
	return NULL;
}

struct str lifecycle_run_token(struct lifecycle *lifecycle, struct arena *arena, struct str run)
{
	unsigned char mac[RUN_TOKEN_BYTES];
	char hex[2 * RUN_TOKEN_BYTES + 1];
	struct str token;

	crypto_generichash(mac, sizeof(mac), (const unsigned char *)run.bytes, run.len, lifecycle->run_token_key,
		sizeof(lifecycle->run_token_key));
	sodium_bin2hex(hex, sizeof(hex), mac, sizeof(mac));
	token = arena_printf(arena, "art_%s", hex);
	sodium_memzero(mac, sizeof(mac));
	sodium_memzero(hex, sizeof(hex));
	return token;
}

void lifecycle_stats_read(struct lifecycle *lifecycle, struct lifecycle_stats *ret)
{
	struct package_cache_stats cache;

	package_cache_stats_read(lifecycle->cache, &cache);
	*ret = (struct lifecycle_stats){
		.cache_hits = cache.hits,
		.cache_misses = cache.misses,
		.cache_bytes = cache.bytes,
		.cache_packages = cache.packages,
		.inputs_changed = atomic_load(&lifecycle->inputs_changed),
		.health_asked = atomic_load(&lifecycle->health_asked),
	};
	preview_log_stats_read(lifecycle->previews, ret);
}

/* ---- the catalog at the start */

struct catalog_start {
	struct lifecycle *lifecycle;
	struct str wanted; /* bytes; absent: what is in force, or the default */
	int64_t now;
	struct catalog_fault *fault;
	struct catalog *catalog; /* out */
	bool is_new;             /* out: it opened an epoch */
};

/* A catalog that a person put in force stays; one that a start of the daemon took is replaced by the default of this one. */
static int choose_bytes(struct store_tx *tx, const struct catalog_start *start, struct str *ret_bytes)
{
	struct store_catalog current = {0};
	int r = store_catalog_current(tx, &current);

	if (r != 0 && r != STORE_ABSENT)
		return call_store_result(r);
	if (start->wanted.bytes != NULL)
		*ret_bytes = start->wanted;
	else
		*ret_bytes = r == 0 && current.actor.principal.bytes != NULL ? current.bytes : catalog_default_bytes();
	return 0;
}

static int write_replaced(struct store_tx *tx, const struct catalog_start *start, const struct store_catalog *row)
{
	struct str payload = arena_printf(store_tx_arena(tx), "{\"digest\":\"%.*s\",\"epoch\":%lld}",
		(int)row->digest.len, row->digest.bytes, (long long)row->epoch);
	struct store_event event = {
		.type = STR("catalog.replaced"),
		.subject_kind = STR("catalog"),
		.subject_id = row->digest,
		.at = start->now,
		.payload_json = payload,
	};

	return payload.bytes != NULL ? call_store_result(store_event_append(tx, &event)) : -ENOMEM;
}

static int put_in_force(struct store_tx *tx, struct catalog_start *start)
{
	struct store_catalog current = {0};
	struct store_catalog row = {.digest = start->catalog->digest, .at = start->now};
	int r = store_catalog_current(tx, &current);

	if (r != 0 && r != STORE_ABSENT)
		return call_store_result(r);
	start->is_new = r == STORE_ABSENT || !str_equal(current.digest, row.digest);
	if (!start->is_new)
		return 0;
	r = call_store_result(store_catalog_put(tx, row.digest, start->catalog->bytes));
	if (r == 0)
		r = call_store_result(store_catalog_set_current(tx, &row));
	return r != 0 ? r : write_replaced(tx, start, &row);
}

static int load_catalog(struct store_tx *tx, void *arg)
{
	struct catalog_start *start = arg;
	struct str bytes = {0};
	int r = choose_bytes(tx, start, &bytes);

	catalog_free(start->catalog);
	start->catalog = NULL;
	if (r == 0)
		r = catalog_new(bytes, &start->catalog, start->fault);
	return r != 0 ? r : put_in_force(tx, start);
}

static int start_catalog(
	struct lifecycle *lifecycle, struct str wanted, bool *ret_is_new, struct catalog_fault *ret_fault)
{
	struct catalog_start start = {
		.lifecycle = lifecycle, .wanted = wanted, .now = lifecycle_now(lifecycle), .fault = ret_fault};
	struct arena arena;
	int r = 0;

	arena_init(&arena, CATALOG_ARENA_BYTES);
	r = store_call(lifecycle->store, &arena, load_catalog, &start);
	arena_release(&arena);
	*ret_is_new = start.is_new;
	if (r == 0) {
		lifecycle->catalog = start.catalog;
		package_cache_keep(lifecycle->cache, start.catalog);
		return 0;
	}
	catalog_free(start.catalog);
	return r == CATALOG_REFUSED || r < 0 ? r : -EIO;
}

/* ---- making and ending */

static int copy_prefixes(struct lifecycle *lifecycle, const struct lifecycle_config *config)
{
	if (config->state_folder != NULL) {
		lifecycle->state_folder = realpath(config->state_folder, NULL);
		if (lifecycle->state_folder == NULL)
			return -errno;
	}
	lifecycle->root_prefixes = calloc(config->root_prefix_count + 1, sizeof(char *));
	if (lifecycle->root_prefixes == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < config->root_prefix_count; i++) {
		char *text = strndup(config->root_prefixes[i].bytes, config->root_prefixes[i].len);
		char *real = text != NULL ? realpath(text, NULL) : NULL;

		if (text == NULL)
			return -ENOMEM;
		/* Roots are compared as they resolve; a prefix that isn't there yet, as it is written. */
		if (real != NULL)
			free(text);
		lifecycle->root_prefixes[lifecycle->root_prefix_count++] = real != NULL ? real : text;
	}
	return 0;
}

static struct lifecycle *make(const struct lifecycle_config *config)
{
	struct lifecycle *lifecycle = calloc(1, sizeof(*lifecycle));

	if (lifecycle == NULL)
		return NULL;
	upkeep_init(lifecycle);
	pthread_mutex_init(&lifecycle->catalog_lock, NULL);
	pthread_mutex_init(&lifecycle->rejudge.lock, NULL);
	pthread_cond_init(&lifecycle->rejudge.changed, NULL);
	lifecycle->store = config->store;
	lifecycle->allow_self_approval = config->allow_self_approval;
	lifecycle->durable_previews = config->durable_previews;
	lifecycle->prober = config->prober;
	lifecycle->seal_key = config->seal_key;
	lifecycle->tell = config->tell;
	lifecycle->tell_arg = config->tell_arg;
	lifecycle->max_age_ms = config->max_age_ms != 0 ? config->max_age_ms : MAX_AGE_MS;
	lifecycle->clock_ms = config->clock_ms != NULL ? config->clock_ms : system_clock_ms;
	lifecycle->monotonic_ms = config->monotonic_ms != NULL ? config->monotonic_ms : system_monotonic_ms;
	lifecycle->clock_arg = config->clock_arg;
	lifecycle->lease_ms = config->lease_ms != 0 ? config->lease_ms : LEASE_USUAL_MS;
	lease_timer_init(lifecycle);
	memcpy(lifecycle->run_token_key, config->run_token_key, sizeof(lifecycle->run_token_key));
	lifecycle->cache = package_cache_new(config->cache_bytes != 0 ? config->cache_bytes : CACHE_BYTES);
	lifecycle->previews = preview_log_new(lifecycle);
	return lifecycle;
}

static int start(struct lifecycle *lifecycle, const struct lifecycle_config *config, struct catalog_fault *ret_fault)
{
	bool is_new = false;
	int r = 0;

	if (sodium_init() < 0 || lifecycle->cache == NULL || lifecycle->previews == NULL)
		return -ENOMEM;
	r = redact_init();
	if (r == 0)
		r = copy_prefixes(lifecycle, config);
	if (r == 0)
		r = call_worker_start(lifecycle);
	if (r == 0)
		r = start_catalog(lifecycle, config->catalog, &is_new, ret_fault);
	/* The thread does it else: a project that can't be judged keeps nobody from starting. */
	if (r == 0 && is_new && !config->keeps_time)
		r = rejudge_all(lifecycle);
	if (r == 0)
		r = lease_timer_renew_all(lifecycle);
	if (r == 0 && config->keeps_time)
		r = rejudge_start(lifecycle);
	if (r == 0 && config->keeps_time)
		r = due_timer_start(lifecycle);
	if (r == 0 && config->keeps_time)
		r = lease_timer_start(lifecycle);
	return r == 0 && config->keeps_time ? recheck_start(lifecycle) : r;
}

int lifecycle_new(const struct lifecycle_config *config, struct lifecycle **ret, struct catalog_fault *ret_fault)
{
	struct lifecycle *lifecycle = make(config);
	int r = lifecycle != NULL ? start(lifecycle, config, ret_fault) : -ENOMEM;

	if (r != 0) {
		lifecycle_free(lifecycle);
		return r;
	}
	*ret = lifecycle;
	return 0;
}

void lifecycle_free(struct lifecycle *lifecycle)
{
	if (lifecycle == NULL)
		return;
	recheck_stop(lifecycle);
	rejudge_stop(lifecycle);
	lease_timer_stop(lifecycle);
	due_timer_stop(lifecycle);
	call_worker_stop(lifecycle);
	lease_timer_release(lifecycle);
	upkeep_release(lifecycle);
	preview_log_free(lifecycle->previews);
	package_cache_free(lifecycle->cache);
	catalog_free(lifecycle->catalog);
	(void)pthread_mutex_destroy(&lifecycle->catalog_lock);
	for (size_t i = 0; i < lifecycle->root_prefix_count; i++)
		free(lifecycle->root_prefixes[i]);
	free(lifecycle->root_prefixes);
	free(lifecycle->state_folder);
	sodium_memzero(lifecycle->run_token_key, sizeof(lifecycle->run_token_key));
	free(lifecycle);
}

void lifecycle_drop(struct lifecycle **lifecycle)
{
	lifecycle_free(*lifecycle);
	*lifecycle = NULL;
}
