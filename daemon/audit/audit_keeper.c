#include "daemon/audit/audit_keeper.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/audit/audit_file.h"
#include "daemon/monotonic.h"
#include "policy/cleanup.h"

enum { AGAIN_MS = 1000, ARENA_BYTES = 64 * 1024 * 1024, PAGE = 500 };

struct audit_keeper {
	struct audit_keeper_config config;
	struct audit_key key;
	char *exported;                        /* path of the exported checkpoints; NULL: none */
	struct store_checkpoint last_exported; /* the thread's alone */
	int64_t sealed_mono_ms;

	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct audit_keeper_facts facts;
	bool is_ending;

	pthread_mutex_t trim_lock; /* held while something is deleted; never taken by the store's threads */
	unsigned checks;           /* under way: nothing is deleted */
};

static int64_t clock_ms(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- one checkpoint */

struct sealing {
	struct audit_keeper *keeper;
	struct store_checkpoint row;
};

static int run_seal(struct store_tx *tx, void *arg)
{
	struct sealing *sealing = arg;
	const struct audit_keeper *keeper = sealing->keeper;
	int r = store_checkpoint_draft(tx, &sealing->row);

	if (r != 0)
		return r;
	sealing->row.at = clock_ms(CLOCK_REALTIME);
	if (keeper->config.key != NULL)
		r = audit_line_sign(&sealing->row, store_identity(keeper->config.store), &keeper->key);
	return r != 0 ? r : store_checkpoint_append(tx, &sealing->row);
}

static void note_checkpoint(struct audit_keeper *keeper, const struct store_checkpoint *row)
{
	(void)pthread_mutex_lock(&keeper->lock);
	keeper->facts.number = row->number;
	keeper->facts.sequence = row->sequence;
	keeper->facts.at = row->at;
	if (keeper->facts.last_sequence < row->sequence)
		keeper->facts.last_sequence = row->sequence;
	(void)pthread_mutex_unlock(&keeper->lock);
}

static int seal(struct audit_keeper *keeper)
{
	CLEANUP(arena_release) struct arena arena = {.ceiling = ARENA_BYTES};
	struct sealing sealing = {.keeper = keeper};
	int r = store_call(keeper->config.store, &arena, run_seal, &sealing);

	if (r == 0)
		note_checkpoint(keeper, &sealing.row);
	if (r == 0 || r == STORE_ABSENT)
		keeper->sealed_mono_ms = clock_ms(CLOCK_MONOTONIC);
	return r == STORE_ABSENT ? 0 : r;
}

/* ---- export */

struct exporting {
	struct audit_keeper *keeper;
	int64_t after;
	struct store_checkpoint_list list;
};

static int read_marks(struct store_tx *tx, void *arg)
{
	struct exporting *exporting = arg;

	return store_checkpoint_list(tx, exporting->after, PAGE, &exporting->list);
}

/* Numbers begin again where a restored backup ended, in a later epoch. */
static bool is_exported(const struct audit_keeper *keeper, const struct store_checkpoint *row)
{
	const struct store_checkpoint *last = &keeper->last_exported;

	return row->epoch < last->epoch || (row->epoch == last->epoch && row->number <= last->number);
}

static int export_page(struct audit_keeper *keeper, const struct exporting *exporting)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < exporting->list.count; i++) {
		const struct store_checkpoint *row = &exporting->list.items[i];

		if (is_exported(keeper, row))
			continue;
		r = audit_file_append(keeper->config.export_folder, store_identity(keeper->config.store), row);
		if (r == 0)
			keeper->last_exported = *row;
	}
	return r;
}

static int export_marks(struct audit_keeper *keeper)
{
	CLEANUP(arena_release) struct arena arena = {.ceiling = ARENA_BYTES};
	struct exporting exporting = {.keeper = keeper};
	int r = 0;

	if (keeper->config.export_folder == NULL)
		return 0;
	do {
		arena_reset(&arena);
		r = store_read(keeper->config.store, &arena, read_marks, &exporting);
		if (r == 0)
			r = export_page(keeper, &exporting);
		if (exporting.list.count != 0)
			exporting.after = exporting.list.items[exporting.list.count - 1].number;
	} while (r == 0 && exporting.list.count == PAGE);
	(void)pthread_mutex_lock(&keeper->lock);
	keeper->facts.is_exported = r == 0;
	(void)pthread_mutex_unlock(&keeper->lock);
	return r;
}

/* ---- retention */

struct retiring {
	int64_t before;
	int64_t now;
	struct store_segment segment;
};

static int read_oldest(struct store_tx *tx, void *arg)
{
	struct retiring *retiring = arg;

	return store_audit_oldest(tx, retiring->before, &retiring->segment);
}

