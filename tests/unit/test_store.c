/* Opening a store and units of work, through store.h alone (chapter 3.2 "Writes"). */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/store/event.h"
#include "daemon/store/package.h"
#include "daemon/store/project.h"
#include "daemon/store/store.h"
#include "tests/lib/store_fixture.h"

static size_t count_projects(struct store_fixture *fixture)
{
	size_t count = 0;

	assert_int_equal(store_fixture_read(fixture, store_fixture_count_projects, &count), 0);
	return count;
}

static void a_store_opened_again_is_the_same_and_keeps_its_rows(void **state)
{
	struct store_fixture *fixture = *state;
	char identity[33];

	assert_int_equal(store_identity(fixture->store).len, 32);
	(void)snprintf(identity, sizeof(identity), "%s", store_identity(fixture->store).bytes);
	assert_int_equal(store_fixture_write(fixture, store_fixture_insert_project, (void *)(uintptr_t) "kept"), 0);
	assert_int_equal(store_fixture_reopen(fixture), 0);
	assert_int_equal(store_fixture_reopen(fixture), 0);
	assert_string_equal(store_identity(fixture->store).bytes, identity);
	assert_int_equal(count_projects(fixture), 1);
}

static mode_t mode_of(const char *path)
{
	struct stat facts;

	assert_int_equal(stat(path, &facts), 0);
	return facts.st_mode & 07777;
}

static void folder_and_files_are_for_their_owner_only(void **state)
{
	struct store_fixture *fixture = *state;

	assert_int_equal(chmod(fixture->folder, 0755), 0);
	assert_int_equal(chmod(store_fixture_path(fixture, "admitd.db"), 0644), 0);
	assert_int_equal(store_fixture_reopen(fixture), 0);
	assert_int_equal(store_fixture_write(fixture, store_fixture_insert_project, (void *)(uintptr_t) "p"), 0);
	assert_int_equal(mode_of(fixture->folder), 0700);
	assert_int_equal(mode_of(store_fixture_path(fixture, "admitd.db")), 0600);
	assert_int_equal(mode_of(store_fixture_path(fixture, "admitd.db-wal")), 0600);
}

static void a_second_opener_is_refused_and_the_first_works_on(void **state)
{
	struct store_fixture *fixture = *state;
	struct store *second = NULL;

	assert_int_equal(store_open(&fixture->config, &second), STORE_OPEN_ELSEWHERE);
	assert_null(second);
	assert_int_equal(store_fixture_write(fixture, store_fixture_insert_project, (void *)(uintptr_t) "p"), 0);
	assert_int_equal(count_projects(fixture), 1);
}

/* Puts these bytes in place of the store's file, and expects them still there after a refusal. */
static void expect_refusal(struct store_fixture *fixture, const char *bytes, size_t len, int result)
{
	const char *path = store_fixture_path(fixture, "admitd.db");
	FILE *file = fopen(path, "wb");
	char *after;
	size_t after_len;

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(store_open(&fixture->config, &fixture->store), result);
	assert_null(fixture->store);
	after = store_fixture_bytes(path, &after_len);
	assert_int_equal(after_len, len);
	assert_memory_equal(after, bytes, len);
	free(after);
	assert_int_equal(access(store_fixture_path(fixture, "admitd.db-wal"), F_OK), -1);
}

static void what_is_not_our_database_is_refused_and_untouched(void **state)
{
	struct store_fixture *fixture = *state;
	static const char text[] = "These are the notes of somebody else.\n";
	char *ours;
	size_t len;

	store_close(fixture->store);
	fixture->store = NULL;
	ours = store_fixture_bytes(store_fixture_path(fixture, "admitd.db"), &len);
	expect_refusal(fixture, text, sizeof(text) - 1, STORE_NOT_A_DATABASE);
	expect_refusal(fixture, ours, 50, STORE_NOT_A_DATABASE);
	ours[63] = 99; /* user_version */
	expect_refusal(fixture, ours, len, STORE_NEWER);
	ours[68] = 0; /* application_id */
	expect_refusal(fixture, ours, len, STORE_FOREIGN);
	free(ours);
}

