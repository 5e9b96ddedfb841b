#include "policy/redact.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/cleanup.h"
#include "policy/redact_internal.h"

/* Masking can bring something new into view (a cut leaves half a sentence), so it is repeated until nothing
 * changes, which is what R1 means; a text that never settles becomes one mask.
 */
enum { ROUNDS = 6 };
enum { MASK_LEN = sizeof(REDACT_MASK) - 1 };

const char *redact_category_name(enum redact_category category)
{
	static const char *const names[REDACT_CATEGORIES] = {
		[REDACT_OVER_LIMIT] = "over_limit",
		[REDACT_PRIVATE_KEY] = "private_key",
		[REDACT_DATABASE_URL] = "database_url",
		[REDACT_URL_USER] = "url_user",
		[REDACT_AUTH_VALUE] = "auth_value",
		[REDACT_TOKEN] = "token",
		[REDACT_CREDENTIAL_FILE] = "credential_file",
		[REDACT_KEY_VALUE] = "key_value",
		[REDACT_CONTROL] = "control",
	};

	CHECK(category < REDACT_CATEGORIES);
	return names[category];
}

/* ---- spans */

void redact_spans_release(struct redact_spans *spans)
{
	free(spans->items);
	*spans = (struct redact_spans){0};
}

static bool spans_grow(struct redact_spans *spans)
{
	size_t size = spans->size ? 2 * spans->size : 16;
	struct redact_span *items = reallocarray(spans->items, size, sizeof(*items));

	if (!items) {
		spans->is_out_of_memory = true;
		return false;
	}
	spans->items = items;
	spans->size = size;
	return true;
}

static bool is_mask(struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.bytes[i] != '*')
			return false;
	return true;
}

void redact_span_add(struct redact_cursor *cursor, size_t begin, size_t end)
{
	struct redact_spans *spans = cursor->spans;

	CHECK(begin <= end && end <= cursor->text.len);
	if (is_mask((struct str){cursor->text.bytes + begin, end - begin}))
		return;
	if (spans->count == spans->size && !spans_grow(spans))
		return;
	spans->items[spans->count++] = (struct redact_span){begin, end, cursor->category};
}

static int span_order(const void *left, const void *right)
{
	const struct redact_span *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* ---- writing what is left */

struct writer {
	struct buf *out;
	size_t left; /* code points */
	bool is_full;
};

static bool begins_code_point(char byte)
{
	return ((unsigned char)byte & 0xC0) != 0x80;
}

static void write_plain(struct writer *writer, const char *bytes, size_t len)
{
	size_t end = 0;

	for (; end < len && !writer->is_full; end++) {
		if (!begins_code_point(bytes[end]))
			continue;
		if (writer->left == 0) {
			writer->is_full = true;
			break;
		}
		writer->left--;
	}
	buf_add(writer->out, bytes, end);
}

static void write_mask(struct writer *writer)
{
	if (writer->left < MASK_LEN)
		writer->is_full = true;
	if (writer->is_full)
		return;
	writer->left -= MASK_LEN;
	buf_puts(writer->out, REDACT_MASK);
}

/* One line without a blank at its end. */
static void tidy(struct buf *out)
{
	for (char *at = out->bytes; out->len && (at = memchr(at, '\n', out->len - (size_t)(at - out->bytes)));)
		*at = ' ';
	while (out->len && out->bytes[out->len - 1] == ' ')
		out->bytes[--out->len] = '\0';
}

/* Replaces `out` by the text with a mask for every span, or for every chain of spans that touch. */
static void render(struct str text, struct redact_spans *spans, size_t cap, struct buf *out)
{
	struct writer writer = {.out = out, .left = cap};
	size_t at = 0;

	buf_reset(out);
	if (spans->count)
		qsort(spans->items, spans->count, sizeof(*spans->items), span_order);
	for (size_t i = 0; i < spans->count;) {
		size_t begin = spans->items[i].begin, end = begin;

		for (; i < spans->count && spans->items[i].begin <= end; i++)
			if (spans->items[i].end > end)
				end = spans->items[i].end;
		write_plain(&writer, text.bytes + at, begin - at);
		write_mask(&writer);
		at = end;
	}
	write_plain(&writer, text.bytes + at, text.len - at);
	tidy(out);
}

static void mask_all(size_t cap, struct buf *out, struct redact_report *report)
{
	struct writer writer = {.out = out, .left = cap};

	buf_reset(out);
	write_mask(&writer);
	report->counts[REDACT_OVER_LIMIT]++;
}

/* One round from `from` to `to`. 0, REDACT_LIMIT_HIT or a negative errno. */
static int redact_round(
	struct str from, size_t cap, const struct redact_limits *limits, struct buf *to, struct redact_report *report)
{
	struct redact_spans spans CLEANUP(redact_spans_release) = {0};
	int result = redact_find(from, redact_look(from), limits, &spans);

	if (result)
		return result;
	for (size_t i = 0; i < spans.count; i++)
		report->counts[spans.items[i].category]++;
	report->is_key_open = report->is_key_open || spans.is_key_open;
	render(from, &spans, cap, to);
	return buf_error(to);
}

/* Leaves the settled text in *clean; *spare is room to work in. */
static int settle(struct buf *clean, struct buf *spare, size_t cap, const struct redact_limits *limits,
	struct redact_report *report)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct buf swap;
		int result = redact_round(buf_str(clean), cap, limits, spare, report);

		if (result < 0)
			return result;
		if (result == REDACT_LIMIT_HIT)
			break;
		if (str_equal(buf_str(clean), buf_str(spare)))
			return 0;
		swap = *clean;
		*clean = *spare;
		*spare = swap;
	}
	mask_all(cap, clean, report);
	return buf_error(clean);
}

int redact_deliver(int result, const struct buf *text, const struct redact_report *counts, struct buf *out,
	struct redact_report *report)
{
	if (result)
		return result;
	if (report)
		*report = *counts;
	buf_add_str(out, buf_str(text));
	return buf_error(out);
}

int redact_text_within(struct str text, size_t cap_code_points, const struct redact_limits *limits, struct buf *out,
	struct redact_report *report)
{
	struct buf clean CLEANUP(buf_release) = {0}, spare CLEANUP(buf_release) = {0};
	struct redact_report counts = {0};
	int result;

	/* An invalid byte becomes three. */
	buf_init(&clean, SIZE_MAX / 4);
	buf_init(&spare, SIZE_MAX / 4);
	if (text.len)
		redact_clean(text, &clean, &counts.counts[REDACT_CONTROL]);
	result = buf_error(&clean);
	if (result == 0)
		result = settle(&clean, &spare, cap_code_points, limits, &counts);
	return redact_deliver(result, &clean, &counts, out, report);
}

int redact_text(struct str text, size_t cap_code_points, struct buf *out, struct redact_report *report)
{
	return redact_text_within(text, cap_code_points, &redact_default_limits, out, report);
}

bool redact_finds_secret(struct str text)
{
	struct redact_spans spans CLEANUP(redact_spans_release) = {.is_first_enough = true};
	struct buf clean CLEANUP(buf_release) = {0};
	unsigned seen = text.len ? redact_look(text) : 0;
	size_t controls = 0;

	buf_init(&clean, SIZE_MAX / 4);
	if (seen == 0)
		return false;
	if (seen & REDACT_SEEN_ODD) {
		redact_clean(text, &clean, &controls);
		if (buf_error(&clean))
			return true;
		text = buf_str(&clean);
		seen = redact_look(text);
	}
	return redact_find(text, seen, &redact_default_limits, &spans) != 0 || spans.count > 0;
}
