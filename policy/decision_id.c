#include "policy/decision_id.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

void digest_text(struct str bytes, char ret_text[static DIGEST_TEXT_SIZE])
{
	unsigned char hash[crypto_hash_sha256_BYTES];

	(void)crypto_hash_sha256(hash, (const unsigned char *)bytes.bytes, bytes.len);
	memcpy(ret_text, "sha256:", 7);
	(void)sodium_bin2hex(ret_text + 7, DIGEST_TEXT_SIZE - 7, hash, sizeof(hash));
}

static void write_health(const struct health_row *row, struct json_out *out)
{
	json_out_key_str(out, row->mcp_id);
	json_out_begin_object(out);
	json_out_member_bool(out, "enabled", row->enabled);
	json_out_member_text(out, "installState", health_install_state_name(row->install_state));
	json_out_member_bool(out, "observed", row->observed);
	json_out_member_text(out, "status", health_status_name(row->status));
	json_out_end_object(out);
}

/* Members in byte-wise order: each round writes the next larger MCP. There are few. Only what was looked up is an input: rows that
 * are malformed or left over looked nothing up.
 */
static void write_all_health(const struct admission *admission, struct json_out *out)
{
	struct str last = {0};

	json_out_begin_object(out);
	for (;;) {
		const struct health_row *next = NULL;

		for (size_t i = 0; i < admission->evaluation_count; i++) {
			const struct evaluation *evaluation = &admission->evaluations[i];
			const struct health_row *row = &evaluation->health;

			if (!evaluation->requirement->looks_up || (last.bytes && str_compare(row->mcp_id, last) <= 0))
				continue;
			if (!next || str_compare(row->mcp_id, next->mcp_id) < 0)
				next = row;
		}
		if (!next)
			break;
		write_health(next, out);
		last = next->mcp_id;
	}
	json_out_end_object(out);
}

/* A grant is an input of every requirement that can be decided: an incoherent one blocks it even where none is needed. The
 * state "none" of a requirement that needs none says nothing and is left out.
 */
static bool grant_counts(const struct evaluation *evaluation)
{
	const struct grant_state *grant = &evaluation->grant;

	if (evaluation->requirement->fault != REQUIREMENT_SOUND &&
		evaluation->requirement->fault != REQUIREMENT_TOO_MANY_CAPABILITIES)
		return false;
	return grant->is_incoherent || grant->phase != GRANT_PHASE_NONE ||
		requirement_needs_grant(evaluation->requirement);
}

/* 1.7's made-up name of a keyless policy can be another one's key. Such a pair is told apart by a suffix that no key has, since
 * keys are without white space.
 */
static void write_second_key(struct str key, struct json_out *out)
{
	struct buf name;

	buf_init(&name, 4096);
	buf_add_str(&name, key);
	buf_puts(&name, " #2");
	json_out_key_str(out, buf_str(&name));
	if (buf_error(&name))
		buf_fail(out->buf, buf_error(&name));
	buf_release(&name);
}

static void write_all_grants(const struct admission *admission, struct json_out *out)
{
	struct str last = {0};

	json_out_begin_object(out);
	for (size_t i = 0; i < admission->evaluation_count; i++) {
		const struct evaluation *evaluation = &admission->evaluations[i];

		if (!grant_counts(evaluation))
			continue;
		if (str_equal(last, evaluation->requirement->key))
			write_second_key(last, out);
		else
			json_out_key_str(out, evaluation->requirement->key);
		last = evaluation->requirement->key;
		grant_state_write(&evaluation->grant, out);
	}
	json_out_end_object(out);
}

void decision_inputs_write(const struct admission *admission, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_member_str(out, "catalogDigest", admission->package->catalog->digest);
	json_out_member_int(out, "contractVersion", ADMISSION_SCHEMA_VERSION);
	json_out_member_int(out, "engineRevision", ADMISSION_ENGINE_REVISION);
	json_out_key(out, "grants");
	write_all_grants(admission, out);
	json_out_key(out, "health");
	write_all_health(admission, out);
	json_out_member_str(out, "packageDigest", admission->package->digest);
	json_out_key(out, "prompt");
	json_out_begin_array(out);
	for (size_t i = 0; i < admission->evaluation_count; i++) {
		if (admission->evaluations[i].materialised)
			json_out_str(out, admission->evaluations[i].requirement->key);
	}
	json_out_end_array(out);
	json_out_end_object(out);
}
