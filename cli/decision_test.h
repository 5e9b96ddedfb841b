/* decision_test.h - decision tests kept beside a catalog: what a test expects of a result, and what of the catalog tests touch.
 *
 * A test expects a part of a result (1.11): each member that it names must be there and be the same, and nothing else is looked at; an
 * array is compared item by item, with its length; null also means absent. Prints nothing. One thread at a time.
 */
#ifndef ADMITD_CLI_DECISION_TEST_H
#define ADMITD_CLI_DECISION_TEST_H

#include <jansson.h>
#include <stdbool.h>

#include "policy/admission.h"
#include "policy/catalog.h"

/* Called for each place at which they differ. `found` is NULL where there is nothing. */
typedef void decision_test_fn(void *arg, const char *pointer, const json_t *wanted, const json_t *found);

/* How many there were; deeper than 64 nothing is compared. */
size_t decision_test_compare(const json_t *wanted, const json_t *found, decision_test_fn *differs, void *arg);

/* Which entries of a catalog were asked for, prohibited or spelled by any test. */
struct coverage {
	const struct catalog *catalog;
	bool *capabilities; /* by their index */
	bool *aliases;      /* in the catalog's order */
	size_t alias_count;
};

/* Everything untouched. 0 or -ENOMEM. */
int coverage_init(struct arena *arena, const struct catalog *catalog, struct coverage *ret_coverage) MUST_USE;

/* Marks what one decided document touches. 0 or -ENOMEM. */
int coverage_add(struct coverage *coverage, struct arena *scratch, const struct admission *admission,
	const json_t *document) MUST_USE;

/* Calls `found` for every untouched entry, capabilities of all MCPs first, then aliases; `alias_of` is NULL for a capability. */
void coverage_untouched(const struct coverage *coverage,
	void (*found)(void *arg, struct str name, const struct catalog_capability *alias_of), void *arg);

#endif
