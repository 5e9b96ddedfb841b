#include "mcp/schema.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "policy/text.h"

/* Where in the arguments a fault is, as far as it fits. */
struct place {
	const struct place *parent;
	const char *key; /* NULL: an item */
	size_t index;
};

struct checking {
	char *fault; /* of MCP_SCHEMA_FAULT_MAX bytes */
	bool values; /* the second look: at values, after all types were right */
};

enum { SHOWN_KEY_MAX = 64, SHOWN_DEPTH = 8 };

static const char *const known_words[] = {"$schema", "title", "description", "default", "type", "properties",
	"required", "additionalProperties", "items", "enum", "minimum", "maximum", "minLength", "maxLength", "minItems",
	"maxItems"};

static bool is_known_word(const char *word)
{
	for (size_t i = 0; i < sizeof(known_words) / sizeof(known_words[0]); i++)
		if (strcmp(word, known_words[i]) == 0)
			return true;
	return false;
}

/* jansson's iterators take no const; they change nothing. */
static json_t *iterable(const json_t *object)
{
	return (json_t *)(uintptr_t)object;
}

static bool properties_are_known(const json_t *properties)
{
	for (void *at = json_object_iter(iterable(properties)); at != NULL;
		at = json_object_iter_next(iterable(properties), at))
		if (!mcp_schema_is_known(json_object_iter_value(at)))
			return false;
	return true;
}

bool mcp_schema_is_known(const json_t *schema)
{
	const json_t *items = json_object_get(schema, "items");

	if (!json_is_object(schema))
		return false;
	for (void *at = json_object_iter(iterable(schema)); at != NULL;
		at = json_object_iter_next(iterable(schema), at))
		if (!is_known_word(json_object_iter_key(at)))
			return false;
	return properties_are_known(json_object_get(schema, "properties")) &&
		(items == NULL || mcp_schema_is_known(items));
}

/* ---- faults */

/* A key is the client's own text: what is shown of it is short and can't break a line. */
static void show_key(char *text, size_t size, const char *key)
{
	size_t used = strlen(text);

	for (size_t i = 0; key[i] != '\0' && i < SHOWN_KEY_MAX && used + 1 < size; i++)
		text[used++] = key[i] > 0x20 && key[i] < 0x7f ? key[i] : '?';
	text[used] = '\0';
}

static void show_place(char *text, size_t size, const struct place *place, unsigned depth)
{
	size_t used;

	if (place == NULL || depth == 0) {
		(void)snprintf(text, size, "arguments");
		return;
	}
	show_place(text, size, place->parent, depth - 1);
	used = strlen(text);
	if (place->key == NULL) {
		(void)snprintf(text + used, size - used, "/%zu", place->index);
	} else {
		(void)snprintf(text + used, size - used, "/");
		show_key(text, size, place->key);
	}
}

static int fault(struct checking *checking, const struct place *place, const char *what)
{
	char where[MCP_SCHEMA_FAULT_MAX / 2];

	show_place(where, sizeof(where), place, SHOWN_DEPTH);
	(void)snprintf(checking->fault, MCP_SCHEMA_FAULT_MAX, "%s %s", where, what);
	return checking->values ? MCP_SCHEMA_VALUE : MCP_SCHEMA_TYPE;
}

/* ---- types */

static bool is_of_type(const json_t *value, const char *type)
{
	if (strcmp(type, "object") == 0)
		return json_is_object(value);
	if (strcmp(type, "array") == 0)
		return json_is_array(value);
	if (strcmp(type, "string") == 0)
		return json_is_string(value);
	if (strcmp(type, "integer") == 0)
		return json_is_integer(value);
	if (strcmp(type, "boolean") == 0)
		return json_is_boolean(value);
	CHECK(strcmp(type, "number") == 0);
	return json_is_number(value);
}

static int check_type(struct checking *checking, const struct place *place, const json_t *value, const char *type)
{
	char what[64];

	if (type == NULL || is_of_type(value, type))
		return 0;
	(void)snprintf(what, sizeof(what), "is of another type than %s", type);
	return fault(checking, place, what);
}

static int check_required(
	struct checking *checking, const struct place *place, const json_t *value, const json_t *required)
{
	for (size_t i = 0; i < json_array_size(required); i++) {
		const char *key = json_string_value(json_array_get(required, i));
		const struct place member = {place, key, 0};

		if (json_object_get(value, key) == NULL)
			return fault(checking, &member, "is missing");
	}
	return 0;
}

