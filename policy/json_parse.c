#include "policy/json_parse.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

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

/* The position of the first bracket that is nested too deep, or text.len. Recursion over what was parsed relies on it. */
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
		} else if ((byte == ']' || byte == '}') && depth) {
			depth--;
		}
	}
	return text.len;
}

static int parse_flat_enough(struct str text, json_t **ret_value, struct json_parse_fault *ret_fault)
{
	json_error_t error;
	json_t *value;

	memory_ran_out = false;
	value = json_loadb(text.bytes ? text.bytes : "", text.len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
	if (value && !memory_ran_out) {
		*ret_value = value;
		return 0;
	}
	json_decref(value);
	/* Without the guard, out of memory leaves no words or says so; every fault of the text has words. */
	if (memory_ran_out || !error.text[0] || json_error_code(&error) == json_error_out_of_memory)
		return -ENOMEM;
	*ret_fault = (struct json_parse_fault){
		.offset = error.position > 0 ? (size_t)error.position : 0,
		.line = error.line,
		.column = error.column,
	};
	return JSON_PARSE_NOT_JSON;
}

int json_parse(struct str text, json_t **ret_value, struct json_parse_fault *ret_fault)
{
	size_t too_deep = find_too_deep(text);
	struct json_parse_fault ignored;
	struct json_parse_fault *fault = ret_fault ? ret_fault : &ignored;

	if (too_deep == text.len)
		return parse_flat_enough(text, ret_value, fault);
	*fault = (struct json_parse_fault){.offset = too_deep, .line = 1};
	for (size_t i = 0; i < too_deep; i++) {
		if (text.bytes[i] == '\n') {
			fault->line++;
			fault->column = 0;
		} else {
			fault->column++;
		}
	}
	return JSON_PARSE_NOT_JSON;
}
