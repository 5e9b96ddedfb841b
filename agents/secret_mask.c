#include "agents/secret_mask.h"

#include <errno.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/redact.h"
#include "policy/text.h"

/* FORMS_EACH: plain, five of JSON, six of percent, two alphabets of base64 at three alignments. */
enum { FORMS_EACH = 18, TEXT_CEILING = 4 * 1024 * 1024 };

/* A secret of nothing but these would find masks, and mask them again. */
static bool is_all_mask(struct str form)
{
	for (size_t i = 0; i < form.len; i++)
		if (form.bytes[i] != REDACT_MASK[0])
			return false;
	return true;
}

static int add(struct secret_mask *mask, struct str form)
{
	if (form.bytes == NULL)
		return -ENOMEM;
	if (form.len < SPEC_SECRET_LEAST || is_all_mask(form))
		return 0;
	CHECK(mask->count < mask->size);
	mask->forms[mask->count++] = form;
	return 0;
}

/* ---- JSON, without its quotes */

enum json_style { JSON_USUAL = 0, JSON_SLASHES, JSON_ASCII, JSON_ASCII_CAPITALS, JSON_STYLES };

static void put_unit(struct buf *buf, unsigned unit, bool capitals)
{
	buf_printf(buf, capitals ? "\\u%04X" : "\\u%04x", unit);
}

/* As a writer does that leaves nothing but ASCII; the rest is the usual form's. */
static void put_ascii(struct buf *buf, struct str usual, bool capitals)
{
	size_t at = 0;

	while (at < usual.len) {
		uint32_t code_point = (unsigned char)usual.bytes[at];

		if (code_point < 0x7f) {
			buf_putc(buf, usual.bytes[at++]);
			continue;
		}
		code_point = text_next(usual, &at);
		if (code_point >= 0x10000 && code_point != TEXT_INVALID) {
			put_unit(buf, 0xD7C0 + (code_point >> 10), capitals);
			put_unit(buf, 0xDC00 + (code_point & 0x3ff), capitals);
		} else if (code_point != TEXT_INVALID) {
			put_unit(buf, code_point, capitals);
		}
	}
}

static void put_slashes(struct buf *buf, struct str usual)
{
	for (size_t i = 0; i < usual.len; i++) {
		if (usual.bytes[i] == '/')
			buf_putc(buf, '\\');
		buf_putc(buf, usual.bytes[i]);
	}
}

static void put_style(struct buf *buf, struct str usual, enum json_style style)
{
	if (style == JSON_SLASHES)
		put_slashes(buf, usual);
	else if (style == JSON_USUAL)
		buf_add_str(buf, usual);
	else
		put_ascii(buf, usual, style == JSON_ASCII_CAPITALS);
}

/* What stands between the quotes. */
static int write_json(struct arena *arena, struct str text, struct str *ret)
{
	struct buf buf;
	struct json_out out;
	int r = 0;

	buf_init(&buf, TEXT_CEILING);
	json_out_init(&out, &buf);
	json_out_str(&out, text);
	r = buf_error(&buf);
	if (r == 0)
		*ret = arena_str(arena, (struct str){buf.bytes + 1, buf.len - 2});
	buf_release(&buf);
	return r == 0 && ret->bytes == NULL ? -ENOMEM : r;
}

static int add_json(struct secret_mask *mask, struct arena *arena, struct str secret)
{
	struct str usual = {0};
	struct str twice = {0};
	int r = write_json(arena, secret, &usual);

	for (enum json_style style = JSON_USUAL; r == 0 && style < JSON_STYLES; style++) {
		struct buf buf;

		buf_init(&buf, TEXT_CEILING);
		put_style(&buf, usual, style);
		r = buf_error(&buf);
		if (r == 0)
			r = add(mask, arena_str(arena, buf_str(&buf)));
		buf_release(&buf);
	}
	if (r == 0)
		r = write_json(arena, usual, &twice);
	return r == 0 ? add(mask, twice) : r;
}

/* ---- percent */

