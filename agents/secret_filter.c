#include "agents/secret_filter.h"

#include <errno.h>
#include <string.h>

#include "policy/redact.h"

/* Masking may bring something new into view, so a line is looked at until it stays as it is. */
enum { ROUNDS = 6, KEY_RUN_LEAST = 20 };

void secret_filter_init(struct secret_filter *filter, const struct secret_mask *mask)
{
	*filter = (struct secret_filter){.mask = mask};
	buf_init(&filter->pending, SIZE_MAX / 4);
	buf_init(&filter->line, SIZE_MAX / 4);
	buf_init(&filter->found[0], SIZE_MAX / 4);
	buf_init(&filter->found[1], SIZE_MAX / 4);
}

void secret_filter_release(struct secret_filter *filter)
{
	buf_release(&filter->pending);
	buf_release(&filter->line);
	buf_release(&filter->found[0]);
	buf_release(&filter->found[1]);
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

/* Takes the first `used` bytes away. */
static void drop_front(struct buf *buf, size_t used)
{
	if (used == 0)
		return;
	memmove(buf->bytes, buf->bytes + used, buf->len - used);
	buf->len -= used;
	buf->bytes[buf->len] = '\0';
}

/* ---- private keys, which have many lines */

static bool is_base64(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
		byte == '+' || byte == '/' || byte == '=';
}

/* A blank line, a header of the old format, or what has a long piece of base64 or nothing else. */
static bool may_be_key(struct str line)
{
	size_t run = 0;
	size_t longest = 0;
	size_t other = 0;

	for (size_t i = 0; i < line.len; i++) {
		run = is_base64(line.bytes[i]) ? run + 1 : 0;
		longest = run > longest ? run : longest;
		other += !is_base64(line.bytes[i]) && line.bytes[i] != ' ' && line.bytes[i] != '\r';
	}
	return other == 0 || longest >= KEY_RUN_LEAST || memmem(line.bytes, line.len, "Proc-Type:", 10) != NULL ||
		memmem(line.bytes, line.len, "DEK-Info:", 9) != NULL;
}

/* Whether all of this line belongs to a key that has begun before; `report` is what the redactor saw in it. */
static bool is_inside_key(struct secret_filter *filter, struct str line, const struct redact_report *report)
{
	bool was_in_key = filter->is_in_key;
	bool has_mark = report->counts[REDACT_PRIVATE_KEY] > 0;

	filter->is_in_key = report->is_key_open || (was_in_key && !has_mark && may_be_key(line));
	return was_in_key && filter->is_in_key;
}

/* ---- one line */

static bool finds_shapes(const struct redact_report *report)
{
	for (size_t i = 0; i < REDACT_CATEGORIES; i++)
		if (i != REDACT_CONTROL && report->counts[i] > 0)
			return true;
	return false;
}

/* One round: the redactor, then the run's secrets. *changed: there was something. */
static int look(
	struct secret_filter *filter, struct str text, struct buf *ret, struct redact_report *report, bool *changed)
{
	struct buf *clean = &filter->found[1];
	size_t covered = 0;
	int r = 0;

	buf_reset(clean);
	buf_reset(ret);
	r = redact_text(text, REDACT_UNCAPPED, clean, report);
	if (r != 0)
		return r;
	(void)secret_mask_scan(filter->mask, buf_str(clean), true, &covered, ret);
	*changed = finds_shapes(report) || !str_equal(buf_str(clean), buf_str(ret));
	return buf_error(ret);
}

enum { LINE_IS_PLAIN = 1 };

/* Leaves the line's safe form in found[0], and in *ret_report what the redactor saw; LINE_IS_PLAIN: it may leave as it is. */
static int settle(struct secret_filter *filter, struct str line, struct redact_report *ret_report)
{
	struct redact_report more;
	struct buf *found = &filter->found[0];
	struct buf text;
	bool changed = false;
	int r = look(filter, line, found, ret_report, &changed);

	if (r != 0 || !changed)
		return r != 0 ? r : LINE_IS_PLAIN;
	buf_init(&text, SIZE_MAX / 4);
	for (int i = 0; r == 0 && changed && i < ROUNDS; i++) {
		buf_reset(&text);
		buf_add_str(&text, buf_str(found));
		r = buf_error(&text);
		if (r == 0)
			r = look(filter, buf_str(&text), found, &more, &changed);
		changed = changed && !str_equal(buf_str(&text), buf_str(found));
	}
	buf_release(&text);
	if (r == 0 && changed) {
		buf_reset(found);
		buf_puts(found, REDACT_MASK);
	}
	return r;
}

static size_t indent_of(struct str line)
{
	size_t len = 0;

	while (len < line.len && is_blank(line.bytes[len]))
		len++;
	return len;
}

static size_t tail_of(struct str line)
{
	size_t len = line.len;

	while (len > 0 && (is_blank(line.bytes[len - 1]) || line.bytes[len - 1] == '\r'))
		len--;
	return line.len - len;
}

/* `line` is without its end. */
static int write_line(struct secret_filter *filter, struct str line, struct buf *out)
{
	struct redact_report report = {0};
	int r = settle(filter, line, &report);

	if (r < 0)
		return r;
	if (is_inside_key(filter, line, &report)) {
		buf_puts(out, REDACT_MASK);
	} else if (r == LINE_IS_PLAIN) {
		buf_add_str(out, line);
	} else {
		buf_add(out, line.bytes, indent_of(line));
		buf_add_str(out, buf_str(&filter->found[0]));
		buf_add(out, line.bytes + line.len - tail_of(line), tail_of(line));
	}
	return buf_error(out);
}

/* ---- lines without an end */

/* Behind the last blank; 0: there is none. */
static size_t cut_of(struct str line)
{
	size_t at = line.len;

	while (at > 0 && !is_blank(line.bytes[at - 1]))
		at--;
	return at;
}

/* How much of the text is the rest of a word whose mask was written already. */
static size_t skip_word(struct secret_filter *filter, struct str text)
{
	size_t len = 0;

	while (len < text.len && !is_blank(text.bytes[len]) && text.bytes[len] != '\n')
		len++;
	filter->is_in_word = len == text.len;
	return len;
}

/* A line that is too long: up to its last blank; where it has none, the word is one mask. Gives how much that took. */
static int write_piece(struct secret_filter *filter, struct str text, struct buf *out, size_t *ret_used)
{
	*ret_used = cut_of((struct str){text.bytes, SECRET_FILTER_LINE});
	if (*ret_used > 0)
		return write_line(filter, (struct str){text.bytes, *ret_used}, out);
	*ret_used = SECRET_FILTER_LINE;
	filter->is_in_word = true;
	buf_puts(out, REDACT_MASK);
	return buf_error(out);
}

/* One line or piece of one. *ret_used 0: there is nothing whole. */
static int write_next(struct secret_filter *filter, struct str text, struct buf *out, size_t *ret_used)
{
	const char *end = memchr(text.bytes, '\n', text.len);
	int r = 0;

	*ret_used = 0;
	if (end != NULL && end - text.bytes <= SECRET_FILTER_LINE) {
		*ret_used = (size_t)(end - text.bytes) + 1;
		r = write_line(filter, (struct str){text.bytes, *ret_used - 1}, out);
		buf_putc(out, '\n');
		return r;
	}
	return text.len > SECRET_FILTER_LINE ? write_piece(filter, text, out, ret_used) : 0;
}

static int write_lines(struct secret_filter *filter, struct buf *out)
{
	struct str rest = buf_str(&filter->line);
	int r = buf_error(&filter->line);

	while (r == 0 && rest.len > 0) {
		size_t skipped = filter->is_in_word ? skip_word(filter, rest) : 0;
		size_t used = 0;

		rest = (struct str){rest.bytes + skipped, rest.len - skipped};
		if (rest.len > 0)
			r = write_next(filter, rest, out, &used);
		if (used == 0)
			break;
		rest = (struct str){rest.bytes + used, rest.len - used};
	}
	drop_front(&filter->line, filter->line.len - rest.len);
	return r != 0 ? r : buf_error(out);
}

/* ---- the stream */

static int take(struct secret_filter *filter, bool is_last, struct buf *out)
{
	size_t used = 0;
	int r = buf_error(&filter->pending);

	if (r != 0)
		return r;
	used = secret_mask_scan(filter->mask, buf_str(&filter->pending), is_last, &filter->covered, &filter->line);
	drop_front(&filter->pending, used);
	return write_lines(filter, out);
}

int secret_filter_feed(struct secret_filter *filter, struct str piece, struct buf *out)
{
	buf_add_str(&filter->pending, piece);
	return take(filter, false, out);
}

int secret_filter_end(struct secret_filter *filter, struct buf *out)
{
	int r = take(filter, true, out);

	if (r == 0 && filter->line.len > 0)
		r = write_line(filter, buf_str(&filter->line), out);
	buf_reset(&filter->line);
	filter->covered = 0;
	filter->is_in_key = filter->is_in_word = false;
	return r;
}