static int run_trim(struct store_tx *tx, void *arg)
{
	const struct retiring *retiring = arg;

	return store_audit_trim(tx, &retiring->segment, retiring->now);
}

/* Exported first, and only then deleted. STORE_ABSENT: nothing is old enough. */
static int retire_one(struct audit_keeper *keeper)
{
	CLEANUP(arena_release) struct arena arena = {.ceiling = ARENA_BYTES};
	struct retiring retiring = {.now = clock_ms(CLOCK_REALTIME)};
	struct store_checkpoint row;
	int r = 0;

	retiring.before = retiring.now - keeper->config.keep_ms;
	r = store_read(keeper->config.store, &arena, read_oldest, &retiring);
	if (r != 0)
		return r;
	row = retiring.segment.checkpoint;
	/* Its key's name lies in the arena, which the store resets. */
	if (row.key_id.bytes != NULL)
		retiring.segment.checkpoint.key_id =
			(struct str){strndupa(row.key_id.bytes, row.key_id.len), row.key_id.len};
	r = audit_file_segment(keeper->config.export_folder, keeper->config.store, &retiring.segment);
	return r != 0 ? r : store_call(keeper->config.store, &arena, run_trim, &retiring);
}

static bool is_ending(struct audit_keeper *keeper)
{
	bool is_ending;

	(void)pthread_mutex_lock(&keeper->lock);
	is_ending = keeper->is_ending;
	(void)pthread_mutex_unlock(&keeper->lock);
	return is_ending;
}

static int retire(struct audit_keeper *keeper)
{
	int r = 0;

	if (keeper->config.keep_ms == 0 || keeper->config.export_folder == NULL)
		return 0;
	while (r == 0 && !is_ending(keeper)) {
		(void)pthread_mutex_lock(&keeper->trim_lock);
		r = keeper->checks != 0 ? STORE_ABSENT : retire_one(keeper);
		(void)pthread_mutex_unlock(&keeper->trim_lock);
	}
	return r == STORE_ABSENT ? 0 : r;
}

/* ---- the thread */

/* Whether one is due. Under the lock. */
static bool is_due(const struct audit_keeper *keeper)
{
	int64_t rows = keeper->facts.last_sequence - keeper->facts.sequence;
	int64_t age = clock_ms(CLOCK_MONOTONIC) - keeper->sealed_mono_ms;

	return rows >= keeper->config.every_rows || (rows > 0 && age >= keeper->config.every_ms);
}

static int64_t wait_ms(const struct audit_keeper *keeper, int result)
{
	int64_t left = keeper->sealed_mono_ms + keeper->config.every_ms - clock_ms(CLOCK_MONOTONIC);

	if (result != 0)
		return AGAIN_MS;
	return left > 0 ? left : keeper->config.every_ms;
}

/* False at the end. */
static bool wait(struct audit_keeper *keeper, int result)
{
	struct timespec deadline = monotonic_in(wait_ms(keeper, result));

	(void)pthread_mutex_lock(&keeper->lock);
	while (!keeper->is_ending && (result != 0 || !is_due(keeper)))
		if (pthread_cond_timedwait(&keeper->changed, &keeper->lock, &deadline) != 0)
			break;
	(void)pthread_mutex_unlock(&keeper->lock);
	return !is_ending(keeper);
}

static int tell(struct audit_keeper *keeper, const char *what, int result)
{
	bool was_failing = false;

	(void)pthread_mutex_lock(&keeper->lock);
	was_failing = keeper->facts.is_failing;
	keeper->facts.is_failing = result != 0;
	(void)pthread_mutex_unlock(&keeper->lock);
	if (keeper->config.tell != NULL && was_failing != (result != 0))
		keeper->config.tell(keeper->config.arg, what, result);
	return result;
}

static int work(struct audit_keeper *keeper)
{
	const char *what = "a checkpoint";
	int r = seal(keeper);

	if (r == 0) {
		what = "the export of a checkpoint";
		r = export_marks(keeper);
	}
	if (r == 0) {
		what = "retention";
		r = retire(keeper);
	}
	return tell(keeper, what, r);
}

static void *keeper_main(void *arg)
{
	struct audit_keeper *keeper = arg;
	int r = 0;

	do
		r = work(keeper);
	while (wait(keeper, r));
	(void)work(keeper);
	return NULL;
}

/* ---- making and ending */

