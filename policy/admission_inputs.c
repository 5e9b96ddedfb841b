#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/admission.h"

static int compare_health(const void *a, const void *b)
{
	return str_compare(((const struct health_row *)a)->mcp_id, ((const struct health_row *)b)->mcp_id);
}

static int compare_grants(const void *a, const void *b)
{
	return str_compare(((const struct admission_grant *)a)->name, ((const struct admission_grant *)b)->name);
}

static int compare_strs(const void *a, const void *b)
{
	return str_compare(*(const struct str *)a, *(const struct str *)b);
}

void admission_inputs_sort(struct admission_inputs *inputs)
{
	if (inputs->health_count)
		qsort(inputs->health, inputs->health_count, sizeof(*inputs->health), compare_health);
	if (inputs->grant_count)
		qsort(inputs->grants, inputs->grant_count, sizeof(*inputs->grants), compare_grants);
	if (inputs->prompt_count)
		qsort(inputs->prompt, inputs->prompt_count, sizeof(*inputs->prompt), compare_strs);
}

static int by_grant_name(const void *key, const void *element)
{
	return str_compare(*(const struct str *)key, ((const struct admission_grant *)element)->name);
}

static const struct admission_grant *find_named(const struct admission_inputs *inputs, struct str name)
{
	return bsearch(&name, inputs->grants, inputs->grant_count, sizeof(*inputs->grants), by_grant_name);
}

struct grant_state admission_find_grant(const struct admission_inputs *inputs, const struct requirement *requirement)
{
	const struct admission_grant *grant = NULL;

	if (inputs->grant_count) {
		grant = find_named(inputs, requirement->key);
		if (!grant)
			grant = find_named(inputs, requirement->mcp_id);
	}
	return grant ? grant->state : (struct grant_state){0};
}

static int read_health(struct arena *arena, json_t *object, struct admission_inputs *inputs)
{
	const char *key;
	json_t *value;

	inputs->health = ARENA_ARRAY(arena, json_object_size(object), struct health_row);
	if (!inputs->health)
		return -ENOMEM;
	json_object_foreach(object, key, value)
	{
		struct str mcp_id = {key, strlen(key)};
		struct health_row row;
		int error;

		if (health_row_read(arena, mcp_id, value, &row, &error))
			inputs->health[inputs->health_count++] = row;
		if (error)
			return error;
	}
	return 0;
}

static int read_grants(
	struct arena *arena, const struct catalog *catalog, json_t *object, struct admission_inputs *inputs)
{
	const char *key;
	json_t *value;

	inputs->grants = ARENA_ARRAY(arena, json_object_size(object), struct admission_grant);
	if (!inputs->grants)
		return -ENOMEM;
	json_object_foreach(object, key, value)
	{
		struct admission_grant *grant = &inputs->grants[inputs->grant_count];
		int result;

		/* Null is as good as absent: the MCP's own state counts then (1.2). */
		if (json_is_null(value))
			continue;
		grant->name = (struct str){key, strlen(key)};
		result = grant_state_read(arena, catalog, value, &grant->state);
		if (result)
			return result;
		inputs->grant_count++;
	}
	return 0;
}

static int read_prompt(struct arena *arena, json_t *object, struct admission_inputs *inputs)
{
	const char *key;
	json_t *value;

	inputs->prompt = ARENA_ARRAY(arena, json_object_size(object), struct str);
	if (!inputs->prompt)
		return -ENOMEM;
	json_object_foreach(object, key, value)
	{
		if (json_is_true(value))
			inputs->prompt[inputs->prompt_count++] = (struct str){key, strlen(key)};
	}
	return 0;
}

int admission_inputs_read(
	struct arena *arena, const struct catalog *catalog, const json_t *document, struct admission_inputs *ret_inputs)
{
	struct admission_inputs inputs = {0};
	int result = read_health(arena, json_object_get(document, "health"), &inputs);

	if (!result)
		result = read_grants(arena, catalog, json_object_get(document, "grants"), &inputs);
	if (!result)
		result = read_prompt(arena, json_object_get(document, "prompt"), &inputs);
	if (result)
		return result;
	admission_inputs_sort(&inputs);
	*ret_inputs = inputs;
	return 0;
}
