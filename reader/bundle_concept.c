/* The one way to a concept's text: the string rule, check A, check B, check A again, then the text. */
#include <errno.h>
#include <string.h>

#include "policy/cleanup.h"
#include "policy/text.h"
#include "reader/bundle.h"
#include "reader/bundle_link.h"

/* Takes what will be read from the call's budget. */
static bool may_read(struct bundle_budget *budget, int64_t size)
{
	size_t wanted = size > 0 ? (size_t)size : 0;

	if (budget->reached_bytes || wanted > budget->bytes) {
		budget->reached_bytes = true;
		return false;
	}
	budget->bytes -= wanted;
	return true;
}

/* Up to `limit` bytes and one more, which would say that it is too long. */
static int read_node(const struct bundle *bundle, const struct contained_node *node, size_t limit, struct buf *text)
{
	size_t len = 0;
	int result;

	buf_reset(text);
	if (node->kind != CONTAINED_FILE)
		return BUNDLE_CONCEPT_NOT_REGULAR;
	if (node->size > (int64_t)limit)
		return BUNDLE_CONCEPT_TOO_LARGE;
	if (!may_read(bundle->budget, node->size))
		return BUNDLE_CUT;
	result = buf_reserve(text, node->size > 0 ? (size_t)node->size + 1 : limit + 1);
	if (result == 0)
		result = contained_read_node(&bundle->root, node, text->bytes, text->size - 1, &len);
	if (result != 0)
		return result > 0 ? BUNDLE_CONCEPT_UNREADABLE : result;
	if (len > limit)
		return BUNDLE_CONCEPT_TOO_LARGE;
	text->len = len;
	text->bytes[len] = '\0';
	return 0;
}

/* How many bytes from `at` on are ASCII without a NUL, by sixteens. */
static size_t plain_bytes(struct str text, size_t at)
{
	const uint64_t ones = 0x0101010101010101ull;
	size_t begin = at;
	uint64_t words[2];

	for (; text.len - at >= sizeof(words); at += sizeof(words)) {
		memcpy(words, text.bytes + at, sizeof(words));
		if (((words[0] | words[1] | (words[0] - ones) | (words[1] - ones)) & ones << 7) != 0)
			break;
	}
	return at - begin;
}

int bundle_text_check(struct str text)
{
	size_t at = 0;

	while (at < text.len) {
		at += plain_bytes(text, at);
		for (size_t end = at + 16; at < end && at < text.len;) {
			uint32_t code_point = text_next(text, &at);

			if (code_point == TEXT_INVALID || code_point == 0)
				return BUNDLE_CONCEPT_MALFORMED;
		}
	}
	return 0;
}

static bool is_met_as_file(const struct bundle *bundle, struct str path)
{
	const struct bundle_file *file = bundle_file_at(bundle, path);

	return file != NULL && file->kind == CONTAINED_FILE;
}

int bundle_concept_read(const struct bundle *bundle, struct str id, struct buf *text)
{
	struct contained_node node CLEANUP(contained_node_close) = CONTAINED_NODE_NONE;
	struct buf path CLEANUP(buf_release) = {0};
	int result;

	buf_init(&path, SIZE_MAX / 4);
	buf_add_str(&path, id);
	buf_puts(&path, ".md");
	if (!bundle_link_is_plain(id))
		return BUNDLE_CONCEPT_OUTSIDE;
	if (!bundle_named_has(bundle, id))
		return BUNDLE_CONCEPT_UNKNOWN;
	result = buf_error(&path);
	if (result == 0)
		result = bundle_inside_open(bundle, buf_str(&path), is_met_as_file(bundle, buf_str(&path)), &node);
	if (result != 0)
		return result;
	if (node.kind == CONTAINED_FILE && !bundle_named_owns(bundle, &node))
		return BUNDLE_CONCEPT_UNKNOWN;
	result = read_node(bundle, &node, bundle->concept_bytes, text);
	return result != 0 ? result : bundle_text_check(buf_str(text));
}

int bundle_page_read(const struct bundle *bundle, const struct bundle_file *page, struct buf *text)
{
	struct contained_node node CLEANUP(contained_node_close) = CONTAINED_NODE_NONE;
	int result = bundle_inside_open(bundle, page->path, page->kind == CONTAINED_FILE, &node);

	if (result != 0)
		return result;
	if (node.kind == CONTAINED_FILE && !bundle_named_owns(bundle, &node))
		return BUNDLE_CONCEPT_OUTSIDE;
	return read_node(bundle, &node, bundle->concept_bytes, text);
}
