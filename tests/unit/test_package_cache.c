/* Compiled packages: shared, compiled once at a time, dropped over the bound (chapter 3.2 "Memory"). */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/lifecycle/package_cache.h"

enum { THREADS = 8, MANY = 50, LARGE = 1024 * 1024 * 64 };

static struct catalog *catalog;
static struct catalog *other_catalog;

static int load_catalogs(void **state)
{
	struct catalog_fault fault;

	(void)state;
	return catalog_new(catalog_default_bytes(), &catalog, &fault) ||
		catalog_new(catalog_default_bytes(), &other_catalog, &fault);
}

static int free_catalogs(void **state)
{
	(void)state;
	catalog_free(catalog);
	catalog_free(other_catalog);
	return 0;
}

/* Loads an empty document and counts; with a barrier it makes the others come while it is at it. */
struct loader {
	atomic_uint loads;
	atomic_uint arrived;
	unsigned wanted;
	int answer;
};

static int load(void *arg, json_t **ret_document)
{
	struct loader *loader = arg;

	atomic_fetch_add(&loader->loads, 1);
	while (atomic_load(&loader->arrived) < loader->wanted)
		(void)sched_yield();
	if (loader->answer != 0)
		return loader->answer;
	*ret_document = json_object();
	return 0;
}

static struct str digest_of(char *text, size_t size, unsigned number)
{
	(void)snprintf(text, size, "sha256:%064u", number);
	return (struct str){text, strlen(text)};
}

static void what_is_there_is_not_compiled_again(void **state)
{
	struct package_cache *cache = package_cache_new(LARGE);
	struct loader loader = {0};
	struct cached_package *first = NULL;
	struct cached_package *second = NULL;
	struct package_cache_stats stats;
	char text[80];
	struct str digest = digest_of(text, sizeof(text), 1);

	(void)state;
	assert_int_equal(package_cache_take(cache, catalog, digest, load, &loader, &first), 0);
	assert_int_equal(package_cache_take(cache, catalog, digest, load, &loader, &second), 0);
	assert_ptr_equal(package_cache_get(first), package_cache_get(second));
	assert_int_equal(loader.loads, 1);
	package_cache_give(cache, second);
	assert_int_equal(package_cache_take(cache, other_catalog, digest, load, &loader, &second), 0);
	assert_ptr_not_equal(package_cache_get(first), package_cache_get(second));
	package_cache_stats_read(cache, &stats);
	assert_int_equal(stats.hits, 1);
	assert_int_equal(stats.misses, 2);
	assert_int_equal(stats.packages, 2);
	package_cache_give(cache, first);
	package_cache_give(cache, second);
	package_cache_free(cache);
}

static void the_bound_drops_what_was_not_used_for_longest_and_nobody_holds(void **state)
{
	struct package_cache *cache = package_cache_new(1);
	struct loader loader = {0};
	struct cached_package *held = NULL;
	struct package_cache_stats stats;
	char text[80];

	(void)state;
	assert_int_equal(package_cache_take(cache, catalog, digest_of(text, sizeof(text), 0), load, &loader, &held), 0);
	for (unsigned i = 1; i <= MANY; i++) {
		struct cached_package *one = NULL;

		assert_int_equal(
			package_cache_take(cache, catalog, digest_of(text, sizeof(text), i), load, &loader, &one), 0);
		package_cache_give(cache, one);
	}
	package_cache_stats_read(cache, &stats);
	assert_int_equal(stats.packages, 1);
	assert_non_null(package_cache_get(held)->digest.bytes);
	package_cache_give(cache, held);
	package_cache_stats_read(cache, &stats);
	assert_int_equal(stats.packages, 0);
	assert_int_equal(stats.bytes, 0);
	package_cache_free(cache);
}

static size_t packages_in(struct package_cache *cache)
{
	struct package_cache_stats stats;

	package_cache_stats_read(cache, &stats);
	return stats.packages;
}

