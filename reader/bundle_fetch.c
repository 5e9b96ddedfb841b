/* okf_fetch: the exact text of one concept. */
#include <sodium.h>

#include "policy/cleanup.h"
#include "reader/bundle_call.h"
#include "reader/name.h"

static void write_text(struct bundle_call *call, const struct bundle_found *found, struct str id, struct str text)
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	char hex[2 * sizeof(hash) + 1];

	(void)crypto_hash_sha256(hash, (const unsigned char *)text.bytes, text.len);
	(void)sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));
	json_out_begin_object(&call->out);
	json_out_member_str(&call->out, "bundle_id", found->id);
	bundle_write_name(&call->out, "concept_id", id);
	json_out_member_int(&call->out, "bytes", (int64_t)text.len);
	json_out_member_text(&call->out, "sha256", hex);
	json_out_member_str(&call->out, "text", text);
	json_out_end_object(&call->out);
}

/* In bundle mode there is but one; in root mode its id must be given, also if there happens to be one. */
static int find(struct bundle_call *call, const struct bundle_found **ret)
{
	size_t count;

	if (!call->service->place.is_bundle && bundle_argument(call, "bundle_id").bytes == NULL)
		return bundle_refuse(call, BUNDLE_REQUIRED, NULL, (struct str){0});
	return bundle_call_range(call, ret, &count);
}

int bundle_run_fetch(struct bundle_call *call)
{
	struct bundle bundle CLEANUP(bundle_release) = {0};
	struct buf text CLEANUP(buf_release) = {0};
	const struct bundle_found *found;
	struct str asked = bundle_argument(call, "concept_id"), id;
	int result = find(call, &found);

	buf_init(&text, BUNDLE_CONCEPT_BYTES_LIMIT + 1);
	if (result != 0)
		return result;
	result = bundle_call_open(call, found, &bundle);
	if (result > 0)
		return bundle_refuse(call, result, "bundle", found->id);
	if (result == 0)
		result = name_read(&bundle.arena, asked, &id);
	if (result == 0)
		result = bundle_concept_read(&bundle, id, &text);
	if (result > 0)
		return bundle_refuse(call, result == BUNDLE_CUT ? BUNDLE_CONCEPT_UNREADABLE : result, "concept", id);
	if (result == 0)
		write_text(call, found, id, buf_str(&text));
	return result;
}