static int read_last(struct store_tx *tx, void *arg)
{
	struct audit_keeper *keeper = arg;
	struct store_checkpoint last = {0};
	int r = store_checkpoint_last(tx, &last);

	keeper->facts.number = last.number;
	keeper->facts.sequence = last.sequence;
	keeper->facts.at = last.at;
	return r != 0 && r != STORE_ABSENT ? r : store_event_head(tx, &keeper->facts.last_sequence);
}

static int look(struct audit_keeper *keeper)
{
	CLEANUP(arena_release) struct arena arena = {.ceiling = ARENA_BYTES};
	const char *folder = keeper->config.export_folder;
	int r = store_read(keeper->config.store, &arena, read_last, keeper);

	if (r != 0 || folder == NULL)
		return r > 0 ? -EIO : r;
	if (asprintf(&keeper->exported, "%s/%s", folder, AUDIT_FILE_CHECKPOINTS) < 0) {
		keeper->exported = NULL; /* asprintf leaves it undefined */
		return -ENOMEM;
	}
	return audit_file_last(folder, store_identity(keeper->config.store), &keeper->last_exported);
}

static struct audit_keeper *make(const struct audit_keeper_config *config)
{
	struct audit_keeper *keeper = calloc(1, sizeof(*keeper));

	if (keeper == NULL)
		return NULL;
	keeper->config = *config;
	if (keeper->config.every_rows == 0)
		keeper->config.every_rows = AUDIT_EVERY_ROWS;
	if (keeper->config.every_ms == 0)
		keeper->config.every_ms = (int64_t)AUDIT_EVERY_SECONDS * 1000;
	if (config->key != NULL) {
		keeper->key = *config->key;
		memcpy(keeper->facts.key_id, config->key->id, sizeof(keeper->facts.key_id));
	}
	keeper->facts.has_key = config->key != NULL;
	keeper->facts.exports = config->export_folder != NULL;
	(void)pthread_mutex_init(&keeper->lock, NULL);
	(void)pthread_mutex_init(&keeper->trim_lock, NULL);
	monotonic_cond_init(&keeper->changed);
	return keeper;
}

static void release(struct audit_keeper *keeper)
{
	audit_key_wipe(&keeper->key);
	(void)pthread_cond_destroy(&keeper->changed);
	(void)pthread_mutex_destroy(&keeper->lock);
	(void)pthread_mutex_destroy(&keeper->trim_lock);
	free(keeper->exported);
	free(keeper);
}

int audit_keeper_start(const struct audit_keeper_config *config, struct audit_keeper **ret)
{
	struct audit_keeper *keeper = make(config);
	int r = keeper != NULL ? look(keeper) : -ENOMEM;

	if (r == 0)
		r = -pthread_create(&keeper->thread, NULL, keeper_main, keeper);
	if (r != 0) {
		if (keeper != NULL)
			release(keeper);
		return r;
	}
	*ret = keeper;
	return 0;
}

void audit_keeper_stop(struct audit_keeper *keeper)
{
	if (keeper == NULL)
		return;
	(void)pthread_mutex_lock(&keeper->lock);
	keeper->is_ending = true;
	(void)pthread_cond_broadcast(&keeper->changed);
	(void)pthread_mutex_unlock(&keeper->lock);
	(void)pthread_join(keeper->thread, NULL);
	release(keeper);
}

void audit_keeper_wake(struct audit_keeper *keeper, int64_t last_sequence)
{
	if (keeper == NULL)
		return;
	(void)pthread_mutex_lock(&keeper->lock);
	if (last_sequence > keeper->facts.last_sequence)
		keeper->facts.last_sequence = last_sequence;
	if (is_due(keeper))
		(void)pthread_cond_broadcast(&keeper->changed);
	(void)pthread_mutex_unlock(&keeper->lock);
}

int audit_keeper_verify(struct audit_keeper *keeper, bool (*progress)(void *arg, const struct audit_verdict *so_far),
	void *arg, struct audit_verdict *ret)
{
	const struct audit_verify verify = {.store = keeper->config.store,
		.trust = keeper->config.trust,
		.exported = keeper->exported,
		.progress = progress,
		.arg = arg};
	int r = 0;

	(void)pthread_mutex_lock(&keeper->trim_lock);
	keeper->checks++;
	(void)pthread_mutex_unlock(&keeper->trim_lock);
	r = audit_verify_store(&verify, ret);
	(void)pthread_mutex_lock(&keeper->trim_lock);
	keeper->checks--;
	(void)pthread_mutex_unlock(&keeper->trim_lock);
	return r;
}

void audit_keeper_read(struct audit_keeper *keeper, struct audit_keeper_facts *ret)
{
	(void)pthread_mutex_lock(&keeper->lock);
	*ret = keeper->facts;
	(void)pthread_mutex_unlock(&keeper->lock);
}
