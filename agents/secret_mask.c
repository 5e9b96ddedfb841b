#include "agents/secret_mask.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/redact.h"

enum { FORMS_EACH = 8, TEXT_CEILING = 4 * 1024 * 1024 };

static int add(struct secret_mask *mask, struct str form)
{
	if (form.bytes == NULL)
		return -ENOMEM;
	if (form.len >= SPEC_SECRET_LEAST && mask->count < mask->size)
		mask->forms[mask->count++] = form;
	return 0;
}

/* Without quotes; slashes as they are, and as some writers escape them. */
static int add_json(struct secret_mask *mask, struct arena *arena, struct str secret)
{
	struct buf buf;
	struct json_out out;
	int r = 0;

	buf_init(&buf, TEXT_CEILING);
	json_out_init(&out, &buf);
	json_out_str(&out, secret);
	r = buf_error(&buf);
	if (r == 0)
		r = add(mask, arena_str(arena, (struct str){buf.bytes + 1, buf.len - 2}));
	buf_release(&buf);
	return r;
}

static bool is_unreserved(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
		(byte != '\0' && strchr("-._~", byte) != NULL);
}

static int add_percent(struct secret_mask *mask, struct arena *arena, struct str secret, const char *digits)
{
	char *text = arena_alloc(arena, 3 * secret.len + 1);
	size_t len = 0;

	if (text == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < secret.len; i++) {
		unsigned char byte = (unsigned char)secret.bytes[i];

		if (is_unreserved(secret.bytes[i])) {
			text[len++] = secret.bytes[i];
		} else {
			text[len++] = '%';
			text[len++] = digits[byte >> 4];
			text[len++] = digits[byte & 15];
		}
	}
	return add(mask, (struct str){text, len});
}

/* The characters that depend on the secret alone when `before` bytes stand before it in what was encoded. */
static int add_base64(struct secret_mask *mask, struct arena *arena, struct str secret, size_t before, int variant)
{
	static const size_t skipped[] = {0, 2, 3};
	size_t whole = (before + secret.len) / 3 * 3;
	size_t size = sodium_base64_ENCODED_LEN(whole, sodium_base64_VARIANT_ORIGINAL);
	unsigned char *bytes = arena_alloc(arena, before + secret.len);
	char *text = arena_alloc(arena, size);

	if (bytes == NULL || text == NULL)
		return -ENOMEM;
	memcpy(bytes + before, secret.bytes, secret.len);
	if (whole == 0)
		return 0;
	sodium_bin2base64(text, size, bytes, whole, variant);
	return add(mask, (struct str){text + skipped[before], strlen(text) - skipped[before]});
}

static int add_secret(struct secret_mask *mask, struct arena *arena, struct str secret)
{
	int r = add(mask, secret);

	if (r == 0)
		r = add_json(mask, arena, secret);
	if (r == 0)
		r = add_percent(mask, arena, secret, "0123456789ABCDEF");
	if (r == 0)
		r = add_percent(mask, arena, secret, "0123456789abcdef");
	for (size_t before = 0; r == 0 && before < 3; before++)
		r = add_base64(mask, arena, secret, before, sodium_base64_VARIANT_ORIGINAL);
	for (size_t before = 0; r == 0 && before < 3; before++)
		r = add_base64(mask, arena, secret, before, sodium_base64_VARIANT_URLSAFE);
	return r;
}

static int longer_first(const void *a, const void *b)
{
	const struct str *first = a;
	const struct str *second = b;

	return first->len == second->len ? 0 : first->len > second->len ? -1 : 1;
}

int secret_mask_init(struct secret_mask *mask, struct arena *arena, const struct spec *spec)
{
	int r = 0;

	*mask = (struct secret_mask){.size = spec->value_count * 2 * (FORMS_EACH + 2)};
	mask->forms = ARENA_ARRAY(arena, mask->size, struct str);
	if (mask->forms == NULL)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < spec->value_count; i++) {
		struct str value = spec->values[i].value;
		const char *blank = value.bytes != NULL ? memchr(value.bytes, ' ', value.len) : NULL;

		if (value.len < SPEC_SECRET_LEAST)
			continue;
		r = add_secret(mask, arena, value);
		/* "Bearer abc": the scheme is no secret, what follows is one by itself. */
		if (r == 0 && blank != NULL && value.len - (size_t)(blank + 1 - value.bytes) >= SPEC_SECRET_LEAST)
			r = add_secret(
				mask, arena, (struct str){blank + 1, value.len - (size_t)(blank + 1 - value.bytes)});
	}
	qsort(mask->forms, mask->count, sizeof(*mask->forms), longer_first);
	return r;
}

static size_t match_at(const struct secret_mask *mask, struct str text, size_t at)
{
	for (size_t i = 0; i < mask->count; i++) {
		struct str form = mask->forms[i];

		if (form.len <= text.len - at && memcmp(text.bytes + at, form.bytes, form.len) == 0)
			return form.len;
	}
	return 0;
}

int secret_mask_apply(const struct secret_mask *mask, struct arena *arena, struct str text, struct str *ret)
{
	struct buf buf;
	size_t at = 0;
	int r = 0;

	*ret = (struct str){0};
	if (text.bytes == NULL)
		return 0;
	buf_init(&buf, TEXT_CEILING);
	while (at < text.len) {
		size_t len = match_at(mask, text, at);

		if (len > 0)
			buf_puts(&buf, REDACT_MASK);
		else
			buf_putc(&buf, text.bytes[at]);
		at += len > 0 ? len : 1;
	}
	r = buf_error(&buf);
	if (r == 0)
		*ret = arena_str(arena, buf_str(&buf));
	buf_release(&buf);
	return r == 0 && ret->bytes == NULL ? -ENOMEM : r;
}
