#include "daemon/http/token_issue.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "daemon/http/render.h"
#include "daemon/lifecycle/time_text.h"
#include "daemon/store/event.h"
#include "policy/cleanup.h"

enum { PAYLOAD_CEILING = 256 * 1024, PAGE = 100 };

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

void token_issue_secret(char ret_secret[static TOKEN_SECRET_SIZE])
{
	unsigned char bytes[TOKEN_SECRET_BYTES];

	randombytes_buf(bytes, sizeof(bytes));
	memcpy(ret_secret, "adt_", 4);
	(void)sodium_bin2hex(ret_secret + 4, TOKEN_SECRET_SIZE - 4, bytes, sizeof(bytes));
	sodium_memzero(bytes, sizeof(bytes));
}

static int tell(struct store_tx *tx, const char *type, const struct store_token *row, const struct store_actor *actor,
	int64_t at)
{
	CLEANUP(buf_drop) struct buf payload = {0};
	struct store_event event = {.type = {type, strlen(type)},
		.subject_kind = STR("token"),
		.subject_id = row->id,
		.actor = *actor,
		.at = at};
	struct json_out out;

	buf_init(&payload, PAYLOAD_CEILING);
	json_out_init(&out, &payload);
	json_out_begin_object(&out);
	time_text_member(&out, "expiresAt", row->expires_at);
	json_out_member_str(&out, "principal", row->principal);
	render_json("projects", row->projects_json, &out);
	render_roles("roles", row->roles, &out);
	json_out_end_object(&out);
	if (buf_error(&payload) != 0)
		return buf_error(&payload);
	event.payload_json = buf_str(&payload);
	return store_event_append(tx, &event);
}

int token_issue(struct store_tx *tx, struct store_token *row, const char *secret)
{
	unsigned char hash[AUTH_HASH_SIZE];
	char hex[2 * AUTH_HASH_SIZE + 1];
	int r = 0;

	auth_hash((struct str){secret, strlen(secret)}, hash);
	(void)sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));
	row->id = store_id_new(store_tx_arena(tx), "tok_");
	row->hash = arena_str(store_tx_arena(tx), (struct str){hex, sizeof(hex) - 1});
	if (row->id.bytes == NULL || row->hash.bytes == NULL)
		return -ENOMEM;
	r = store_token_insert(tx, row);
	return r != 0 ? r : tell(tx, "token.issued", row, &row->made_by, row->created_at);
}

int token_issue_revoke(struct store_tx *tx, struct str id, const struct store_actor *actor, int64_t at)
{
	struct store_token row = {0};
	int r = store_token_find(tx, id, &row);

	if (r != 0 || row.revoked_at != 0)
		return r;
	r = store_token_revoke(tx, id, at);
	return r != 0 ? r : tell(tx, "token.revoked", &row, actor, at);
}

int token_issue_is_first(struct store_tx *tx, bool *ret)
{
	struct store_token_list list = {0};
	int r = store_token_list(tx, 0, 1, &list);

	*ret = r == 0 && list.count == 0;
	return r;
}

int token_issue_revoke_own(struct store_tx *tx, int64_t at)
{
	const struct store_actor nobody = {0};
	struct store_token_list list = {0};
	int64_t before = 0;
	int r = 0;

	do {
		r = store_token_list(tx, before, PAGE, &list);
		for (size_t i = 0; r == 0 && i < list.count; i++) {
			before = list.items[i].sequence;
			if (list.items[i].made_by.token.bytes == NULL && list.items[i].made_by.principal.bytes == NULL)
				r = token_issue_revoke(tx, list.items[i].id, &nobody, at);
		}
	} while (r == 0 && list.count == PAGE);
	return r;
}
