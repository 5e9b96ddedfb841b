#include "daemon/lifecycle/package_cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "policy/cleanup.h"

enum { BUCKETS = 4096, DIGEST_BYTES = 80, ENTRY_OVERHEAD = 256 };

enum entry_state { ENTRY_COMPILING = 0, ENTRY_READY, ENTRY_BROKEN };

struct cached_package {
	struct cached_package *next_in_bucket;
	struct cached_package *older, *newer; /* linked while it is in the cache */
	struct catalog *catalog;              /* owned with others */
	char digest[DIGEST_BYTES];
	size_t digest_len;
	struct package *package;
	size_t bytes;
	unsigned holders;
	enum entry_state state;
	int error; /* of a broken one */
};

struct package_cache {
	pthread_mutex_t lock;
	pthread_cond_t compiled;
	struct cached_package *buckets[BUCKETS];
	struct cached_package *oldest, *newest;
	size_t ceiling;
	const struct catalog *kept; /* only compared; NULL: all are */
	struct package_cache_stats stats;
};

struct package_cache *package_cache_new(size_t ceiling)
{
	struct package_cache *cache = calloc(1, sizeof(*cache));

	if (cache == NULL)
		return NULL;
	cache->ceiling = ceiling;
	pthread_mutex_init(&cache->lock, NULL);
	pthread_cond_init(&cache->compiled, NULL);
	return cache;
}

static void entry_free(struct cached_package *entry)
{
	package_free(entry->package);
	catalog_free(entry->catalog);
	free(entry);
}

static size_t bucket_of(const struct catalog *catalog, struct str digest)
{
	uint64_t hash = UINT64_C(14695981039346656037) ^ (uint64_t)(uintptr_t)catalog;

	for (size_t i = 0; i < digest.len; i++)
		hash = (hash ^ (unsigned char)digest.bytes[i]) * UINT64_C(1099511628211);
	return (size_t)(hash % BUCKETS);
}

static void list_unlink(struct package_cache *cache, struct cached_package *entry)
{
	*(entry->older != NULL ? &entry->older->newer : &cache->oldest) = entry->newer;
	*(entry->newer != NULL ? &entry->newer->older : &cache->newest) = entry->older;
	entry->older = entry->newer = NULL;
}

static void list_append(struct package_cache *cache, struct cached_package *entry)
{
	entry->older = cache->newest;
	entry->newer = NULL;
	*(cache->newest != NULL ? &cache->newest->newer : &cache->oldest) = entry;
	cache->newest = entry;
}

static void cache_remove(struct package_cache *cache, struct cached_package *entry)
{
	struct cached_package **link =
		&cache->buckets[bucket_of(entry->catalog, (struct str){entry->digest, entry->digest_len})];

	while (*link != entry)
		link = &(*link)->next_in_bucket;
	*link = entry->next_in_bucket;
	list_unlink(cache, entry);
	cache->stats.bytes -= entry->bytes;
	cache->stats.packages--;
}

void package_cache_free(struct package_cache *cache)
{
	struct cached_package *entry = cache != NULL ? cache->oldest : NULL;

	while (entry != NULL) {
		struct cached_package *newer = entry->newer;

		CHECK(entry->holders == 0);
		entry_free(entry);
		entry = newer;
	}
	if (cache != NULL) {
		pthread_cond_destroy(&cache->compiled);
		pthread_mutex_destroy(&cache->lock);
	}
	free(cache);
}

static struct cached_package *cache_find(struct package_cache *cache, const struct catalog *catalog, struct str digest)
{
	struct cached_package *entry = cache->buckets[bucket_of(catalog, digest)];

	while (entry != NULL &&
		(entry->catalog != catalog || entry->digest_len != digest.len ||
			memcmp(entry->digest, digest.bytes, digest.len) != 0))
		entry = entry->next_in_bucket;
	return entry;
}

static struct cached_package *cache_insert(
	struct package_cache *cache, const struct catalog *catalog, struct str digest)
{
	struct cached_package *entry = calloc(1, sizeof(*entry));
	size_t bucket = bucket_of(catalog, digest);

	if (entry == NULL)
		return NULL;
	entry->catalog = catalog_hold(catalog);
	memcpy(entry->digest, digest.bytes, digest.len);
	entry->digest_len = digest.len;
	entry->next_in_bucket = cache->buckets[bucket];
	cache->buckets[bucket] = entry;
	list_append(cache, entry);
	cache->stats.packages++;
	return entry;
}

