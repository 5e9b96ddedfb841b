/* package_cache.h - compiled packages, immutable and shared (chapter 3.2 "Memory").
 *
 * Known by (document digest, catalog), and an owner of its catalog. What is taken stays alive until it is given back, in the cache or not; what nobody holds
 * is dropped, longest unused first, while the cache is over its bound. A package that several want at once is compiled
 * once and the others wait. May use policy only. Any thread.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_PACKAGE_CACHE_H
#define ADMITD_DAEMON_LIFECYCLE_PACKAGE_CACHE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/package.h"

struct package_cache;
struct cached_package;

/* Gives the document of a package that isn't in the cache: 0 and *ret_document, a new reference; anything else ends the
 * taking with that answer. Called without the cache's lock.
 */
typedef int package_cache_load_fn(void *arg, json_t **ret_document);

/* NULL when memory is out. `ceiling` in bytes of compiled packages. */
struct package_cache *package_cache_new(size_t ceiling);
/* Nothing may be taken any more. NULL is fine. */
void package_cache_free(struct package_cache *cache);

/* 0 and *ret, to be given back; what `load` answered; or -ENOMEM. */
int package_cache_take(struct package_cache *cache, const struct catalog *catalog, struct str digest,
	package_cache_load_fn *load, void *arg, struct cached_package **ret) MUST_USE;
void package_cache_give(struct package_cache *cache, struct cached_package *taken);

/* From here on packages of other catalogs go as soon as nobody holds them. Without this call all stay. */
void package_cache_keep(struct package_cache *cache, const struct catalog *catalog);

/* Borrowed until it is given back. */
const struct package *package_cache_get(const struct cached_package *taken);

struct package_cache_stats {
	uint64_t hits, misses;
	size_t packages, bytes;
};
void package_cache_stats_read(struct package_cache *cache, struct package_cache_stats *ret);

#endif
