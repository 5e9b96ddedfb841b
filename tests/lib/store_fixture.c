#include "config.h"

#include "tests/lib/store_fixture.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/store/catalog.h"
#include "daemon/store/decision.h"
#include "daemon/store/event.h"
#include "daemon/store/package.h"
#include "daemon/store/project.h"
#include "daemon/store/run.h"
#include "daemon/store/task.h"

struct str store_fixture_str(const char *text)
{
	return text ? (struct str){text, strlen(text)} : (struct str){0};
}

static void note_broken(void *arg)
{
	struct store_fixture *fixture = arg;

	(void)pthread_mutex_lock(&fixture->lock);
	fixture->broken_count++;
	(void)pthread_mutex_unlock(&fixture->lock);
}

static void note_events(void *arg, int64_t last_sequence)
{
	struct store_fixture *fixture = arg;

	(void)pthread_mutex_lock(&fixture->lock);
	fixture->last_event = last_sequence;
	(void)pthread_mutex_unlock(&fixture->lock);
}

int store_fixture_setup_closed(void **state)
{
	struct store_fixture *fixture = calloc(1, sizeof(*fixture));
	const char *base = getenv("TMPDIR");

	if (!fixture)
		return -1;
	(void)snprintf(fixture->folder, sizeof(fixture->folder), "%.40s/admitd-store-XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(fixture->folder))
		return -1;
	(void)pthread_mutex_init(&fixture->lock, NULL);
	(void)pthread_cond_init(&fixture->wake, NULL);
	arena_init(&fixture->arena, (size_t)16 * 1024 * 1024);
	fixture->config = (struct store_config){
		.state_folder = fixture->folder, .on_broken = note_broken, .on_events = note_events, .arg = fixture};
	*state = fixture;
	return 0;
}

int store_fixture_setup(void **state)
{
	struct store_fixture *fixture;

	if (store_fixture_setup_closed(state))
		return -1;
	fixture = *state;
	return store_open(&fixture->config, &fixture->store);
}

static int remove_entry(const char *path, const struct stat *facts, int kind, struct FTW *where)
{
	(void)facts;
	(void)kind;
	(void)where;
	return remove(path);
}

int store_fixture_teardown(void **state)
{
	struct store_fixture *fixture = *state;

	store_close(fixture->store);
	arena_release(&fixture->arena);
	(void)nftw(fixture->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	(void)pthread_mutex_destroy(&fixture->lock);
	(void)pthread_cond_destroy(&fixture->wake);
	free(fixture);
	return 0;
}

int store_fixture_reopen(struct store_fixture *fixture)
{
	store_close(fixture->store);
	fixture->store = NULL;
	return store_open(&fixture->config, &fixture->store);
}

const char *store_fixture_path(const struct store_fixture *fixture, const char *name)
{
	static char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", fixture->folder, name);
	return path;
}

char *store_fixture_bytes(const char *path, size_t *ret_len)
{
	FILE *file = fopen(path, "rb");
	char *bytes = NULL;

	assert_non_null(file);
	*ret_len = 0;
	for (size_t got = 1; got > 0; *ret_len += got) {
		bytes = realloc(bytes, *ret_len + 65536);
		assert_non_null(bytes);
		got = fread(bytes + *ret_len, 1, 65536, file);
	}
	assert_int_equal(fclose(file), 0);
	return bytes;
}

int store_fixture_write(struct store_fixture *fixture, int (*run)(struct store_tx *tx, void *arg), void *arg)
{
	return store_call(fixture->store, &fixture->arena, run, arg);
}

int store_fixture_read(struct store_fixture *fixture, int (*run)(struct store_tx *tx, void *arg), void *arg)
{
	arena_reset(&fixture->arena);
	return store_read(fixture->store, &fixture->arena, run, arg);
}

struct submitted {
	struct store_op op; /* first: `done` gets its address */
	struct arena arena;
	struct store_fixture *fixture;
};

static void end_submitted(struct store_op *op, int result)
{
	struct submitted *submitted = (struct submitted *)op;
	struct store_fixture *fixture = submitted->fixture;

	(void)pthread_mutex_lock(&fixture->lock);
	fixture->results[fixture->done_count] = result;
	fixture->done_args[fixture->done_count++] = op->arg;
	(void)pthread_cond_broadcast(&fixture->wake);
	(void)pthread_mutex_unlock(&fixture->lock);
	arena_release(&submitted->arena);
	free(submitted);
}

int store_fixture_submit(struct store_fixture *fixture, int (*run)(struct store_tx *tx, void *arg), void *arg)
{
	struct submitted *submitted = calloc(1, sizeof(*submitted));
	int r;

	assert_non_null(submitted);
	arena_init(&submitted->arena, 1024 * 1024);
	submitted->fixture = fixture;
	submitted->op = (struct store_op){.run = run, .done = end_submitted, .arg = arg, .arena = &submitted->arena};
	r = store_submit(fixture->store, &submitted->op);
	if (r)
		free(submitted);
	return r;
}

static int hold(struct store_tx *tx, void *arg)
{
	struct store_fixture *fixture = arg;

	(void)tx;
	(void)pthread_mutex_lock(&fixture->lock);
	fixture->is_held = true;
	(void)pthread_cond_broadcast(&fixture->wake);
	while (!fixture->is_release_wanted)
		(void)pthread_cond_wait(&fixture->wake, &fixture->lock);
	fixture->is_held = false;
	(void)pthread_mutex_unlock(&fixture->lock);
	return 0;
}

void store_fixture_hold_writer(struct store_fixture *fixture)
{
	fixture->is_release_wanted = false;
	assert_int_equal(store_fixture_submit(fixture, hold, fixture), 0);
	(void)pthread_mutex_lock(&fixture->lock);
	while (!fixture->is_held)
		(void)pthread_cond_wait(&fixture->wake, &fixture->lock);
	(void)pthread_mutex_unlock(&fixture->lock);
}

void store_fixture_let_go(struct store_fixture *fixture)
{
	(void)pthread_mutex_lock(&fixture->lock);
	fixture->is_release_wanted = true;
	(void)pthread_cond_broadcast(&fixture->wake);
	(void)pthread_mutex_unlock(&fixture->lock);
}

void store_fixture_wait(struct store_fixture *fixture, unsigned count)
{
	(void)pthread_mutex_lock(&fixture->lock);
	while (fixture->done_count < count)
		(void)pthread_cond_wait(&fixture->wake, &fixture->lock);
	(void)pthread_mutex_unlock(&fixture->lock);
}

int store_fixture_insert_project(struct store_tx *tx, void *arg)
{
	struct store_project row = {.id = store_fixture_str(arg), .name = STR("a project"), .created_at = 1};

	return store_project_insert(tx, &row);
}

static int insert_package(struct store_tx *tx, const char *id, const char *label, int64_t position)
{
	struct store_package row = {.id = store_fixture_str(id),
		.task = STR("t"),
		.plan_revision = 1,
		.position = position,
		.label = store_fixture_str(label),
		.agent = store_fixture_str(label),
		.document_digest = STR("sha256:doc"),
		.created_at = 3,
		.attempt_limit = 3};

	return store_package_insert(tx, &row, STR("{}"));
}

int store_fixture_insert_decision(struct store_tx *tx, const char *id)
{
	struct store_decision row = {.id = store_fixture_str(id),
		.inputs_json = STR("{}"),
		.result_json = STR("{}"),
		.result_digest = STR("sha256:result"),
		.catalog_digest = STR("sha256:catalog"),
		.package_digest = STR("sha256:doc"),
		.engine_revision = 1,
		.created_at = 4};

	return store_decision_put(tx, &row);
}

int store_fixture_insert_task(struct store_tx *tx, const char *project, const char *id)
{
	struct store_task task = {.id = store_fixture_str(id),
		.project = store_fixture_str(project),
		.title = STR("a task"),
		.plan_revision = 1,
		.plan_digest = STR("sha256:plan"),
		.submitted_by = {STR("tok_1"), STR("planner")},
		.submitted_at = 2,
		.contributors_json = STR("[\"planner\"]"),
		.created_at = 2,
		.status_at = 2};

	return store_task_insert(tx, &task);
}

int store_fixture_insert_plan(struct store_tx *tx, void *arg)
{
	struct store_dependency edge = {STR("pkg_b"), STR("pkg_a")};
	int r = store_fixture_insert_project(tx, (void *)(uintptr_t) "p");

	(void)arg;
	if (r == 0)
		r = store_catalog_put(tx, STR("sha256:catalog"), STR("{}"));
	if (r == 0)
		r = store_fixture_insert_task(tx, "p", "t");
	if (r == 0)
		r = insert_package(tx, "pkg_a", "alpha", 0);
	if (r == 0)
		r = insert_package(tx, "pkg_b", "beta", 1);
	return r ? r : store_dependency_insert(tx, &edge);
}

int store_fixture_append_event(struct store_tx *tx, void *arg)
{
	struct store_event row = {.type = STR("test.event"),
		.subject_kind = STR("test"),
		.subject_id = store_fixture_str(arg),
		.actor = {STR("tok_1"), STR("somebody")},
		.at = 7,
		.payload_json = STR("{\"n\":1}")};

	return store_event_append(tx, &row);
}

int store_fixture_count_projects(struct store_tx *tx, void *arg)
{
	struct store_project_list list;
	int r = store_project_list(tx, (struct str){0}, (struct str){0}, 10000, &list);

	if (r == 0)
		*(size_t *)arg = list.count;
	return r;
}

int store_fixture_insert_run(struct store_tx *tx, const char *id, const char *package)
{
	struct store_run row = {.id = store_fixture_str(id),
		.package = store_fixture_str(package),
		.attempt = 1,
		.claimed_by = {STR("tok_e"), STR("executor")},
		.token_hash = store_fixture_str(id),
		.lease_expires_at = 60,
		.decision = STR("sha256:d"),
		.root_revision = 1,
		.claimed_at = 10};
	int r = store_fixture_insert_decision(tx, "sha256:d");

	return r ? r : store_run_insert(tx, &row);
}

void store_fixture_complain(const char *file, int line, const char *condition)
{
	(void)fprintf(stderr, "# %s:%d: %s\n", file, line, condition);
}

void store_fixture_run(void **state, int (*run)(struct store_tx *tx, void *arg))
{
	struct store_fixture *fixture = *state;

	assert_int_equal(store_fixture_write(fixture, store_fixture_insert_plan, NULL), 0);
	assert_int_equal(store_fixture_write(fixture, run, NULL), 0);
}