static void shrink(struct package_cache *cache)
{
	struct cached_package *entry = cache->oldest;

	while (entry != NULL && cache->stats.bytes > cache->ceiling) {
		struct cached_package *newer = entry->newer;

		if (entry->holders == 0) {
			cache_remove(cache, entry);
			entry_free(entry);
		}
		entry = newer;
	}
}

/* Unless somebody holds it. */
static void let_go(struct package_cache *cache, struct cached_package *entry)
{
	if (entry->holders > 0 || cache->kept == NULL || entry->catalog == cache->kept)
		return;
	cache_remove(cache, entry);
	entry_free(entry);
}

void package_cache_keep(struct package_cache *cache, const struct catalog *catalog)
{
	struct cached_package *newer = NULL;

	pthread_mutex_lock(&cache->lock);
	cache->kept = catalog;
	for (struct cached_package *entry = cache->oldest; entry != NULL; entry = newer) {
		newer = entry->newer;
		let_go(cache, entry);
	}
	pthread_mutex_unlock(&cache->lock);
}

static int compile(const struct catalog *catalog, package_cache_load_fn *load, void *arg, struct package **ret)
{
	CLEANUP(json_drop) json_t *document = NULL;
	int r = load(arg, &document);

	return r != 0 ? r : package_new(catalog, document, &(struct package_options){.believes_envelopes = false}, ret);
}

/* Called with the lock, which is let go while the package is compiled. */
static void fill(struct package_cache *cache, struct cached_package *entry, package_cache_load_fn *load, void *arg)
{
	struct package *package = NULL;
	int r = 0;

	cache->stats.misses++;
	pthread_mutex_unlock(&cache->lock);
	r = compile(entry->catalog, load, arg, &package);
	pthread_mutex_lock(&cache->lock);
	entry->package = package;
	entry->error = r;
	entry->state = r == 0 ? ENTRY_READY : ENTRY_BROKEN;
	if (r == 0) {
		entry->bytes = package->bytes + ENTRY_OVERHEAD;
		cache->stats.bytes += entry->bytes;
		shrink(cache);
	} else {
		cache_remove(cache, entry);
	}
	pthread_cond_broadcast(&cache->compiled);
}

/* Called with the lock. A broken entry has left the cache; its last holder frees it. */
static int settle(struct cached_package *entry, struct cached_package **ret)
{
	int r = entry->error;

	if (entry->state == ENTRY_READY) {
		*ret = entry;
		return 0;
	}
	if (--entry->holders == 0)
		entry_free(entry);
	return r;
}

int package_cache_take(struct package_cache *cache, const struct catalog *catalog, struct str digest,
	package_cache_load_fn *load, void *arg, struct cached_package **ret)
{
	struct cached_package *entry = NULL;
	int r = 0;

	CHECK(digest.len < DIGEST_BYTES);
	pthread_mutex_lock(&cache->lock);
	entry = cache_find(cache, catalog, digest);
	if (entry != NULL) {
		entry->holders++;
		cache->stats.hits++;
		list_unlink(cache, entry);
		list_append(cache, entry);
		while (entry->state == ENTRY_COMPILING)
			pthread_cond_wait(&cache->compiled, &cache->lock);
	} else {
		entry = cache_insert(cache, catalog, digest);
		if (entry != NULL) {
			entry->holders++;
			fill(cache, entry, load, arg);
		}
	}
	r = entry != NULL ? settle(entry, ret) : -ENOMEM;
	pthread_mutex_unlock(&cache->lock);
	return r;
}

void package_cache_give(struct package_cache *cache, struct cached_package *taken)
{
	pthread_mutex_lock(&cache->lock);
	CHECK(taken->holders > 0);
	taken->holders--;
	let_go(cache, taken);
	shrink(cache);
	pthread_mutex_unlock(&cache->lock);
}

const struct package *package_cache_get(const struct cached_package *taken)
{
	return taken->package;
}

void package_cache_stats_read(struct package_cache *cache, struct package_cache_stats *ret)
{
	pthread_mutex_lock(&cache->lock);
	*ret = cache->stats;
	pthread_mutex_unlock(&cache->lock);
}
