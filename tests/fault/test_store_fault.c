/* The store when the disk, the memory or another process gets in its way, and when its file was changed behind its back
 * (chapters 2.8, 3.2, 6.2). These tests know that it is SQLite.
 */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/store/catalog.h"
#include "daemon/store/event.h"
#include "daemon/store/grant.h"
#include "daemon/store/package.h"
#include "daemon/store/project.h"
#include "daemon/store/run.h"
#include "policy/cleanup.h"
#include "tests/fault/fault_vfs.h"
#include "tests/lib/store_fixture.h"

/* Another connection to the store's file. */
static sqlite3 *open_beside(struct store_fixture *fixture)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(store_fixture_path(fixture, "admitd.db"), &db), SQLITE_OK);
	return db;
}

static int run_sql(sqlite3 *db, const char *text)
{
	return sqlite3_exec(db, text, NULL, NULL, NULL);
}

static void change_closed_store(struct store_fixture *fixture, const char *text)
{
	sqlite3 *db;

	store_close(fixture->store);
	fixture->store = NULL;
	db = open_beside(fixture);
	assert_int_equal(run_sql(db, text), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static int verify_log(struct store_tx *tx, void *arg)
{
	struct store_chain *chain = arg;
	int r = 0;

	*chain = (struct store_chain){0};
	while (r == 0 && !chain->is_at_end)
		r = store_event_verify(tx, chain, 2);
	return r;
}

static int fill_append_only(struct store_tx *tx, void *arg)
{
	struct store_grant grant = {.id = STR("grt_1"),
		.project = STR("p"),
		.package = STR("pkg_a"),
		.decision = STORE_GRANT_APPROVED,
		.capabilities_json = STR("[]"),
		.dropped_json = STR("[]"),
		.expires_at = 10};
	struct store_due due = {STORE_DUE_GRANT, STR("p"), STR("grt_1"), 10, 11};
	struct store_run run = {
		.id = STR("run_1"), .package = STR("pkg_a"), .token_hash = STR("h"), .decision = STR("d")};
	struct store_run_grant use = {STR("run_1"), STR("fs"), STR("grt_1"), STORE_GRANT_ALLOW_ONCE};
	struct store_catalog epoch = {.digest = STR("sha256:catalog")};
	int r = store_fixture_insert_plan(tx, arg);

	if (r == 0)
		r = store_fixture_insert_decision(tx, "d");
	if (r == 0)
		r = store_grant_append(tx, &grant, 0);
	if (r == 0)
		r = store_due_append(tx, &due);
	if (r == 0)
		r = store_run_insert(tx, &run);
	if (r == 0)
		r = store_run_grant_append(tx, &use);
	if (r == 0)
		r = store_catalog_set_current(tx, &epoch);
	return r ? r : store_fixture_append_event(tx, (void *)(uintptr_t) "x");
}

static void what_is_append_only_can_be_neither_changed_nor_deleted(void **state)
{
	static const char *const tables[] = {"grants", "due_records", "decisions", "grant_uses", "run_grants", "events",
		"catalogs", "catalog_epochs"};
	struct store_fixture *fixture = *state;
	char text[128];
	sqlite3 *db;

	assert_int_equal(store_fixture_write(fixture, fill_append_only, NULL), 0);
	db = open_beside(fixture);
	(void)sqlite3_extended_result_codes(db, 1);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		(void)snprintf(text, sizeof(text), "UPDATE %s SET rowid = rowid", tables[i]);
		assert_int_equal(run_sql(db, text), SQLITE_CONSTRAINT_TRIGGER);
		(void)snprintf(text, sizeof(text), "DELETE FROM %s", tables[i]);
		assert_int_equal(run_sql(db, text), SQLITE_CONSTRAINT_TRIGGER);
	}
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void append_events(struct store_fixture *fixture, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(store_fixture_write(fixture, store_fixture_append_event, (void *)(uintptr_t) "x"), 0);
}

static void a_changed_row_of_the_log_is_found(void **state)
{
	static const char *const changes[] = {"type = 'other'", "subject_kind = 'other'", "subject_id = ''",
		"project_id = 'p'", "task_id = 't'", "package_id = 'pkg_a'", "actor_token = NULL",
		"actor_principal = 'another'", "at = at + 1", "payload_json = '{\"n\":2}'", "surface = 'approval'",
		"decision_id = 'd'", "hash = zeroblob(32)"};
	struct store_fixture *fixture = *state;
	struct store_chain chain;
	char text[160];

	assert_int_equal(store_fixture_write(fixture, store_fixture_insert_project, (void *)(uintptr_t) "p"), 0);
	append_events(fixture, 5);
	assert_int_equal(store_fixture_read(fixture, verify_log, &chain), 0);
	assert_int_equal(chain.sequence, 5);
	change_closed_store(fixture, "DROP TRIGGER events_keep; CREATE TABLE kept AS SELECT * FROM events");
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		(void)snprintf(text, sizeof(text), "UPDATE events SET %s WHERE sequence = 3", changes[i]);
		change_closed_store(fixture, text);
		assert_int_equal(store_fixture_reopen(fixture), 0);
		assert_int_equal(store_fixture_read(fixture, verify_log, &chain), STORE_CHAIN_BROKEN);
		assert_int_equal(chain.sequence, 3);
		change_closed_store(fixture,
			"UPDATE events SET (type, subject_kind, subject_id, project_id, task_id, package_id, "
			"actor_token, "
			"actor_principal, at, payload_json, surface, decision_id, hash) = (SELECT type, subject_kind, "
			"subject_id, project_id, task_id, package_id, actor_token, actor_principal, at, payload_json, "
			"surface, decision_id, hash FROM kept k WHERE k.sequence = events.sequence)");
	}
	assert_int_equal(store_fixture_reopen(fixture), 0);
	assert_int_equal(store_fixture_read(fixture, verify_log, &chain), 0);
}

static void a_row_taken_out_of_the_log_is_found(void **state)
{
	struct store_fixture *fixture = *state;
	struct store_chain chain;

	append_events(fixture, 4);
	change_closed_store(fixture, "DROP TRIGGER events_stay; DELETE FROM events WHERE sequence = 2");
	assert_int_equal(store_fixture_reopen(fixture), 0);
	assert_int_equal(store_fixture_read(fixture, verify_log, &chain), STORE_CHAIN_BROKEN);
	assert_int_equal(chain.sequence, 2);
}

static void a_migration_with_another_text_is_refused(void **state)
{
	struct store_fixture *fixture = *state;

	change_closed_store(fixture, "UPDATE migrations SET digest = 'another'");
	assert_int_equal(store_fixture_reopen(fixture), STORE_MIGRATION_DIFFERS);
	change_closed_store(fixture, "DELETE FROM migrations");
	assert_int_equal(store_fixture_reopen(fixture), STORE_MIGRATION_DIFFERS);
}

static void a_newer_version_that_only_the_log_knows_is_refused_and_untouched(void **state)
{
	struct store_fixture *fixture = *state;
	char *before[2];
	size_t before_len[2];
	sqlite3 *db;

	store_close(fixture->store);
	fixture->store = NULL;
	db = open_beside(fixture);
	assert_int_equal(sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL), SQLITE_OK);
	assert_int_equal(run_sql(db, "PRAGMA user_version = 99"), SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	before[0] = store_fixture_bytes(store_fixture_path(fixture, "admitd.db"), &before_len[0]);
	before[1] = store_fixture_bytes(store_fixture_path(fixture, "admitd.db-wal"), &before_len[1]);
	assert_true(before_len[1] > 0);
	assert_int_equal(store_fixture_reopen(fixture), STORE_NEWER);
	for (unsigned i = 0; i < 2; i++) {
		size_t len;
		char *after = store_fixture_bytes(store_fixture_path(fixture, i ? "admitd.db-wal" : "admitd.db"), &len);

		assert_int_equal(len, before_len[i]);
		assert_memory_equal(after, before[i], len);
		free(after);
		free(before[i]);
	}
}

static void a_store_locked_by_another_waits_and_then_stores_nothing(void **state)
{
	struct store_fixture *fixture = *state;
	size_t count;
	sqlite3 *db;

	fixture->config.busy_timeout_ms = 50;
	assert_int_equal(store_fixture_reopen(fixture), 0);
	db = open_beside(fixture);
	assert_int_equal(run_sql(db, "BEGIN IMMEDIATE"), SQLITE_OK);
	assert_int_equal(
		store_fixture_write(fixture, store_fixture_insert_project, (void *)(uintptr_t) "p"), STORE_NOT_STORED);
	assert_int_equal(store_fixture_read(fixture, store_fixture_count_projects, &count), 0); /* readers go on */
	assert_int_equal(run_sql(db, "ROLLBACK"), SQLITE_OK);
	assert_int_equal(store_fixture_write(fixture, store_fixture_insert_project, (void *)(uintptr_t) "p"), 0);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void a_store_locked_for_less_than_the_budget_stores(void **state)
{
	struct store_fixture *fixture = *state;
	sqlite3 *db = open_beside(fixture);

	assert_int_equal(run_sql(db, "BEGIN IMMEDIATE"), SQLITE_OK);
	assert_int_equal(store_fixture_submit(fixture, store_fixture_insert_project, (void *)(uintptr_t) "p"), 0);
	assert_int_equal(run_sql(db, "ROLLBACK"), SQLITE_OK);
	store_fixture_wait(fixture, 1);
	assert_int_equal(fixture->results[0], 0);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* A project, a document that makes the log grow by some pages, and an event. */
static int insert_all(struct store_tx *tx, void *arg)
{
	char *bytes = arena_alloc(store_tx_arena(tx), 20001);
	int r = bytes ? store_fixture_insert_project(tx, arg) : -ENOMEM;

	if (r)
		return r;
	memset(bytes, 'x', 20000);
	r = store_document_put(tx, store_fixture_str(arg), (struct str){bytes, 20000});
	return r ? r : store_fixture_append_event(tx, arg);
}

struct presence {
	const char *id;
	bool is_there;
};

static int look_for(struct store_tx *tx, void *arg)
{
	struct presence *presence = arg;
	struct store_project project;
	struct str document;
	int r = store_project_find(tx, store_fixture_str(presence->id), &project);
	int with_document = store_document_find(tx, store_fixture_str(presence->id), &document);

	if (r < 0 || with_document < 0)
		return -EIO;
	presence->is_there = r == 0;
	return r == with_document ? 0 : -EPROTO; /* half of an operation */
}

enum { BATCH = 5, BATCHES_AT_MOST = 100 };

/* What fails, and whether SQLite has to read everything anew before. */
struct plan {
	enum fault_kind kind;
	enum fault_file file;
	bool once;
	bool is_cold;
	bool with_image; /* also look at what a loss of power would leave */
};

/* Submits five operations as one batch while the fault is armed, and compares every answer with the store. */
static void try_batch(struct store_fixture *fixture, char ids[BATCH][16], struct plan plan, int nth)
{
	unsigned begin = fixture->done_count;

	store_fixture_hold_writer(fixture);
	for (unsigned i = 0; i < BATCH; i++) {
		(void)snprintf(ids[i], sizeof(ids[i]), "p%d-%u", nth, i);
		assert_int_equal(store_fixture_submit(fixture, insert_all, ids[i]), 0);
	}
	fault_arm(plan.kind, plan.file, nth, plan.once);
	store_fixture_let_go(fixture);
	store_fixture_wait(fixture, begin + BATCH + 1);
	fault_disarm();
}

static void copy_file(struct store_fixture *from, struct store_fixture *to, const char *name)
{
	size_t len;
	char *bytes = store_fixture_bytes(store_fixture_path(from, name), &len);
	FILE *file = fopen(store_fixture_path(to, name), "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
	free(bytes);
}

/* What a machine that loses power now would find: the file and the log, without what SQLite has in memory. */
static void make_image(struct store_fixture *fixture, struct store_fixture **ret_image)
{
	void *state = NULL;

	assert_int_equal(store_fixture_setup_closed(&state), 0);
	*ret_image = state;
	copy_file(fixture, *ret_image, "admitd.db");
	copy_file(fixture, *ret_image, "admitd.db-wal");
	assert_int_equal(store_fixture_reopen(*ret_image), 0);
}

static void compare_with(struct store_fixture *store, const int *results, char ids[BATCH][16])
{
	struct store_chain chain;

	for (unsigned i = 0; i < BATCH; i++) {
		struct presence presence = {.id = ids[i]};

		assert_int_equal(store_fixture_read(store, look_for, &presence), 0);
		if (results[i] != STORE_OUTCOME_UNKNOWN)
			assert_int_equal(presence.is_there, results[i] == 0);
	}
	assert_int_equal(store_fixture_read(store, verify_log, &chain), 0);
}

/* The store as it would come back. */
static void compare_image(struct store_fixture *fixture, const int *results, char ids[BATCH][16])
{
	struct store_fixture *image = NULL;
	void *state;

	make_image(fixture, &image);
	compare_with(image, results, ids);
	state = image;
	assert_int_equal(store_fixture_teardown(&state), 0);
}

static bool is_broken(struct store_fixture *fixture)
{
	struct store_stats stats;

	store_stats_read(fixture->store, &stats);
	return stats.broken;
}

static void compare_answers(struct store_fixture *fixture, char ids[BATCH][16], bool with_image)
{
	const int *results = &fixture->results[fixture->done_count - BATCH];

	if (with_image)
		compare_image(fixture, results, ids);
	compare_with(fixture, results, ids);
	if (!is_broken(fixture))
		return;
	assert_int_equal(store_fixture_reopen(fixture), 0);
	compare_with(fixture, results, ids);
}

/* The nth call fails, n = 1, 2, … until a batch needs fewer. A store that broke says so and is opened anew. */
static void fail_every_call(struct store_fixture *fixture, struct plan plan)
{
	bool has_hit = true;
	int nth = 1;

	for (; has_hit && nth < 2000; nth++) {
		char ids[BATCH][16];

		if (fixture->done_count + BATCH + 1 > STORE_FIXTURE_OPS)
			fixture->done_count = 0;
		if (plan.is_cold)
			assert_int_equal(store_fixture_reopen(fixture), 0);
		try_batch(fixture, ids, plan, nth);
		has_hit = fault_has_hit();
		compare_answers(fixture, ids, plan.with_image);
	}
	assert_false(has_hit);
	assert_true(nth > 2); /* the first at least failed */
}

static void every_failing_write_is_answered_truthfully(void **state)
{
	fail_every_call(*state, (struct plan){.kind = FAULT_WRITE, .once = true, .with_image = true});
}

static void every_write_onto_a_full_disk_is_answered_truthfully(void **state)
{
	fail_every_call(*state, (struct plan){.kind = FAULT_FULL, .with_image = true});
}

static void every_failing_read_is_answered_truthfully(void **state)
{
	fail_every_call(
		*state, (struct plan){.kind = FAULT_READ, .file = FAULT_DATABASE, .once = true, .is_cold = true});
}

static void every_failing_sync_is_answered_truthfully(void **state)
{
	fail_every_call(*state, (struct plan){.kind = FAULT_SYNC, .once = true, .with_image = true});
}

static void every_failing_allocation_is_answered_truthfully(void **state)
{
	fail_every_call(*state, (struct plan){.kind = FAULT_MEMORY, .once = true});
}

static void after_a_failed_sync_nothing_is_acknowledged_until_the_store_is_opened_anew(void **state)
{
	struct store_fixture *fixture = *state;
	struct store_stats stats;

	append_events(fixture, 1);
	fault_arm(FAULT_SYNC, FAULT_LOG, 1, true);
	assert_int_equal(store_fixture_write(fixture, store_fixture_insert_project, (void *)(uintptr_t) "one"),
		STORE_OUTCOME_UNKNOWN);
	assert_true(fault_has_hit());
	assert_int_equal(fixture->broken_count, 1);
	assert_int_equal(store_fixture_write(fixture, store_fixture_insert_project, (void *)(uintptr_t) "two"),
		STORE_NOT_STORED);
	assert_int_equal(fixture->broken_count, 1);
	store_stats_read(fixture->store, &stats);
	assert_true(stats.broken);
	assert_int_equal(store_fixture_reopen(fixture), 0);
	assert_int_equal(store_fixture_write(fixture, store_fixture_insert_project, (void *)(uintptr_t) "two"), 0);
}

static void a_failed_sync_while_the_log_is_copied_breaks_the_store(void **state)
{
	struct store_fixture *fixture = *state;
	struct store_chain chain;
	char ids[BATCHES_AT_MOST * 10][16];
	struct store_stats stats = {0};
	unsigned stored = 0;

	fault_arm(FAULT_SYNC, FAULT_DATABASE, 1, true);
	for (unsigned i = 0; i < BATCHES_AT_MOST * 10 && !stats.broken; i++) {
		(void)snprintf(ids[i], sizeof(ids[i]), "p%u", i);
		stored += store_fixture_write(fixture, insert_all, ids[i]) == 0;
		store_stats_read(fixture->store, &stats);
	}
	fault_disarm();
	assert_true(stats.broken);
	assert_int_equal(store_fixture_reopen(fixture), 0);
	assert_int_equal(store_fixture_read(fixture, verify_log, &chain), 0);
	assert_int_equal(chain.sequence, stored);
}

/* ---- the log begins anew while it is copied */

/* More than the thread waits for, with one row. */
enum { FAT_BYTES = 5 * 1024 * 1024 };

static int insert_fat(struct store_tx *tx, void *arg)
{
	char *text = calloc(1, FAT_BYTES);
	int r = text ? store_fixture_insert_project(tx, arg) : -ENOMEM;

	if (r == 0) {
		memset(text, 'x', FAT_BYTES - 1);
		r = store_document_put(tx, store_fixture_str(arg), store_fixture_str(text));
	}
	free(text);
	return r;
}

struct copying {
	struct store *store;
	unsigned begun, known;
	int results[2];
};

static int write_beside(struct store *store, const char *id)
{
	CLEANUP(arena_release) struct arena arena = {.ceiling = 1024 * 1024};

	return store_call(store, &arena, store_fixture_insert_project, (void *)(uintptr_t)id);
}

/* One more row before the first copying reads how long the log is, so that nothing is left to be copied after it. A second one all
 * the same is overtaken by a row that begins the log anew.
 */
static void write_while_copying(void *arg, enum fault_copying at)
{
	struct copying *copying = arg;

	if (at == FAULT_COPYING_BEGINS && copying->begun++ == 0)
		copying->results[0] = write_beside(copying->store, "b");
	if (at == FAULT_COPYING_KNOWS && copying->known++ == 1)
		copying->results[1] = write_beside(copying->store, "c");
}

static void wait_until_copied(struct store_fixture *fixture, uint64_t times)
{
	struct store_stats stats;

	store_stats_read(fixture->store, &stats);
	while (stats.checkpoints < times || stats.is_copying) {
		(void)sched_yield();
		store_stats_read(fixture->store, &stats);
	}
}

/* SQLite before 3.51.3 forgets what is committed while a log without anything left to copy is copied once more
 * (sqlite.org/wal.html, "The WAL-Reset Bug").
 */
static void a_log_that_is_copied_is_left_alone_until_it_grows(void **state)
{
	struct store_fixture *fixture = *state;
	struct copying copying = {.store = fixture->store};
	size_t count = 0;

	fault_on_copying(write_while_copying, &copying);
	assert_int_equal(store_fixture_write(fixture, insert_fat, (void *)(uintptr_t) "a"), 0);
	wait_until_copied(fixture, 1);
	fault_on_copying(NULL, NULL);
	assert_int_equal(copying.results[0], 0);
	assert_int_equal(copying.results[1], 0);
	assert_int_equal(store_fixture_write(fixture, store_fixture_insert_project, (void *)(uintptr_t) "d"), 0);
	assert_int_equal(store_fixture_read(fixture, store_fixture_count_projects, &count), 0);
	assert_int_equal(count, copying.known > 1 ? 4 : 3);
	assert_int_equal(copying.begun, 1);
	assert_int_equal(store_fixture_write(fixture, insert_fat, (void *)(uintptr_t) "e"), 0);
	wait_until_copied(fixture, 2);
	assert_int_equal(store_fixture_read(fixture, store_fixture_count_projects, &count), 0);
	assert_int_equal(count, 4);
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, store_fixture_setup, store_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_STORE(what_is_append_only_can_be_neither_changed_nor_deleted),
		WITH_STORE(a_changed_row_of_the_log_is_found),
		WITH_STORE(a_row_taken_out_of_the_log_is_found),
		WITH_STORE(a_migration_with_another_text_is_refused),
		WITH_STORE(a_newer_version_that_only_the_log_knows_is_refused_and_untouched),
		WITH_STORE(a_store_locked_by_another_waits_and_then_stores_nothing),
		WITH_STORE(a_store_locked_for_less_than_the_budget_stores),
		WITH_STORE(every_failing_write_is_answered_truthfully),
		WITH_STORE(every_write_onto_a_full_disk_is_answered_truthfully),
		WITH_STORE(every_failing_read_is_answered_truthfully),
		WITH_STORE(every_failing_sync_is_answered_truthfully),
		WITH_STORE(every_failing_allocation_is_answered_truthfully),
		WITH_STORE(after_a_failed_sync_nothing_is_acknowledged_until_the_store_is_opened_anew),
		WITH_STORE(a_failed_sync_while_the_log_is_copied_breaks_the_store),
		WITH_STORE(a_log_that_is_copied_is_left_alone_until_it_grows),
	};

	fault_register();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