enum percent_style {
	PERCENT_ALL = 0,
	PERCENT_SMALL,
	PERCENT_FORM,
	PERCENT_PATH,
	PERCENT_COMPONENT,
	PERCENT_URI,
	PERCENT_STYLES
};

/* What each style leaves as it is, beside letters and digits. */
static const char *const percent_plain[] = {
	[PERCENT_ALL] = "-._~",
	[PERCENT_SMALL] = "-._~",
	[PERCENT_FORM] = "-._*",
	[PERCENT_PATH] = "-._~/",
	[PERCENT_COMPONENT] = "-._~!*'()",
	[PERCENT_URI] = "-._~!*'();/?:@&=+$,#",
};

static bool is_letter_or_digit(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
}

static int add_percent(struct secret_mask *mask, struct arena *arena, struct str secret, enum percent_style style)
{
	const char *digits = style == PERCENT_SMALL ? "0123456789abcdef" : "0123456789ABCDEF";
	char *text = arena_alloc(arena, 3 * secret.len + 1);
	size_t len = 0;

	if (text == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < secret.len; i++) {
		char byte = secret.bytes[i];

		if (is_letter_or_digit(byte) || (byte != '\0' && strchr(percent_plain[style], byte) != NULL)) {
			text[len++] = byte;
		} else if (byte == ' ' && style == PERCENT_FORM) {
			text[len++] = '+';
		} else {
			text[len++] = '%';
			text[len++] = digits[(unsigned char)byte >> 4];
			text[len++] = digits[(unsigned char)byte & 15];
		}
	}
	return add(mask, (struct str){text, len});
}

/* ---- base64 */

/* The characters that depend on the secret alone when `before` bytes stand before it in what was encoded, whatever follows. */
static int add_base64(struct secret_mask *mask, struct arena *arena, struct str secret, size_t before, int variant)
{
	static const size_t skipped[] = {0, 2, 3};
	size_t len = before + secret.len;
	size_t size = sodium_base64_encoded_len(len, variant);
	unsigned char *bytes = arena_alloc(arena, len);
	char *text = arena_alloc(arena, size);

	if (bytes == NULL || text == NULL)
		return -ENOMEM;
	memcpy(bytes + before, secret.bytes, secret.len);
	sodium_bin2base64(text, size, bytes, len, variant);
	return add(mask, (struct str){text + skipped[before], len * 8 / 6 - skipped[before]});
}

