#include "policy/json_parse.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Whether an allocation of jansson's failed in this thread since the last look. */
static _Thread_local bool memory_ran_out;

static void *guarded_malloc(size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		memory_ran_out = true;
	return memory;
}

void json_parse_guard(void)
{
	json_set_alloc_funcs(guarded_malloc, free);
}

/* The position of the first bracket of the first value that is nested too deep, or text.len. Recursion over what was parsed relies
 * on it.
 */
static size_t find_too_deep(struct str text)
{
	unsigned depth = 0;
	bool in_string = false;

	for (size_t i = 0; i < text.len; i++) {
		char byte = text.bytes[i];

		if (in_string) {
			if (byte == '\\')
				i++;
			else if (byte == '"')
				in_string = false;
		} else if (byte == '"') {
			in_string = true;
		} else if (byte == '[' || byte == '{') {
			if (++depth > JSON_PARSE_DEPTH_LIMIT)
				return i;
		} else if ((byte == ']' || byte == '}') && (depth == 0 || --depth == 0)) {
			break;
		}
	}
	return text.len;
}

static int refuse(struct str text, size_t at, enum json_parse_kind kind, struct json_parse_fault *fault)
{
	*fault = (struct json_parse_fault){.kind = kind, .offset = at, .line = 1, .column = 1};
	for (size_t i = 0; i < at; i++) {
		fault->column++;
		if (text.bytes[i] == '\n') {
			fault->line++;
			fault->column = 1;
		}
	}
	return JSON_PARSE_NOT_JSON;
}

static enum json_parse_kind kind_of(const json_error_t *error)
{
	if (json_error_code(error) == json_error_duplicate_key)
		return JSON_PARSE_DUPLICATE;
	return json_error_code(error) == json_error_premature_end_of_input ? JSON_PARSE_CUT_OFF : JSON_PARSE_SYNTAX;
}

static int parse(struct str text, size_t flags, json_t **ret_value, size_t *ret_used, struct json_parse_fault *fault)
{
	size_t too_deep = find_too_deep(text);
	json_error_t error;
	const char *nul;
	json_t *value;

	if (too_deep < text.len)
		return refuse(text, too_deep, JSON_PARSE_TOO_DEEP, fault);
	memory_ran_out = false;
	flags |= JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;
	value = json_loadb(text.bytes ? text.bytes : "", text.len, flags, &error);
	if (value && !memory_ran_out) {
		*ret_used = error.position > 0 ? (size_t)error.position : 0;
		/* jansson overlooks a NUL behind a number or word. */
		nul = *ret_used > 0 ? memchr(text.bytes, '\0', flags & JSON_DISABLE_EOF_CHECK ? *ret_used : text.len)
				    : NULL;
		if (!nul) {
			*ret_value = value;
			return 0;
		}
		json_decref(value);
		return refuse(text, (size_t)(nul - text.bytes), JSON_PARSE_SYNTAX, fault);
	}
	json_decref(value);
	/* Without the guard, out of memory leaves no words or says so; every fault of the text has words. */
	if (memory_ran_out || !error.text[0] || json_error_code(&error) == json_error_out_of_memory)
		return -ENOMEM;
	*fault = (struct json_parse_fault){
		.kind = kind_of(&error),
		.offset = error.position > 0 ? (size_t)error.position : 0,
		.line = error.line,
		.column = error.column,
	};
	return JSON_PARSE_NOT_JSON;
}

int json_parse(struct str text, json_t **ret_value, struct json_parse_fault *ret_fault)
{
	struct json_parse_fault ignored;
	size_t used;

	return parse(text, 0, ret_value, &used, ret_fault ? ret_fault : &ignored);
}

int json_parse_first(struct str text, json_t **ret_value, size_t *ret_used, struct json_parse_fault *ret_fault)
{
	struct json_parse_fault ignored;

	return parse(text, JSON_DISABLE_EOF_CHECK, ret_value, ret_used, ret_fault ? ret_fault : &ignored);
}
