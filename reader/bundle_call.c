/* What the four tools share. */
#include "reader/bundle_call.h"

#include <stdio.h>
#include <string.h>

#include "policy/cleanup.h"
#include "reader/name.h"

int bundle_refuse(struct bundle_call *call, int result, const char *what, struct str id)
{
	struct buf message CLEANUP(buf_release) = {0};

	buf_init(&message, 64 * 1024);
	if (id.bytes != NULL) {
		buf_puts(&message, what);
		buf_putc(&message, ' ');
		name_show(&message, (struct str){id.bytes, id.len < 300 ? id.len : 300});
		buf_putc(&message, ' ');
	}
	buf_puts(&message, bundle_result_text(result));
	if (buf_error(&message) != 0)
		return buf_error(&message);
	return tools_refuse(call->refusal, bundle_result_word(result), buf_str(&message).bytes);
}

int bundle_refuse_argument(struct bundle_call *call, const char *text)
{
	return tools_refuse(call->refusal, bundle_result_word(BUNDLE_ARGUMENT_INVALID), text);
}

struct str bundle_argument(const struct bundle_call *call, const char *name)
{
	const json_t *value = json_object_get(call->arguments, name);

	return json_is_string(value) ? (struct str){json_string_value(value), json_string_length(value)}
				     : (struct str){0};
}

int bundle_call_range(struct bundle_call *call, const struct bundle_found **ret_first, size_t *ret_count)
{
	struct str id = bundle_argument(call, "bundle_id");
	int result;

	*ret_first = call->finds.items;
	*ret_count = call->finds.count;
	if (id.bytes == NULL)
		return 0;
	*ret_count = 1;
	result = bundle_find_one(&call->finds, id, ret_first);
	return result == 0 ? 0 : bundle_refuse(call, result, "bundle", id);
}

int bundle_call_open(struct bundle_call *call, const struct bundle_found *found, struct bundle *ret)
{
	size_t limit = call->service->concept_bytes;

	return bundle_open(found->root, found->path, limit == 0 ? BUNDLE_CONCEPT_BYTES : limit, &call->budget, ret);
}

void bundle_write_name(struct json_out *out, const char *key, struct str name)
{
	struct buf shown CLEANUP(buf_release) = {0};

	buf_init(&shown, SIZE_MAX / 4);
	name_show(&shown, name);
	if (buf_error(&shown) != 0)
		buf_fail(out->buf, buf_error(&shown));
	json_out_member_str(out, key, buf_str(&shown));
}

void bundle_write_bundle_fault(struct json_out *out, struct str id, int result)
{
	json_out_begin_object(out);
	json_out_member_str(out, "bundle_id", id);
	json_out_member_text(out, "code", bundle_result_word(result));
	json_out_end_object(out);
}

void bundle_cut_by(struct bundle_cut *cut, const struct bundle *bundle)
{
	cut->entries |= bundle->reached_entries;
	cut->depth |= bundle->reached_depth;
	cut->bytes |= bundle->budget->reached_bytes;
}

void bundle_write_bounds(struct json_out *out, const struct bundle_finds *finds, const struct bundle_cut *cut)
{
	const struct {
		const char *name;
		bool fired;
	} bounds[] = {
		{"max-depth", finds != NULL && finds->reached_depth},
		{"max-entries", finds != NULL && finds->reached_entries},
		{"max-bundles", finds != NULL && finds->reached_limit},
		{"max-bundle-depth", cut->depth},
		{"max-bundle-entries", cut->entries},
		{"max-total-bytes", cut->bytes},
	};
	size_t i;

	json_out_key(out, "bounds");
	json_out_begin_array(out);
	for (i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
		if (bounds[i].fired)
			json_out_text(out, bounds[i].name);
	json_out_end_array(out);
}

struct str bundle_title(const struct bundle *bundle, const struct bundle_found *found)
{
	return bundle->title.len > 0 ? bundle->title : found->names[0];
}

bool bundle_is_deprecated(const struct front_matter *head)
{
	return str_is(head->status, "deprecated");
}

/* "2026-12-31", whatever follows. */
static bool is_date(struct str text)
{
	size_t i;

	for (i = 0; i < 10; i++) {
		if (i >= text.len)
			return false;
		if (i == 4 || i == 7 ? text.bytes[i] != '-' : text.bytes[i] < '0' || text.bytes[i] > '9')
			return false;
	}
	return true;
}

bool bundle_is_stale(const struct bundle_call *call, const struct front_matter *head)
{
	return is_date(head->stale_after) && memcmp(head->stale_after.bytes, call->today, 10) <= 0;
}

const char *bundle_trust(const struct front_matter *head)
{
	if (head->is_human_verified)
		return "human-reviewed";
	return head->verified_count > 0 ? "machine-confirmed" : "unverified";
}
