/* A concept's head, and the links of a page: any bytes. What is kept is bounded, UTF-8 where the text was, and never leads up. */
#include <string.h>

#include "policy/check.h"
#include "policy/cleanup.h"
#include "policy/text.h"
#include "reader/bundle_link.h"
#include "reader/front_matter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_text(struct str text)
{
	size_t at = 0;

	while (at < text.len)
		if (text_next(text, &at) == TEXT_INVALID)
			return false;
	return true;
}

static void check_text(struct str text, size_t limit)
{
	size_t i;

	CHECK(text.len <= limit && is_text(text));
	for (i = 0; i < text.len; i++)
		CHECK((unsigned char)text.bytes[i] >= 0x20 && text.bytes[i] != 0x7F);
}

static void check_head(const struct front_matter *head)
{
	size_t i;

	check_text(head->type, FRONT_MATTER_NAME_LIMIT);
	check_text(head->title, FRONT_MATTER_TEXT_LIMIT);
	check_text(head->description, FRONT_MATTER_TEXT_LIMIT);
	check_text(head->status, FRONT_MATTER_NAME_LIMIT);
	CHECK(head->tag_count <= FRONT_MATTER_TAGS_LIMIT && head->key_count <= FRONT_MATTER_KEYS_LIMIT);
	for (i = 0; i < head->tag_count; i++)
		check_text(head->tags[i], FRONT_MATTER_NAME_LIMIT);
	for (i = 0; i < head->key_count; i++)
		check_text(head->keys[i], FRONT_MATTER_NAME_LIMIT);
}

static void check_links(struct arena *arena, struct str page)
{
	struct bundle_links links = bundle_links_of(page);
	struct str target, path;
	size_t last = 0;
	bool is_folder;

	while (bundle_links_next(&links, &target)) {
		CHECK(target.bytes >= page.bytes && target.bytes + target.len <= page.bytes + page.len);
		CHECK((size_t)(target.bytes - page.bytes) >= last);
		last = (size_t)(target.bytes - page.bytes);
		arena_reset(arena);
		if (bundle_link_resolve(arena, STR("a/b"), target, &path, &is_folder) == 0)
			CHECK(path.len == 0 || bundle_link_is_plain(path));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena CLEANUP(arena_release) = {0};
	struct front_matter head;
	struct str text = {(const char *)data, size}, body;
	int result;

	if (size == 0)
		return 0;
	arena_init(&arena, 64 * 1024 * 1024);
	result = front_matter_read(&arena, text, &head, &body);
	CHECK(result == 0 || result == FRONT_MATTER_NONE || result == FRONT_MATTER_MALFORMED);
	CHECK(body.bytes + body.len == text.bytes + text.len);
	if (is_text(text))
		check_head(&head);
	check_links(&arena, text);
	return 0;
}
