/* bundle_call.h - one call of a tool on bundles: what it needs and how it says no; for the files of this room.
 */
#ifndef ADMITD_READER_BUNDLE_CALL_H
#define ADMITD_READER_BUNDLE_CALL_H

#include <jansson.h>
#include <stdbool.h>

#include "policy/json_out.h"
#include "reader/bundle.h"
#include "reader/bundle_find.h"
#include "reader/bundle_tools.h"
#include "reader/front_matter.h"

/* How many faults, refused entries and broken links an answer names. */
enum { BUNDLE_NAMED_FAULTS = 20 };

struct bundle_call {
	const struct bundle_service *service;
	const json_t *arguments;
	struct json_out out;
	struct tools_refusal *refusal;
	struct bundle_finds finds;
	struct bundle_budget budget;
	char today[16]; /* "2026-11-30" */
};

/* The functions behind the table: 0, TOOLS_REFUSED or -errno. `finds` is filled. */
int bundle_run_list(struct bundle_call *call) MUST_USE;
int bundle_run_describe(struct bundle_call *call) MUST_USE;
int bundle_run_ask(struct bundle_call *call) MUST_USE;
int bundle_run_fetch(struct bundle_call *call) MUST_USE;

/* Fills the refusal: "bundle ID …" or "concept ID …"; an absent id: the text alone. Always TOOLS_REFUSED. */
int bundle_refuse(struct bundle_call *call, int result, const char *what, struct str id) MUST_USE;
/* The same for a member of the call: "`limit` …". */
int bundle_refuse_argument(struct bundle_call *call, const char *text) MUST_USE;

/* A text among the arguments; absent if it isn't there. */
struct str bundle_argument(const struct bundle_call *call, const char *name);

/* The bundles that the call is about: the one that `bundle_id` means, or all. 0 and the range, or TOOLS_REFUSED. */
int bundle_call_range(struct bundle_call *call, const struct bundle_found **ret_first, size_t *ret_count) MUST_USE;
/* Opens one. 0; a result; or -errno. Releasing is the caller's. */
int bundle_call_open(struct bundle_call *call, const struct bundle_found *found, struct bundle *ret) MUST_USE;

/* ---- parts of answers */

/* The shown form of a name, as a string. */
void bundle_write_name(struct json_out *out, const char *key, struct str name);
/* {"bundle_id", "code"}: a bundle that isn't part of the answer. */
void bundle_write_bundle_fault(struct json_out *out, struct str id, int result);
/* Which bounds fired in a bundle, or in any of several. */
struct bundle_cut {
	bool entries;
	bool depth;
	bool bytes;
};
void bundle_cut_by(struct bundle_cut *cut, const struct bundle *bundle);
/* The member `bounds` of an answer: those of looking for bundles (NULL: none) and those of bundles. */
void bundle_write_bounds(struct json_out *out, const struct bundle_finds *finds, const struct bundle_cut *cut);
/* Title, or the id where the index has none. */
struct str bundle_title(const struct bundle *bundle, const struct bundle_found *found);

bool bundle_is_deprecated(const struct front_matter *head);
/* Whether today is the day of `stale_after` or later. */
bool bundle_is_stale(const struct bundle_call *call, const struct front_matter *head);
/* "human-reviewed", "machine-confirmed", "unverified". */
const char *bundle_trust(const struct front_matter *head);

#endif