static void a_file_cut_short_is_refused(void **state)
{
	struct store_fixture *fixture = *state;

	store_close(fixture->store);
	fixture->store = NULL;
	assert_int_equal(truncate(store_fixture_path(fixture, "admitd.db"), 4096), 0);
	assert_int_equal(store_open(&fixture->config, &fixture->store), STORE_NOT_A_DATABASE);
}

static void what_waits_together_commits_together_and_is_answered_in_order(void **state)
{
	struct store_fixture *fixture = *state;
	char ids[40][8];
	struct store_stats before;
	struct store_stats after;

	store_stats_read(fixture->store, &before);
	store_fixture_hold_writer(fixture);
	for (unsigned i = 0; i < 40; i++) {
		(void)snprintf(ids[i], sizeof(ids[i]), "p%u", i);
		assert_int_equal(store_fixture_submit(fixture, store_fixture_insert_project, ids[i]), 0);
	}
	store_fixture_let_go(fixture);
	store_fixture_wait(fixture, 41);
	store_stats_read(fixture->store, &after);
	assert_int_equal(after.commits - before.commits, 2); /* the one that held, and the forty */
	assert_int_equal(after.operations - before.operations, 41);
	for (unsigned i = 0; i < 40; i++) {
		assert_int_equal(fixture->results[i + 1], 0);
		assert_ptr_equal(fixture->done_args[i + 1], ids[i]);
	}
	assert_int_equal(count_projects(fixture), 40);
}

static int insert_then_refuse(struct store_tx *tx, void *arg)
{
	int r = store_fixture_insert_project(tx, arg);

	if (r == 0)
		r = store_fixture_append_event(tx, arg);
	return r ? r : STORE_STALE;
}

static int insert_with_event(struct store_tx *tx, void *arg)
{
	int r = store_fixture_insert_project(tx, arg);

	return r ? r : store_fixture_append_event(tx, arg);
}

static int verify_log(struct store_tx *tx, void *arg)
{
	struct store_chain *chain = arg;
	int r = 0;

	while (r == 0 && !chain->is_at_end)
		r = store_event_verify(tx, chain, 3);
	return r;
}

static void a_refused_operation_takes_back_its_own_rows_only(void **state)
{
	struct store_fixture *fixture = *state;
	struct store_chain chain = {0};
	static char ids[][8] = {"one", "two", "two", "three", "four"};

	store_fixture_hold_writer(fixture);
	assert_int_equal(store_fixture_submit(fixture, insert_with_event, ids[0]), 0);
	assert_int_equal(store_fixture_submit(fixture, insert_with_event, ids[1]), 0);
	assert_int_equal(store_fixture_submit(fixture, insert_with_event, ids[2]), 0);
	assert_int_equal(store_fixture_submit(fixture, insert_then_refuse, ids[3]), 0);
	assert_int_equal(store_fixture_submit(fixture, insert_with_event, ids[4]), 0);
	store_fixture_let_go(fixture);
	store_fixture_wait(fixture, 6);
	assert_int_equal(fixture->results[1], 0);
	assert_int_equal(fixture->results[2], 0);
	assert_int_equal(fixture->results[3], STORE_CONFLICT);
	assert_int_equal(fixture->results[4], STORE_STALE);
	assert_int_equal(fixture->results[5], 0);
	assert_int_equal(count_projects(fixture), 3);
	assert_int_equal(store_fixture_read(fixture, verify_log, &chain), 0);
	assert_int_equal(chain.sequence, 3);
	assert_int_equal(fixture->last_event, 3);
}

