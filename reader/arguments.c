#include "reader/arguments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader/name.h"

/* One reading of one object. */
struct reading {
	struct arena *arena;
	const struct arguments_rule *rule;
	struct arguments_value *value;
	char *fault;
};

static int refuse(const struct reading *reading, const char *text)
{
	(void)snprintf(reading->fault, ARGUMENTS_FAULT_MAX, "%s %s", reading->rule->name, text);
	return ARGUMENTS_REFUSED;
}

static int read_bool(struct reading *reading, const json_t *json)
{
	if (!json_is_boolean(json))
		return refuse(reading, "is true or false");
	reading->value->number = json_is_true(json);
	return 0;
}

static int refuse_range(const struct reading *reading)
{
	(void)snprintf(reading->fault, ARGUMENTS_FAULT_MAX, "%s is a whole number from %lld to %lld",
		reading->rule->name, (long long)reading->rule->least, (long long)reading->rule->most);
	return ARGUMENTS_REFUSED;
}

/* 3.0 is the integer 3, as JSON Schema has it. */
static int read_integer(struct reading *reading, const json_t *json)
{
	double real = json_is_real(json) ? json_real_value(json) : 0;
	int64_t number = json_is_integer(json) ? json_integer_value(json) : 0;

	if (!json_is_number(json) || !(real >= -1e15 && real <= 1e15) || real != (double)(int64_t)real)
		return refuse_range(reading);
	if (json_is_real(json))
		number = (int64_t)real;
	if (number < reading->rule->least || number > reading->rule->most)
		return refuse_range(reading);
	reading->value->number = number;
	return 0;
}

static struct str str_of(const json_t *json)
{
	return (struct str){json_string_value(json), json_string_length(json)};
}

static int read_text(struct reading *reading, const json_t *json)
{
	if (!json_is_string(json))
		return refuse(reading, "is a text");
	reading->value->text = str_of(json);
	if ((int64_t)reading->value->text.len < reading->rule->least)
		return refuse(reading, "is empty");
	return (int64_t)reading->value->text.len > reading->rule->most ? refuse(reading, "is too long") : 0;
}

static int compare_names(const void *left, const void *right)
{
	const struct str *a = *(const struct str *const *)left;
	const struct str *b = *(const struct str *const *)right;
	int order = str_compare(*a, *b);

	return order != 0 ? order : (a > b) - (a < b);
}

int arguments_unique(struct arena *arena, struct arguments_names *names)
{
	struct str **sorted = ARENA_ARRAY(arena, names->count, struct str *);
	struct str previous = {0};
	size_t kept = 0;

	if (sorted == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < names->count; i++)
		sorted[i] = &names->items[i];
	qsort(sorted, names->count, sizeof(struct str *), compare_names);
	for (size_t i = 0; i < names->count; i++) {
		if (i > 0 && str_equal(*sorted[i], previous))
			*sorted[i] = (struct str){0};
		else
			previous = *sorted[i];
	}
	for (size_t i = 0; i < names->count; i++)
		if (names->items[i].bytes != NULL)
			names->items[kept++] = names->items[i];
	names->count = kept;
	return 0;
}

static int read_names(struct reading *reading, const json_t *json)
{
	struct arguments_names *names = &reading->value->names;
	int r = 0;

	if (!json_is_array(json))
		return refuse(reading, "is a list of names");
	names->count = json_array_size(json);
	names->items = ARENA_ARRAY(reading->arena, names->count, struct str);
	if (names->items == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < names->count && r == 0; i++) {
		const json_t *item = json_array_get(json, i);

		if (!json_is_string(item))
			return refuse(reading, "is a list of names");
		r = name_read(reading->arena, str_of(item), &names->items[i]);
	}
	if (r == 0)
		r = arguments_unique(reading->arena, names);
	if (r != 0)
		return r;
	if ((int64_t)names->count < reading->rule->least)
		return refuse(reading, "is empty");
	return (int64_t)names->count > reading->rule->most ? refuse(reading, "holds too many names") : 0;
}

static int read_value(struct reading *reading, const json_t *json)
{
	if (json == NULL) {
		reading->value->number = reading->rule->usual;
		return reading->rule->is_required ? refuse(reading, "is missing") : 0;
	}
	reading->value->is_given = true;
	switch (reading->rule->type) {
	case ARGUMENTS_BOOL:
		return read_bool(reading, json);
	case ARGUMENTS_INTEGER:
		return read_integer(reading, json);
	case ARGUMENTS_TEXT:
		return read_text(reading, json);
	case ARGUMENTS_NAMES:
		return read_names(reading, json);
	}
	return refuse(reading, "is not known");
}

int arguments_read(struct arena *arena, const struct arguments_rule *rules, size_t count, const json_t *object,
	struct arguments_value *ret_values, char ret_fault[static ARGUMENTS_FAULT_MAX])
{
	size_t given = 0;

	if (!json_is_object(object)) {
		(void)snprintf(ret_fault, ARGUMENTS_FAULT_MAX, "the arguments are an object");
		return ARGUMENTS_REFUSED;
	}
	for (size_t i = 0; i < count; i++) {
		struct reading reading = {arena, &rules[i], &ret_values[i], ret_fault};
		int r = 0;

		ret_values[i] = (struct arguments_value){0};
		r = read_value(&reading, json_object_get(object, rules[i].name));
		if (r != 0)
			return r;
		given += ret_values[i].is_given;
	}
	if (given == json_object_size(object))
		return 0;
	(void)snprintf(ret_fault, ARGUMENTS_FAULT_MAX, "there is a member that this tool doesn't know");
	return ARGUMENTS_REFUSED;
}
