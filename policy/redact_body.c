#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/cleanup.h"
#include "policy/redact_internal.h"
#include "policy/text.h"

/* As for one line: a text that never settles becomes one mask. */
enum { ROUNDS = 6 };

/* ---- the same text without control characters, whose white space stays */

static size_t word_end(struct str text, size_t at)
{
	size_t end = at;

	while (end < text.len) {
		size_t next = end;

		if (text_is_space(text_next(text, &next)))
			break;
		end = next;
	}
	return end;
}

static void strip(struct str text, struct buf *out, size_t *controls)
{
	size_t at = 0;

	while (at < text.len && !buf_error(out)) {
		size_t end = word_end(text, at);

		if (end > at) {
			redact_clean((struct str){text.bytes + at, end - at}, out, controls);
		} else {
			(void)text_next(text, &end);
			buf_add(out, text.bytes + at, end - at);
		}
		at = end;
	}
}

/* ---- where a byte of the cleaned text stands in the body */

static size_t skip_space(struct str body, size_t at)
{
	while (at < body.len) {
		size_t next = at;

		if (!text_is_space(text_next(body, &next)))
			break;
		at = next;
	}
	return at;
}

/* Cleaning folds white space and changes nothing else in a stripped body. False if it ever did. */
static bool map(struct str body, struct str clean, size_t *where)
{
	size_t at = skip_space(body, 0);

	for (size_t i = 0; i < clean.len; i++) {
		where[i] = at;
		if (clean.bytes[i] == ' ' || clean.bytes[i] == '\n') {
			size_t next = skip_space(body, at);

			if (next == at)
				return false;
			at = next;
		} else if (at < body.len && body.bytes[at] == clean.bytes[i]) {
			at++;
		} else {
			return false;
		}
	}
	return true;
}

static int span_order(const void *left, const void *right)
{
	const struct redact_span *a = left, *b = right;

	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

/* One mask for a chain of spans that touch, and the line feeds that stood in them. */
static void mask(struct str body, size_t begin, size_t end, struct buf *out)
{
	buf_puts(out, REDACT_MASK);
	for (size_t i = begin; i < end; i++)
		if (body.bytes[i] == '\n')
			buf_putc(out, '\n');
}

static void render(struct str body, struct redact_spans *spans, const size_t *where, struct buf *out)
{
	size_t at = 0;

	qsort(spans->items, spans->count, sizeof(*spans->items), span_order);
	for (size_t i = 0; i < spans->count;) {
		size_t begin = spans->items[i].begin, end = begin;

		for (; i < spans->count && spans->items[i].begin <= end; i++)
			if (spans->items[i].end > end)
				end = spans->items[i].end;
		begin = where[begin];
		end = where[end - 1] + 1;
		buf_add(out, body.bytes + at, begin - at);
		mask(body, begin, end, out);
		at = end;
	}
	buf_add(out, body.bytes + at, body.len - at);
}

/* ---- rounds */

/* 0 and *ret_found spans masked into `to`; REDACT_LIMIT_HIT; or a negative errno. */
static int mask_round(struct str body, struct buf *to, struct redact_report *report, size_t *ret_found)
{
	struct redact_spans spans CLEANUP(redact_spans_release) = {0};
	struct buf clean CLEANUP(buf_release) = {0};
	CLEANUP(free_drop) size_t *where = NULL;
	size_t controls = 0;
	int result;

	buf_init(&clean, SIZE_MAX / 4);
	redact_clean(body, &clean, &controls);
	if (buf_error(&clean))
		return buf_error(&clean);
	where = malloc((clean.len + 1) * sizeof(*where));
	if (!where)
		return -ENOMEM;
	if (!map(body, buf_str(&clean), where))
		return REDACT_LIMIT_HIT;
	result = redact_find(buf_str(&clean), redact_look(buf_str(&clean)), &redact_default_limits, &spans);
	if (result)
		return result;
	for (size_t i = 0; i < spans.count; i++)
		report->counts[spans.items[i].category]++;
	report->is_key_open = report->is_key_open || spans.is_key_open;
	*ret_found = spans.count;
	buf_reset(to);
	if (spans.count)
		render(body, &spans, where, to);
	return buf_error(to);
}

static int mask_whole(struct buf *body, struct buf *spare, struct redact_report *report)
{
	buf_reset(spare);
	mask(buf_str(body), 0, body->len, spare);
	report->counts[REDACT_OVER_LIMIT]++;
	buf_reset(body);
	buf_add_str(body, buf_str(spare));
	return buf_error(body);
}

static int settle(struct buf *body, struct buf *spare, struct redact_report *report)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct buf swap = *body;
		size_t found = 0;
		int result = mask_round(buf_str(body), spare, report, &found);

		if (result < 0)
			return result;
		if (result == REDACT_LIMIT_HIT)
			break;
		if (found == 0)
			return 0;
		*body = *spare;
		*spare = swap;
	}
	return mask_whole(body, spare, report);
}

int redact_body(struct str text, struct buf *out, struct redact_report *report)
{
	struct buf body CLEANUP(buf_release) = {0}, spare CLEANUP(buf_release) = {0};
	struct redact_report counts = {0};
	int result;

	buf_init(&body, SIZE_MAX / 4);
	buf_init(&spare, SIZE_MAX / 4);
	if (text.len)
		strip(text, &body, &counts.counts[REDACT_CONTROL]);
	result = buf_error(&body);
	if (result == 0 && body.len)
		result = settle(&body, &spare, &counts);
	return redact_deliver(result, &body, &counts, out, report);
}
