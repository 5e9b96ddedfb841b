#include "cli/decision_test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/text.h"
#include "policy/trace.h"

enum { PATH_SIZE = 1024, DEPTH_LIMIT = 64 };

/* ---- comparing */

struct comparing {
	decision_test_fn *differs;
	void *arg;
	size_t count;
	char path[PATH_SIZE]; /* cut where it would be longer; then only the telling is cut */
	size_t depth;
};

static void tell(struct comparing *comparing, const json_t *wanted, const json_t *found)
{
	comparing->count++;
	comparing->differs(comparing->arg, comparing->path, wanted, found);
}

static void compare(struct comparing *comparing, const json_t *wanted, const json_t *found);

/* One step down: the path is put back behind it. */
static void compare_step(struct comparing *comparing, const char *step, const json_t *wanted, const json_t *found)
{
	size_t len = strlen(comparing->path);

	if (comparing->depth == DEPTH_LIMIT)
		return;
	(void)snprintf(comparing->path + len, sizeof(comparing->path) - len, "/%s", step);
	comparing->depth++;
	compare(comparing, wanted, found);
	comparing->depth--;
	comparing->path[len] = '\0';
}

static void compare_object(struct comparing *comparing, const json_t *wanted, const json_t *found)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)wanted, key, value)
		compare_step(comparing, key, value, json_object_get(found, key));
}

static void compare_array(struct comparing *comparing, const json_t *wanted, const json_t *found)
{
	char step[24];

	if (json_array_size(wanted) != json_array_size(found)) {
		tell(comparing, wanted, found);
		return;
	}
	for (size_t i = 0; i < json_array_size(wanted); i++) {
		(void)snprintf(step, sizeof(step), "%zu", i);
		compare_step(comparing, step, json_array_get(wanted, i), json_array_get(found, i));
	}
}

static void compare(struct comparing *comparing, const json_t *wanted, const json_t *found)
{
	if (json_is_null(wanted) && found == NULL)
		return;
	if (json_is_object(wanted) && json_is_object(found))
		compare_object(comparing, wanted, found);
	else if (json_is_array(wanted) && json_is_array(found))
		compare_array(comparing, wanted, found);
	else if (found == NULL || !json_equal(wanted, found))
		tell(comparing, wanted, found);
}

size_t decision_test_compare(const json_t *wanted, const json_t *found, decision_test_fn *differs, void *arg)
{
	struct comparing comparing = {.differs = differs, .arg = arg};

	compare(&comparing, wanted, found);
	return comparing.count;
}

/* ---- what is touched */

int coverage_init(struct arena *arena, const struct catalog *catalog, struct coverage *ret_coverage)
{
	struct coverage coverage = {.catalog = catalog};

	for (size_t i = 0; i < catalog->mcp_count; i++)
		coverage.alias_count += catalog->mcps[i].alias_count;
	coverage.capabilities = ARENA_ARRAY(arena, catalog->capability_count, bool);
	coverage.aliases = ARENA_ARRAY(arena, coverage.alias_count, bool);
	if (coverage.capabilities == NULL || coverage.aliases == NULL)
		return -ENOMEM;
	*ret_coverage = coverage;
	return 0;
}

static void touch_alias(struct coverage *coverage, struct str normalized)
{
	size_t at = 0;

	for (size_t i = 0; i < coverage->catalog->mcp_count; i++) {
		const struct catalog_mcp *mcp = &coverage->catalog->mcps[i];

		for (size_t k = 0; k < mcp->alias_count; k++, at++)
			if (str_equal(mcp->aliases[k].from, normalized))
				coverage->aliases[at] = true;
	}
}

static void touch_requirements(struct coverage *coverage, const struct admission *admission)
{
	for (size_t i = 0; i < admission->evaluation_count; i++) {
		const struct requirement *requirement = admission->evaluations[i].requirement;

		for (size_t k = 0; k < requirement->capability_count; k++) {
			const struct capability *capability = &requirement->capabilities[k];

			if (capability->known == NULL)
				continue;
			coverage->capabilities[capability->known->index] = true;
			touch_alias(coverage, capability->requested);
		}
	}
}

/* A row has its canonical name only; what was written says the alias. */
static int touch_subtask(struct coverage *coverage, struct arena *scratch, struct str text)
{
	struct str normalized = text_is_safe(text) ? text_normalize(scratch, text) : STR("");
	const struct catalog_mcp *owner;
	struct capability capability;
	int error;

	if (normalized.bytes == NULL)
		return -ENOMEM;
	owner = capability_owner(coverage->catalog, normalized);
	if (owner == NULL)
		return 0;
	error = capability_read(scratch, coverage->catalog, owner, text, &capability);
	if (error == 0 && capability.known != NULL) {
		coverage->capabilities[capability.known->index] = true;
		touch_alias(coverage, normalized);
	}
	return error;
}

static const json_t *subtasks_of(const json_t *document)
{
	const json_t *list = json_object_get(document, "subtasks");

	if (list == NULL)
		list = json_object_get(document, "mcpAwareSubtasks");
	return list != NULL ? list : json_object_get(json_object_get(document, "metadata"), "mcpAwareSubtasks");
}

static int touch_subtasks(struct coverage *coverage, struct arena *scratch, const json_t *document)
{
	const json_t *list = subtasks_of(document);

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *asked = json_object_get(json_array_get(list, i), "mcpCapabilities");

		for (size_t k = 0; k < json_array_size(asked); k++) {
			const json_t *item = json_array_get(asked, k);
			struct str text = {json_string_value(item), json_string_length(item)};
			int error = json_is_string(item) ? touch_subtask(coverage, scratch, text) : 0;

			if (error != 0)
				return error;
		}
	}
	return 0;
}

int coverage_add(
	struct coverage *coverage, struct arena *scratch, const struct admission *admission, const json_t *document)
{
	const struct str *prohibited = trace_prohibitions(scratch, admission->package, document);

	if (prohibited == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < coverage->catalog->capability_count; i++)
		coverage->capabilities[i] |= prohibited[i].bytes != NULL;
	touch_requirements(coverage, admission);
	return touch_subtasks(coverage, scratch, document);
}

void coverage_untouched(const struct coverage *coverage,
	void (*found)(void *arg, struct str name, const struct catalog_capability *alias_of), void *arg)
{
	const struct catalog *catalog = coverage->catalog;
	size_t at = 0;

	for (size_t i = 0; i < catalog->mcp_count; i++)
		for (size_t k = 0; k < catalog->mcps[i].capability_count; k++)
			if (!coverage->capabilities[catalog->mcps[i].capabilities[k].index])
				found(arg, catalog->mcps[i].capabilities[k].name, NULL);
	for (size_t i = 0; i < catalog->mcp_count; i++)
		for (size_t k = 0; k < catalog->mcps[i].alias_count; k++, at++)
			if (!coverage->aliases[at])
				found(arg, catalog->mcps[i].aliases[k].from, catalog->mcps[i].aliases[k].to);
}
