/* bundle_tally.h - how often each of many names occurred, with a bound on how many different ones are kept.
 *
 * Names live in the caller's arena. Not thread-safe.
 */
#ifndef ADMITD_READER_BUNDLE_TALLY_H
#define ADMITD_READER_BUNDLE_TALLY_H

#include <stddef.h>

#include "policy/arena.h"
#include "policy/json_out.h"

enum { BUNDLE_TALLY_LIMIT = 256 };

struct bundle_tally {
	struct {
		struct str name;
		size_t count;
	} items[BUNDLE_TALLY_LIMIT]; /* sorted by name */
	size_t count;
	size_t others; /* occurrences of names beyond the limit */
};

/* Counts one. 0 or -ENOMEM. */
int bundle_tally_add(struct bundle_tally *tally, struct arena *arena, struct str name) MUST_USE;
/* [{"name", "count"}], sorted by name; then, if some were beyond the limit, one with the name "…". */
void bundle_tally_write(const struct bundle_tally *tally, struct json_out *out, const char *key);

#endif
