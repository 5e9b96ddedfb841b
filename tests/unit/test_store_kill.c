/* A process that is killed loses nothing that it acknowledged (chapter 6.2), through store.h alone.
 *
 * STORE_KILL_ROUNDS sets how often; a few by default.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sodium.h>

#include "daemon/store/event.h"
#include "daemon/store/project.h"
#include "tests/lib/store_fixture.h"

enum { ROUNDS = 8, WAITING = 40, ACKNOWLEDGED_AT_MOST = 600 };

struct write {
	struct store_op op; /* first: `done` gets its address */
	struct arena arena;
	uint32_t number;
	int pipe;
	struct store *store;
};

static struct str id_of(struct arena *arena, uint32_t number)
{
	return arena_printf(arena, "n%010u", number);
}

static int insert_numbered(struct store_tx *tx, void *arg)
{
	struct write *write = arg;
	struct str id = id_of(store_tx_arena(tx), write->number);
	struct store_project row = {.id = id, .name = id, .created_at = 1};
	int r = store_project_insert(tx, &row);

	return r ? r : store_fixture_append_event(tx, (void *)(uintptr_t)id.bytes);
}

/* Acknowledges through the pipe and asks for the next one, until the process is killed. */
static void acknowledge(struct store_op *op, int result)
{
	struct write *done = (struct write *)op;

	if (result || write(done->pipe, &done->number, sizeof(done->number)) != (ssize_t)sizeof(done->number))
		_exit(2);
	done->number += WAITING;
	if (store_submit(done->store, &done->op))
		_exit(3);
}

static _Noreturn void write_until_killed(struct store_fixture *fixture, uint32_t first, int pipe)
{
	static struct write writes[WAITING];

	if (store_open(&fixture->config, &fixture->store))
		_exit(4);
	for (uint32_t i = 0; i < WAITING; i++) {
		struct write *next = &writes[i];

		*next = (struct write){.number = first + i, .pipe = pipe, .store = fixture->store};
		arena_init(&next->arena, 65536);
		next->op = (struct store_op){
			.run = insert_numbered, .done = acknowledge, .arg = next, .arena = &next->arena};
		if (store_submit(fixture->store, &next->op))
			_exit(5);
	}
	for (;;)
		(void)pause();
}

/* Reads acknowledgements, kills after `count` of them, and returns how many came in all. */
static size_t read_and_kill(int pipe, pid_t child, uint32_t *numbers, size_t count)
{
	size_t got = 0;
	int status;

	while (got < ACKNOWLEDGED_AT_MOST * 4 &&
		read(pipe, &numbers[got], sizeof(*numbers)) == (ssize_t)sizeof(*numbers)) {
		if (++got == count)
			assert_int_equal(kill(child, SIGKILL), 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	return got;
}

struct acknowledged {
	const uint32_t *numbers;
	size_t count;
	size_t missing;
	size_t projects;
	struct store_chain chain;
};

static int look_for_all(struct store_tx *tx, void *arg)
{
	struct acknowledged *acknowledged = arg;
	struct store_project project;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < acknowledged->count; i++) {
		r = store_project_find(tx, id_of(store_tx_arena(tx), acknowledged->numbers[i]), &project);
		acknowledged->missing += r == STORE_ABSENT;
	}
	while (r >= 0 && r != STORE_CHAIN_BROKEN && !acknowledged->chain.is_at_end)
		r = store_event_verify(tx, &acknowledged->chain, 500);
	if (r < 0 || r == STORE_CHAIN_BROKEN)
		return r;
	return store_fixture_count_projects(tx, &acknowledged->projects);
}

static void kill_once(struct store_fixture *fixture, uint32_t first)
{
	static uint32_t numbers[ACKNOWLEDGED_AT_MOST * 4];
	struct acknowledged acknowledged = {.numbers = numbers};
	int ends[2];
	pid_t child;

	store_close(fixture->store);
	fixture->store = NULL;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		(void)close(ends[0]);
		write_until_killed(fixture, first, ends[1]);
	}
	(void)close(ends[1]);
	acknowledged.count = read_and_kill(ends[0], child, numbers, 1 + randombytes_uniform(ACKNOWLEDGED_AT_MOST));
	(void)close(ends[0]);
	assert_int_equal(store_open(&fixture->config, &fixture->store), 0);
	assert_int_equal(store_fixture_read(fixture, look_for_all, &acknowledged), 0);
	assert_int_equal(acknowledged.missing, 0);
	/* each operation wrote a project and an event: neither is there without the other */
	assert_int_equal(acknowledged.projects, acknowledged.chain.sequence);
}

static void what_was_acknowledged_survives_a_kill_at_any_moment(void **state)
{
	const char *rounds = getenv("STORE_KILL_ROUNDS");
	unsigned long count = rounds ? strtoul(rounds, NULL, 10) : ROUNDS;

	for (unsigned long i = 0; i < count; i++) {
		kill_once(*state, (uint32_t)i * 1000000);
		if (i % 8 == 7) { /* from an empty store again */
			assert_int_equal(store_fixture_teardown(state), 0);
			assert_int_equal(store_fixture_setup(state), 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_acknowledged_survives_a_kill_at_any_moment,
			store_fixture_setup, store_fixture_teardown),
	};

	return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
