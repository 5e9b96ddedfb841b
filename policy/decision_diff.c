#include <string.h>

#include "policy/decision_id.h"

/* Names of the members at which the two records may differ, in the order they are told. */
static const char *const scalar_inputs[] = {"catalogDigest", "contractVersion", "engineRevision", "packageDigest"};
static const char *const map_inputs[] = {"grants", "health"};

static void write_value(struct json_out *out, const char *key, const json_t *value)
{
	json_out_key(out, key);
	if (value)
		json_out_canonical(out, value);
	else
		json_out_null(out);
}

/* JSON pointer tokens: "~" and "/" are escaped (RFC 6901). */
static void add_token(struct buf *path, const char *token)
{
	buf_putc(path, '/');
	for (; *token; token++) {
		if (*token == '~')
			buf_puts(path, "~0");
		else if (*token == '/')
			buf_puts(path, "~1");
		else
			buf_putc(path, *token);
	}
}

static void begin_change(struct json_out *out, const char *first, const char *second, const char *third)
{
	struct buf path;

	buf_init(&path, 4096);
	add_token(&path, first);
	if (second)
		add_token(&path, second);
	if (third)
		add_token(&path, third);
	json_out_begin_object(out);
	json_out_member_str(out, "path", buf_str(&path));
	if (buf_error(&path))
		buf_fail(out->buf, buf_error(&path));
	buf_release(&path);
}

static void write_change(struct json_out *out, const char *first, const char *second, const char *third,
	const json_t *before, const json_t *after)
{
	begin_change(out, first, second, third);
	write_value(out, "before", before);
	write_value(out, "after", after);
	json_out_end_object(out);
}

/* What a grant comes to, for people: a record that isn't there has no source and no record to name. */
static void write_grant_summary(struct json_out *out, const char *key, const json_t *grant)
{
	static const char *const members[] = {"phase", "source", "grantMode", "revocationReason", "grantApprovalId"};

	json_out_key(out, key);
	if (!grant) {
		json_out_null(out);
		return;
	}
	json_out_begin_object(out);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		const json_t *value = json_object_get(grant, members[i]);
		bool is_none = value && json_is_string(value) && strcmp(json_string_value(value), "none") == 0;

		if (value && (!is_none || strcmp(members[i], "phase") == 0)) {
			json_out_key(out, members[i]);
			json_out_canonical(out, value);
		}
	}
	json_out_end_object(out);
}

static bool same(const json_t *a, const json_t *b, const char *member)
{
	const json_t *left = json_object_get(a, member);
	const json_t *right = json_object_get(b, member);

	return left == right || (left && right && json_equal(left, right));
}

/* `consumed` that wasn't said is false: a one-time approval that nobody used. */
static const json_t *consumed_of(const json_t *grant, const json_t *fallback)
{
	const json_t *value = json_object_get(grant, "consumed");

	return value ? value : fallback;
}

static void diff_grant(struct json_out *out, const char *key, const json_t *before, const json_t *after)
{
	const json_t *no = json_false(); /* a static of jansson, never freed */

	if (!before || !after || !same(before, after, "phase") || !same(before, after, "grantApprovalId") ||
		!same(before, after, "source") || !same(before, after, "grantMode") ||
		!same(before, after, "revocationReason")) {
		begin_change(out, "grants", key, NULL);
		write_grant_summary(out, "before", before);
		write_grant_summary(out, "after", after);
		json_out_end_object(out);
		return;
	}
	if (!json_equal(consumed_of(before, no), consumed_of(after, no)))
		write_change(out, "grants", key, "consumed", consumed_of(before, no), consumed_of(after, no));
	if (!same(before, after, "coveredCapabilities"))
		write_change(out, "grants", key, "coveredCapabilities", json_object_get(before, "coveredCapabilities"),
			json_object_get(after, "coveredCapabilities"));
}

static void diff_health(struct json_out *out, const char *key, const json_t *before, const json_t *after)
{
	static const char *const members[] = {"observed", "installState", "status", "enabled"};

	if (!before || !after) {
		write_change(out, "health", key, NULL, before, after);
		return;
	}
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (!same(before, after, members[i]))
			write_change(out, "health", key, members[i], json_object_get(before, members[i]),
				json_object_get(after, members[i]));
	}
}

static void diff_member(
	struct json_out *out, const char *input, const char *key, const json_t *before, const json_t *after)
{
	if (before && after && json_equal(before, after))
		return;
	if (strcmp(input, "grants") == 0)
		diff_grant(out, key, before, after);
	else
		diff_health(out, key, before, after);
}

static void diff_map(struct json_out *out, const char *input, json_t *before, json_t *after)
{
	const char *key;
	json_t *value;

	json_object_foreach(before, key, value) diff_member(out, input, key, value, json_object_get(after, key));
	json_object_foreach(after, key, value)
	{
		if (!json_object_get(before, key))
			diff_member(out, input, key, NULL, value);
	}
}

void decision_inputs_diff(const json_t *before, const json_t *after, struct json_out *out)
{
	json_out_begin_array(out);
	for (size_t i = 0; i < sizeof(scalar_inputs) / sizeof(scalar_inputs[0]); i++) {
		if (!same(before, after, scalar_inputs[i]))
			write_change(out, scalar_inputs[i], NULL, NULL, json_object_get(before, scalar_inputs[i]),
				json_object_get(after, scalar_inputs[i]));
	}
	for (size_t i = 0; i < sizeof(map_inputs) / sizeof(map_inputs[0]); i++)
		diff_map(out, map_inputs[i], json_object_get(before, map_inputs[i]),
			json_object_get(after, map_inputs[i]));
	if (!same(before, after, "prompt"))
		write_change(
			out, "prompt", NULL, NULL, json_object_get(before, "prompt"), json_object_get(after, "prompt"));
	json_out_end_array(out);
}
