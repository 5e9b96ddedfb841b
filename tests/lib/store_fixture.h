/* store_fixture.h - a store in a folder of its own, and rows to put into it, for tests of and above the store.
 *
 * Everything goes through store.h. A fixture is a test's state: setup opens, teardown closes and removes.
 */
#ifndef ADMITD_TESTS_LIB_STORE_FIXTURE_H
#define ADMITD_TESTS_LIB_STORE_FIXTURE_H

#include <pthread.h>

#include "daemon/store/store.h"

enum { STORE_FIXTURE_OPS = 600 };

struct store_fixture {
	char folder[64];
	struct store_config config; /* setup fills in the folder; a test may change the rest and reopen */
	struct store *store;
	struct arena arena; /* of this thread's calls */

	pthread_mutex_t lock;
	pthread_cond_t wake;
	unsigned done_count;
	int results[STORE_FIXTURE_OPS]; /* in the order of the `done`s */
	void *done_args[STORE_FIXTURE_OPS];
	bool is_held; /* an operation waits in `run` until it is let go */
	bool is_release_wanted;
	unsigned broken_count;
	int64_t last_event;
};

/* cmocka's setup and teardown; *state becomes the fixture. */
int store_fixture_setup(void **state);
/* The same without a store in the folder yet. */
int store_fixture_setup_closed(void **state);
int store_fixture_teardown(void **state);
/* Closes, and opens again with `config`; returns store_open's answer. */
int store_fixture_reopen(struct store_fixture *fixture) MUST_USE;
/* The path of a file in the folder, in a static buffer. */
const char *store_fixture_path(const struct store_fixture *fixture, const char *name);
/* All bytes of a file; the caller frees them. Fails the test when it can't. */
char *store_fixture_bytes(const char *path, size_t *ret_len);

/* store_call and store_read with the fixture's arena, which is reset before. */
int store_fixture_write(struct store_fixture *fixture, int (*run)(struct store_tx *tx, void *arg), void *arg) MUST_USE;
int store_fixture_read(struct store_fixture *fixture, int (*run)(struct store_tx *tx, void *arg), void *arg) MUST_USE;

/* Submits; the op is freed when it is done and its result kept in the fixture, whose address the op remembers. */
int store_fixture_submit(struct store_fixture *fixture, int (*run)(struct store_tx *tx, void *arg), void *arg) MUST_USE;
/* Submits an operation that keeps the writer inside `run` until store_fixture_let_go; returns when it is there. */
void store_fixture_hold_writer(struct store_fixture *fixture);
void store_fixture_let_go(struct store_fixture *fixture);
/* Waits until `count` operations are done in all. */
void store_fixture_wait(struct store_fixture *fixture, unsigned count);

/* `run`s with rows. arg: a project id, `const char *`. */
int store_fixture_insert_project(struct store_tx *tx, void *arg);
/* A task of a project that is there, as a planner would have submitted it. */
int store_fixture_insert_task(struct store_tx *tx, const char *project, const char *id);
/* A project "p", its task "t", a catalog, a document and the packages pkg_a and pkg_b (which depends on pkg_a). arg: NULL. */
int store_fixture_insert_plan(struct store_tx *tx, void *arg);
/* A decision dec with this id, of that catalog. */
int store_fixture_insert_decision(struct store_tx *tx, const char *id);
/* A live run of a package of that plan; its token's hash is its id. */
int store_fixture_insert_run(struct store_tx *tx, const char *id, const char *package);
/* An event of type test.event; arg: the subject's id, `const char *`. */
int store_fixture_append_event(struct store_tx *tx, void *arg);
/* Counts the projects; arg: size_t *. */
int store_fixture_count_projects(struct store_tx *tx, void *arg);

/* Puts the plan in and calls `run` in one writing operation; the test fails unless it answers 0. */
void store_fixture_run(void **state, int (*run)(struct store_tx *tx, void *arg));
/* An assert for `run`, which isn't on the test's own thread: says where, and makes the operation fail. */
#define STORE_EXPECT(condition)                                                 \
	do {                                                                    \
		if (!(condition)) {                                             \
			store_fixture_complain(__FILE__, __LINE__, #condition); \
			return -EPROTO;                                         \
		}                                                               \
	} while (0)
void store_fixture_complain(const char *file, int line, const char *condition);

/* A str of a NUL-terminated text. */
struct str store_fixture_str(const char *text);

#endif