static void the_queue_says_when_it_is_full_and_drops_nothing(void **state)
{
	struct store_fixture *fixture = *state;

	fixture->config.queue_limit = 2;
	assert_int_equal(store_fixture_reopen(fixture), 0);
	store_fixture_hold_writer(fixture);
	assert_int_equal(store_fixture_submit(fixture, store_fixture_insert_project, (void *)(uintptr_t) "one"), 0);
	assert_int_equal(store_fixture_submit(fixture, store_fixture_insert_project, (void *)(uintptr_t) "two"), 0);
	assert_int_equal(store_fixture_submit(fixture, store_fixture_insert_project, (void *)(uintptr_t) "three"),
		STORE_QUEUE_FULL);
	store_fixture_let_go(fixture);
	store_fixture_wait(fixture, 3);
	assert_int_equal(count_projects(fixture), 2);
	assert_int_equal(store_fixture_write(fixture, store_fixture_insert_project, (void *)(uintptr_t) "three"), 0);
}

static void closing_runs_what_was_accepted(void **state)
{
	struct store_fixture *fixture = *state;

	store_fixture_hold_writer(fixture);
	assert_int_equal(store_fixture_submit(fixture, store_fixture_insert_project, (void *)(uintptr_t) "one"), 0);
	assert_int_equal(store_fixture_submit(fixture, store_fixture_insert_project, (void *)(uintptr_t) "two"), 0);
	store_fixture_let_go(fixture);
	assert_int_equal(store_fixture_reopen(fixture), 0);
	assert_int_equal(fixture->done_count, 3);
	assert_int_equal(count_projects(fixture), 2);
}

struct snapshot {
	struct store_fixture *fixture;
	struct arena arena;
	size_t before;
	size_t after;
};

static int read_around_a_write(struct store_tx *tx, void *arg)
{
	struct snapshot *snapshot = arg;
	int r = store_fixture_count_projects(tx, &snapshot->before);

	if (r == 0)
		r = store_call(snapshot->fixture->store, &snapshot->arena, store_fixture_insert_project,
			(void *)(uintptr_t) "new");
	return r ? r : store_fixture_count_projects(tx, &snapshot->after);
}

static void a_reader_sees_one_snapshot(void **state)
{
	struct store_fixture *fixture = *state;
	struct snapshot snapshot = {.fixture = fixture};

	arena_init(&snapshot.arena, 65536);
	assert_int_equal(store_fixture_write(fixture, store_fixture_insert_project, (void *)(uintptr_t) "old"), 0);
	assert_int_equal(store_fixture_read(fixture, read_around_a_write, &snapshot), 0);
	assert_int_equal(snapshot.before, 1);
	assert_int_equal(snapshot.after, 1);
	assert_int_equal(count_projects(fixture), 2);
	arena_release(&snapshot.arena);
}