static int check(struct checking *checking, const struct place *place, const json_t *schema, const json_t *value);

static int check_members(
	struct checking *checking, const struct place *place, const json_t *schema, const json_t *value)
{
	const json_t *properties = json_object_get(schema, "properties");
	bool is_closed = json_is_false(json_object_get(schema, "additionalProperties"));

	for (void *at = json_object_iter(iterable(value)); at != NULL;
		at = json_object_iter_next(iterable(value), at)) {
		const struct place member = {place, json_object_iter_key(at), 0};
		const json_t *expected = json_object_get(properties, member.key);
		int r = 0;

		if (expected != NULL)
			r = check(checking, &member, expected, json_object_iter_value(at));
		else if (is_closed)
			r = fault(checking, &member, "is no argument of this tool");
		if (r != 0)
			return r;
	}
	return 0;
}

static int check_object(struct checking *checking, const struct place *place, const json_t *schema, const json_t *value)
{
	int r = 0;

	if (!checking->values)
		r = check_required(checking, place, value, json_object_get(schema, "required"));
	return r != 0 ? r : check_members(checking, place, schema, value);
}

/* ---- values */

static int check_bounds(struct checking *checking, const struct place *place, const json_t *schema, json_int_t amount,
	const char *least, const char *most, const char *of_what)
{
	const json_t *minimum = json_object_get(schema, least);
	const json_t *maximum = json_object_get(schema, most);
	char what[96];

	if (minimum != NULL && amount < json_integer_value(minimum)) {
		(void)snprintf(what, sizeof(what), "has less%s than %" JSON_INTEGER_FORMAT, of_what,
			json_integer_value(minimum));
		return fault(checking, place, what);
	}
	if (maximum != NULL && amount > json_integer_value(maximum)) {
		(void)snprintf(what, sizeof(what), "has more%s than %" JSON_INTEGER_FORMAT, of_what,
			json_integer_value(maximum));
		return fault(checking, place, what);
	}
	return 0;
}

static json_int_t characters(const json_t *value)
{
	const struct str text = {json_string_value(value), json_string_length(value)};
	json_int_t count = 0;

	for (size_t at = 0; at < text.len; count++)
		(void)text_next(text, &at);
	return count;
}

static int check_words(struct checking *checking, const struct place *place, const json_t *words, const json_t *value)
{
	for (size_t i = 0; i < json_array_size(words); i++)
		if (json_equal(json_array_get(words, i), value))
			return 0;
	return words == NULL ? 0 : fault(checking, place, "is none of the words that it may be");
}

static int check_value(struct checking *checking, const struct place *place, const json_t *schema, const json_t *value)
{
	if (json_is_integer(value))
		return check_bounds(checking, place, schema, json_integer_value(value), "minimum", "maximum", "");
	if (json_is_string(value) && json_object_get(schema, "enum") != NULL)
		return check_words(checking, place, json_object_get(schema, "enum"), value);
	if (json_is_string(value))
		return check_bounds(
			checking, place, schema, characters(value), "minLength", "maxLength", " characters");
	if (json_is_array(value))
		return check_bounds(
			checking, place, schema, (json_int_t)json_array_size(value), "minItems", "maxItems", " items");
	return 0;
}

static int check(struct checking *checking, const struct place *place, const json_t *schema, const json_t *value)
{
	const json_t *items = json_object_get(schema, "items");
	int r = checking->values
		? check_value(checking, place, schema, value)
		: check_type(checking, place, value, json_string_value(json_object_get(schema, "type")));

	if (r != 0 || !(json_is_object(value) || json_is_array(value)))
		return r;
	if (json_is_object(value))
		return check_object(checking, place, schema, value);
	for (size_t i = 0; r == 0 && items != NULL && i < json_array_size(value); i++) {
		const struct place item = {place, NULL, i};

		r = check(checking, &item, items, json_array_get(value, i));
	}
	return r;
}

int mcp_schema_check(const json_t *schema, const json_t *value, char ret_fault[static MCP_SCHEMA_FAULT_MAX])
{
	struct checking checking = {.fault = ret_fault};
	int r = check(&checking, NULL, schema, value);

	ret_fault[r == 0 ? 0 : strlen(ret_fault)] = '\0';
	if (r != 0)
		return r;
	checking.values = true;
	return check(&checking, NULL, schema, value);
}
