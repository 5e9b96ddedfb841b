#include "cli/document.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "policy/cleanup.h"

static void descriptor_drop(int *descriptor)
{
	if (*descriptor > STDERR_FILENO)
		close(*descriptor);
	*descriptor = -1;
}

int document_read(const char *path, struct buf *ret_bytes)
{
	CLEANUP(descriptor_drop) int descriptor = STDIN_FILENO;
	char piece[65536];

	if (strcmp(path, "-") != 0)
		descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (descriptor < 0)
		return -errno;
	for (;;) {
		ssize_t got = read(descriptor, piece, sizeof(piece));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : buf_error(ret_bytes);
		buf_add(ret_bytes, piece, (size_t)got);
		if (buf_error(ret_bytes) < 0)
			return buf_error(ret_bytes);
	}
}

/* The bracket with which the first value of the text becomes too deep; text.len if none does. */
static size_t too_deep_at(struct str text)
{
	size_t depth = 0;
	bool in_string = false;

	for (size_t at = 0; at < text.len; at++) {
		char byte = text.bytes[at];

		if (in_string && byte == '\\')
			at++;
		else if (byte == '"')
			in_string = !in_string;
		else if (!in_string && (byte == '{' || byte == '[') && ++depth > DOCUMENT_DEPTH)
			return at;
		else if (!in_string && (byte == '}' || byte == ']') && (depth == 0 || --depth == 0))
			break;
	}
	return text.len;
}

static int parse(struct str text, size_t flags, json_t **ret_json, size_t *ret_at)
{
	json_error_t error;
	size_t deep = too_deep_at(text);

	if (deep < text.len) {
		*ret_at = deep;
		return DOCUMENT_MALFORMED;
	}
	*ret_json = json_loadb(
		text.len == 0 ? "" : text.bytes, text.len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | flags, &error);
	*ret_at = error.position > 0 ? (size_t)error.position : 0;
	if (*ret_json != NULL)
		return 0;
	if (json_error_code(&error) == json_error_out_of_memory)
		return -ENOMEM;
	return json_error_code(&error) == json_error_premature_end_of_input ? DOCUMENT_CUT_OFF : DOCUMENT_MALFORMED;
}

int document_parse(struct str text, json_t **ret_json, size_t *ret_offset)
{
	return parse(text, 0, ret_json, ret_offset);
}

int document_parse_first(struct str text, json_t **ret_json, size_t *ret_used)
{
	return parse(text, JSON_DISABLE_EOF_CHECK, ret_json, ret_used);
}

const char *document_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

const char *document_text_or_empty(const json_t *object, const char *key)
{
	const char *text = document_text(object, key);

	return text == NULL ? "" : text;
}