static void writing_in_a_read_is_a_bug_that_stops_the_process(void **state)
{
	struct store_fixture *fixture = *state;
	int status = 0;
	pid_t child;

	store_close(fixture->store);
	fixture->store = NULL;
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		(void)signal(SIGABRT, SIG_DFL);
		if (!freopen("/dev/null", "w", stderr))
			_exit(3);
		if (store_open(&fixture->config, &fixture->store))
			_exit(2);
		_exit(store_fixture_read(fixture, store_fixture_insert_project, (void *)(uintptr_t) "p") == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

struct fat {
	char id[16];
	unsigned runs;
	size_t bytes;
};

/* A project and a document of some size. */
static int insert_fat(struct store_tx *tx, void *arg)
{
	struct fat *fat = arg;
	struct str text = {arena_alloc(store_tx_arena(tx), fat->bytes + 1), fat->bytes};
	int r;

	fat->runs++;
	if (!text.bytes)
		return -ENOMEM;
	memset((char *)(uintptr_t)text.bytes, 'x', text.len);
	r = insert_with_event(tx, fat->id);
	if (r)
		return r;
	return store_document_put(tx, store_fixture_str(fat->id), text);
}

static void a_full_file_fails_one_operation_and_the_others_of_its_batch_are_stored(void **state)
{
	struct store_fixture *fixture = *state;
	struct fat small[] = {{.id = "one", .bytes = 10}, {.id = "two", .bytes = 10}, {.id = "four", .bytes = 10}};
	struct fat large = {.id = "large", .bytes = 900000};
	struct store_chain chain = {0};
	struct store_stats stats;

	fixture->config.max_pages = 120; /* the empty store needs some 80 */
	assert_int_equal(store_fixture_reopen(fixture), 0);
	store_fixture_hold_writer(fixture);
	assert_int_equal(store_fixture_submit(fixture, insert_fat, &small[0]), 0);
	assert_int_equal(store_fixture_submit(fixture, insert_fat, &small[1]), 0);
	assert_int_equal(store_fixture_submit(fixture, insert_fat, &large), 0);
	assert_int_equal(store_fixture_submit(fixture, insert_fat, &small[2]), 0);
	store_fixture_let_go(fixture);
	store_fixture_wait(fixture, 5);
	assert_int_equal(fixture->results[0], 0);
	assert_int_equal(fixture->results[1], 0);
	assert_int_equal(fixture->results[2], 0);
	assert_int_equal(fixture->results[3], -ENOSPC);
	assert_int_equal(fixture->results[4], 0);
	assert_int_equal(small[0].runs, 2);
	assert_int_equal(small[1].runs, 2);
	assert_int_equal(large.runs, 1);
	assert_int_equal(small[2].runs, 1);
	store_stats_read(fixture->store, &stats);
	assert_int_equal(stats.reruns, 2);
	assert_false(stats.broken);
	assert_int_equal(count_projects(fixture), 3);
	assert_int_equal(store_fixture_read(fixture, verify_log, &chain), 0);
	assert_int_equal(chain.sequence, 3);
}

static int ignore_failure(struct store_tx *tx, void *arg)
{
	int r = insert_fat(tx, arg);

	/* The transaction is gone now: this must not become one of its own. */
	if (r == -ENOSPC)
		r = store_fixture_insert_project(tx, (void *)(uintptr_t) "after");
	return r == -ENOSPC ? 0 : r;
}

static void an_operation_that_ignores_a_full_file_fails_all_the_same(void **state)
{
	struct store_fixture *fixture = *state;
	struct fat large = {.id = "large", .bytes = 900000};

	fixture->config.max_pages = 120;
	assert_int_equal(store_fixture_reopen(fixture), 0);
	assert_int_equal(store_fixture_write(fixture, ignore_failure, &large), -ENOSPC);
	assert_int_equal(count_projects(fixture), 0);
}

static int use_most_of_the_arena(struct store_tx *tx, void *arg)
{
	(void)arg;
	return arena_alloc(store_tx_arena(tx), 40000) ? 0 : -ENOMEM;
}

static void every_run_begins_with_an_empty_arena(void **state)
{
	struct store_fixture *fixture = *state;
	struct arena arena;

	arena_init(&arena, 65536);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(store_call(fixture->store, &arena, use_most_of_the_arena, NULL), 0);
	arena_release(&arena);
}

enum { THREADS = 4, WRITES_EACH = 50 };

struct worker {
	struct store_fixture *fixture;
	unsigned number;
	int worst; /* the first answer that isn't 0 */
};

static void *write_many(void *arg)
{
	struct worker *worker = arg;
	struct arena arena;

	arena_init(&arena, 65536);
	for (unsigned i = 0; i < WRITES_EACH && worker->worst == 0; i++) {
		char id[16];

		(void)snprintf(id, sizeof(id), "p%u-%u", worker->number, i);
		worker->worst = store_call(worker->fixture->store, &arena, insert_with_event, id);
	}
	arena_release(&arena);
	return NULL;
}

/* Counts until all are there; the count never shrinks. */
static void *read_many(void *arg)
{
	struct worker *worker = arg;
	struct arena arena;
	size_t before = 0;
	size_t count = 0;

	arena_init(&arena, 1024 * 1024);
	while (count < (size_t)THREADS * WRITES_EACH && worker->worst == 0) {
		arena_reset(&arena);
		worker->worst = store_read(worker->fixture->store, &arena, store_fixture_count_projects, &count);
		if (count < before)
			worker->worst = -EPROTO;
		before = count;
	}
	arena_release(&arena);
	return NULL;
}

static void many_threads_write_and_read_at_once(void **state)
{
	struct store_fixture *fixture = *state;
	struct worker workers[2 * THREADS];
	pthread_t threads[2 * THREADS];
	struct store_chain chain = {0};

	fixture->config.readers = 2; /* fewer than ask */
	assert_int_equal(store_fixture_reopen(fixture), 0);
	for (unsigned i = 0; i < 2 * THREADS; i++) {
		workers[i] = (struct worker){.fixture = fixture, .number = i};
		assert_int_equal(
			pthread_create(&threads[i], NULL, i < THREADS ? write_many : read_many, &workers[i]), 0);
	}
	for (unsigned i = 0; i < 2 * THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(workers[i].worst, 0);
	}
	assert_int_equal(store_fixture_read(fixture, verify_log, &chain), 0);
	assert_int_equal(chain.sequence, THREADS * WRITES_EACH);
}

static int id_of(struct arena *arena, const char *prefix, struct str *ret)
{
	*ret = store_id_new(arena, prefix);
	return ret->bytes ? 0 : -ENOMEM;
}

static void ids_are_a_prefix_and_26_digits_and_differ(void **state)
{
	struct store_fixture *fixture = *state;
	struct str first;
	struct str second;

	assert_int_equal(id_of(&fixture->arena, "pkg_", &first), 0);
	assert_int_equal(id_of(&fixture->arena, "pkg_", &second), 0);
	assert_int_equal(first.len, 30);
	assert_memory_equal(first.bytes, "pkg_", 4);
	assert_int_equal(strspn(first.bytes + 4, "abcdefghijklmnopqrstuvwxyz234567"), 26);
	assert_false(str_equal(first, second));
}

static void the_log_of_writes_is_copied_into_the_file_when_it_grows(void **state)
{
	struct store_fixture *fixture = *state;
	struct store_stats stats = {0};
	struct fat fat = {.bytes = 900000};

	for (unsigned i = 0; i < 40 && stats.checkpoints == 0; i++) {
		(void)snprintf(fat.id, sizeof(fat.id), "p%u", i);
		assert_int_equal(store_fixture_write(fixture, insert_fat, &fat), 0);
		store_stats_read(fixture->store, &stats);
	}
	assert_true(stats.checkpoints > 0);
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, store_fixture_setup, store_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_STORE(a_store_opened_again_is_the_same_and_keeps_its_rows),
		WITH_STORE(folder_and_files_are_for_their_owner_only),
		WITH_STORE(a_second_opener_is_refused_and_the_first_works_on),
		WITH_STORE(what_is_not_our_database_is_refused_and_untouched),
		WITH_STORE(a_file_cut_short_is_refused),
		WITH_STORE(what_waits_together_commits_together_and_is_answered_in_order),
		WITH_STORE(a_refused_operation_takes_back_its_own_rows_only),
		WITH_STORE(the_queue_says_when_it_is_full_and_drops_nothing),
		WITH_STORE(closing_runs_what_was_accepted),
		WITH_STORE(a_reader_sees_one_snapshot),
		WITH_STORE(writing_in_a_read_is_a_bug_that_stops_the_process),
		WITH_STORE(a_full_file_fails_one_operation_and_the_others_of_its_batch_are_stored),
		WITH_STORE(an_operation_that_ignores_a_full_file_fails_all_the_same),
		WITH_STORE(every_run_begins_with_an_empty_arena),
		WITH_STORE(many_threads_write_and_read_at_once),
		WITH_STORE(ids_are_a_prefix_and_26_digits_and_differ),
		WITH_STORE(the_log_of_writes_is_copied_into_the_file_when_it_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
