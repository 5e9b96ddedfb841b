/* Any bytes through the filter of a child's output: what comes out obeys secret_filter.h. The first byte says how long the secret is
 * that follows it, the next one how the rest is cut into pieces. */
#include <sodium.h>
#include <stdint.h>
#include <string.h>

#include "agents/secret_filter.h"
#include "policy/check.h"
#include "policy/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void filter_drop(struct secret_filter *filter)
{
	secret_filter_release(filter);
}

static void filter_all(const struct secret_mask *mask, struct str text, size_t step, struct buf *out)
{
	CLEANUP(filter_drop) struct secret_filter filter = {0};

	secret_filter_init(&filter, mask);
	buf_init(out, SIZE_MAX / 4);
	for (size_t at = 0; at < text.len; at += step) {
		size_t len = text.len - at < step ? text.len - at : step;

		CHECK(secret_filter_feed(&filter, (struct str){text.bytes + at, len}, out) == 0);
	}
	CHECK(secret_filter_end(&filter, out) == 0);
}

static void arena_drop(struct arena *arena)
{
	arena_release(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(arena_drop) struct arena arena = {0};
	CLEANUP(buf_release) struct buf once = {0}, pieces = {0}, twice = {0}, again = {0};
	struct secret_mask mask;
	struct str secret;
	struct str text;
	size_t covered = 0;
	size_t len = size > 1 ? data[0] % 24 : 0;

	if (size < 2 + len)
		return 0;
	CHECK(sodium_init() >= 0);
	arena_init(&arena, 1 << 24);
	secret = (struct str){(const char *)data + 2, len};
	text = (struct str){(const char *)data + 2 + len, size - 2 - len};
	/* A secret that holds the mask finds it. */
	if (memchr(secret.bytes, '*', len) != NULL)
		return 0;
	CHECK(secret_mask_of(&mask, &arena, &secret, 1) == 0);
	filter_all(&mask, text, text.len + 1, &once);
	filter_all(&mask, text, 1 + data[1] % 16, &pieces);
	CHECK(str_equal(buf_str(&once), buf_str(&pieces)));
	buf_init(&again, SIZE_MAX / 4);
	(void)secret_mask_scan(&mask, buf_str(&once), true, &covered, &again);
	CHECK(str_equal(buf_str(&once), buf_str(&again)));
	filter_all(&mask, buf_str(&once), 7, &twice);
	CHECK(str_equal(buf_str(&once), buf_str(&twice)));
	return 0;
}
