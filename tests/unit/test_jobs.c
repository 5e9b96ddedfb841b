/* The pool for long work: bounded, refused when full, ended without leaving anybody (chapter 3.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>

#include "daemon/jobs.h"

enum { MANY = 500 };

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned begun;
	unsigned ran;
	unsigned dropped;
	bool is_open; /* those that run may end */
} world = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void run(struct job *job)
{
	(void)job;
	(void)pthread_mutex_lock(&world.lock);
	world.begun++;
	(void)pthread_cond_broadcast(&world.changed);
	while (!world.is_open)
		(void)pthread_cond_wait(&world.changed, &world.lock);
	world.ran++;
	(void)pthread_cond_broadcast(&world.changed);
	(void)pthread_mutex_unlock(&world.lock);
}

static void drop(struct job *job)
{
	(void)job;
	(void)pthread_mutex_lock(&world.lock);
	world.dropped++;
	(void)pthread_mutex_unlock(&world.lock);
}

static void wait_for(const unsigned *count, unsigned wanted)
{
	(void)pthread_mutex_lock(&world.lock);
	while (*count < wanted)
		(void)pthread_cond_wait(&world.changed, &world.lock);
	(void)pthread_mutex_unlock(&world.lock);
}

static void set_open(bool is_open)
{
	(void)pthread_mutex_lock(&world.lock);
	world.is_open = is_open;
	(void)pthread_cond_broadcast(&world.changed);
	(void)pthread_mutex_unlock(&world.lock);
}

static int reset(void **state)
{
	(void)state;
	world.begun = world.ran = world.dropped = 0;
	world.is_open = false;
	return 0;
}

static void what_does_not_fit_is_refused_and_what_fits_runs(void **state)
{
	struct job jobs[6];
	struct jobs_figures figures;
	struct jobs *pool;

	(void)state;
	assert_int_equal(jobs_new(2, 2, &pool), 0);
	for (unsigned i = 0; i < 6; i++) {
		jobs[i] = (struct job){.run = run, .drop = drop};
		assert_int_equal(jobs_submit(pool, &jobs[i]), i < 4 ? 0 : JOBS_FULL);
	}
	wait_for(&world.begun, 2);
	jobs_figures(pool, &figures);
	assert_int_equal(figures.running, 2);
	assert_int_equal(figures.waiting, 2);
	assert_int_equal(figures.refused, 2);
	set_open(true);
	wait_for(&world.ran, 4);
	jobs_free(pool);
	assert_int_equal(world.dropped, 0);
}

static void *open_later(void *cls)
{
	struct jobs *pool = cls;

	/* the running one sees the end before it is let go */
	while (!jobs_is_stopping(pool)) {
	}
	set_open(true);
	return NULL;
}

static void stopping_drops_what_waits_and_waits_for_what_runs(void **state)
{
	struct job jobs[3];
	struct job late = {.run = run, .drop = drop};
	struct jobs *pool;
	pthread_t thread;

	(void)state;
	assert_int_equal(jobs_new(1, 8, &pool), 0);
	for (unsigned i = 0; i < 3; i++) {
		jobs[i] = (struct job){.run = run, .drop = drop};
		assert_int_equal(jobs_submit(pool, &jobs[i]), 0);
	}
	wait_for(&world.begun, 1);
	assert_int_equal(pthread_create(&thread, NULL, open_later, pool), 0);
	jobs_stop(pool);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(world.ran, 1);
	assert_int_equal(world.dropped, 2);
	assert_int_equal(jobs_submit(pool, &late), JOBS_STOPPING);
	jobs_stop(pool);
	jobs_free(pool);
}

static void many_jobs_all_run_once(void **state)
{
	static struct job jobs[MANY];
	struct jobs *pool;

	(void)state;
	set_open(true);
	assert_int_equal(jobs_new(4, MANY, &pool), 0);
	for (unsigned i = 0; i < MANY; i++) {
		jobs[i] = (struct job){.run = run, .drop = drop};
		assert_int_equal(jobs_submit(pool, &jobs[i]), 0);
	}
	wait_for(&world.ran, MANY);
	jobs_free(pool);
	assert_int_equal(world.ran, MANY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_does_not_fit_is_refused_and_what_fits_runs, reset),
		cmocka_unit_test_setup(stopping_drops_what_waits_and_waits_for_what_runs, reset),
		cmocka_unit_test_setup(many_jobs_all_run_once, reset),
	};

	jobs_free(NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