static void packages_of_another_catalog_go_when_nobody_holds_them(void **state)
{
	struct package_cache *cache = package_cache_new(LARGE);
	struct loader loader = {0};
	struct cached_package *held = NULL;
	struct cached_package *late = NULL;
	struct catalog *replaced = NULL;
	struct catalog_fault fault;
	char text[80];

	(void)state;
	assert_int_equal(catalog_new(catalog_default_bytes(), &replaced, &fault), 0);
	assert_int_equal(
		package_cache_take(cache, replaced, digest_of(text, sizeof(text), 1), load, &loader, &late), 0);
	package_cache_give(cache, late);
	assert_int_equal(
		package_cache_take(cache, replaced, digest_of(text, sizeof(text), 2), load, &loader, &held), 0);
	assert_int_equal(packages_in(cache), 2);
	package_cache_keep(cache, catalog);
	assert_int_equal(packages_in(cache), 1);
	assert_int_equal(
		package_cache_take(cache, replaced, digest_of(text, sizeof(text), 3), load, &loader, &late), 0);
	catalog_free(replaced); /* the packages are owners too */
	package_cache_give(cache, late);
	assert_int_equal(packages_in(cache), 1);
	assert_string_equal(package_cache_get(held)->catalog->digest.bytes, catalog->digest.bytes);
	package_cache_give(cache, held);
	assert_int_equal(packages_in(cache), 0);
	assert_int_equal(package_cache_take(cache, catalog, digest_of(text, sizeof(text), 1), load, &loader, &late), 0);
	package_cache_give(cache, late);
	assert_int_equal(packages_in(cache), 1);
	package_cache_free(cache);
}

static void a_document_that_cannot_be_had_is_asked_for_again(void **state)
{
	struct package_cache *cache = package_cache_new(LARGE);
	struct loader loader = {.answer = -EIO};
	struct cached_package *taken = NULL;
	char text[80];
	struct str digest = digest_of(text, sizeof(text), 1);

	(void)state;
	assert_int_equal(package_cache_take(cache, catalog, digest, load, &loader, &taken), -EIO);
	assert_null(taken);
	loader.answer = 0;
	assert_int_equal(package_cache_take(cache, catalog, digest, load, &loader, &taken), 0);
	package_cache_give(cache, taken);
	package_cache_free(cache);
}

struct taker {
	struct package_cache *cache;
	struct loader *loader;
	int result;
};

static void *take_one(void *arg)
{
	struct taker *taker = arg;
	struct cached_package *taken = NULL;
	char text[80];

	atomic_fetch_add(&taker->loader->arrived, 1);
	taker->result = package_cache_take(
		taker->cache, catalog, digest_of(text, sizeof(text), 7), load, taker->loader, &taken);
	if (taker->result == 0)
		package_cache_give(taker->cache, taken);
	return NULL;
}

static void take_with_all(int answer)
{
	struct package_cache *cache = package_cache_new(LARGE);
	struct loader loader = {.wanted = THREADS, .answer = answer};
	struct taker takers[THREADS];
	pthread_t threads[THREADS];

	for (size_t i = 0; i < THREADS; i++) {
		takers[i] = (struct taker){.cache = cache, .loader = &loader, .result = 1};
		assert_int_equal(pthread_create(&threads[i], NULL, take_one, &takers[i]), 0);
	}
	for (size_t i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(takers[i].result, answer);
	}
	if (answer == 0)
		assert_int_equal(loader.loads, 1);
	package_cache_free(cache);
}

static void what_many_want_at_once_is_compiled_once(void **state)
{
	(void)state;
	take_with_all(0);
}

static void when_it_cannot_be_had_everyone_is_told(void **state)
{
	(void)state;
	take_with_all(-EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_there_is_not_compiled_again),
		cmocka_unit_test(the_bound_drops_what_was_not_used_for_longest_and_nobody_holds),
		cmocka_unit_test(packages_of_another_catalog_go_when_nobody_holds_them),
		cmocka_unit_test(a_document_that_cannot_be_had_is_asked_for_again),
		cmocka_unit_test(what_many_want_at_once_is_compiled_once),
		cmocka_unit_test(when_it_cannot_be_had_everyone_is_told),
	};

	return cmocka_run_group_tests(tests, load_catalogs, free_catalogs);
}