static int add_secret(struct secret_mask *mask, struct arena *arena, struct str secret)
{
	int r = add(mask, secret);

	if (r == 0)
		r = add_json(mask, arena, secret);
	for (enum percent_style style = PERCENT_ALL; r == 0 && style < PERCENT_STYLES; style++)
		r = add_percent(mask, arena, secret, style);
	for (size_t before = 0; r == 0 && before < 3; before++)
		r = add_base64(mask, arena, secret, before, sodium_base64_VARIANT_ORIGINAL_NO_PADDING);
	for (size_t before = 0; r == 0 && before < 3; before++)
		r = add_base64(mask, arena, secret, before, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	return r;
}

/* ---- making one */

/* By the first byte, and of one byte the longer ones first. */
static int form_order(const void *a, const void *b)
{
	const struct str *first = a;
	const struct str *second = b;

	if (first->bytes[0] != second->bytes[0])
		return (unsigned char)first->bytes[0] < (unsigned char)second->bytes[0] ? -1 : 1;
	if (first->len != second->len)
		return first->len > second->len ? -1 : 1;
	return memcmp(first->bytes, second->bytes, first->len);
}

static int begin(struct secret_mask *mask, struct arena *arena, size_t secrets)
{
	*mask = (struct secret_mask){.size = secrets * FORMS_EACH};
	mask->forms = ARENA_ARRAY(arena, mask->size, struct str);
	return mask->forms != NULL ? 0 : -ENOMEM;
}

static void finish(struct secret_mask *mask)
{
	size_t kept = 0;

	if (mask->count > 0)
		qsort(mask->forms, mask->count, sizeof(*mask->forms), form_order);
	for (size_t i = 0; i < mask->count; i++)
		if (kept == 0 || !str_equal(mask->forms[kept - 1], mask->forms[i]))
			mask->forms[kept++] = mask->forms[i];
	mask->count = kept;
	for (size_t i = 0; i < kept; i++)
		mask->ends[(unsigned char)mask->forms[i].bytes[0]] = i + 1;
	for (size_t byte = 1; byte <= UCHAR_MAX; byte++)
		if (mask->ends[byte] == 0)
			mask->ends[byte] = mask->ends[byte - 1];
}

/* "Bearer abc": the scheme is no secret, what follows is one by itself. */
static int add_value(struct secret_mask *mask, struct arena *arena, struct str value)
{
	const char *blank = value.bytes != NULL ? memchr(value.bytes, ' ', value.len) : NULL;
	struct str rest = {0};
	int r = 0;

	if (blank != NULL)
		rest = (struct str){blank + 1, value.len - (size_t)(blank + 1 - value.bytes)};
	if (value.len >= SPEC_SECRET_LEAST)
		r = add_secret(mask, arena, value);
	if (r == 0 && rest.len >= SPEC_SECRET_LEAST)
		r = add_secret(mask, arena, rest);
	return r;
}

int secret_mask_of(struct secret_mask *mask, struct arena *arena, const struct str *secrets, size_t count)
{
	int r = begin(mask, arena, 2 * count);

	for (size_t i = 0; r == 0 && i < count; i++)
		r = add_value(mask, arena, secrets[i]);
	finish(mask);
	return r;
}

int secret_mask_init(struct secret_mask *mask, struct arena *arena, const struct spec *spec)
{
	int r = begin(mask, arena, 2 * spec->value_count);

	for (size_t i = 0; r == 0 && i < spec->value_count; i++)
		r = add_value(mask, arena, spec->values[i].value);
	finish(mask);
	return r;
}

/* ---- using it */

/* What a place holds: the length of the longest form that stands there; PLACE_OPEN where the text ends within one. */
enum { PLACE_OPEN = -1 };

static ptrdiff_t look_at(const struct secret_mask *mask, struct str text, size_t at, bool is_last)
{
	unsigned char byte = (unsigned char)text.bytes[at];
	size_t left = text.len - at;

	for (size_t i = byte > 0 ? mask->ends[byte - 1] : 0; i < mask->ends[byte]; i++) {
		struct str form = mask->forms[i];

		if (form.len <= left && memcmp(text.bytes + at, form.bytes, form.len) == 0)
			return (ptrdiff_t)form.len;
		if (form.len > left && !is_last && memcmp(text.bytes + at, form.bytes, left) == 0)
			return PLACE_OPEN;
	}
	return 0;
}

size_t secret_mask_scan(const struct secret_mask *mask, struct str text, bool is_last, size_t *covered, struct buf *out)
{
	size_t end = *covered; /* of the mask that was written last */
	size_t plain = 0;      /* where what isn't written yet begins */
	size_t at = 0;

	for (; at < text.len; at++) {
		ptrdiff_t len = look_at(mask, text, at, is_last);

		if (len == PLACE_OPEN)
			break;
		if (len > 0 && at >= end) {
			buf_add(out, text.bytes + plain, at - plain);
			buf_puts(out, REDACT_MASK);
		}
		if (len > 0 && at + (size_t)len > end)
			end = at + (size_t)len;
		if (at < end)
			plain = at + 1;
	}
	buf_add(out, text.bytes + plain, at - plain);
	*covered = end > at ? end - at : 0;
	return at;
}

int secret_mask_apply(const struct secret_mask *mask, struct arena *arena, struct str text, struct str *ret)
{
	struct buf buf;
	size_t covered = 0;
	int r = 0;

	*ret = (struct str){0};
	if (text.bytes == NULL)
		return 0;
	buf_init(&buf, TEXT_CEILING);
	(void)secret_mask_scan(mask, text, true, &covered, &buf);
	r = buf_error(&buf);
	if (r == 0)
		*ret = arena_str(arena, buf_str(&buf));
	buf_release(&buf);
	return r == 0 && ret->bytes == NULL ? -ENOMEM : r;
}
