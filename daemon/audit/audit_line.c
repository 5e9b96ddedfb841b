#include "config.h"

#include "daemon/audit/audit_line.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "daemon/lifecycle/time_text.h"
#include "policy/cleanup.h"
#include "policy/json_parse.h"

enum { MARK_CEILING = 4096 };

static const char domain[] = "admitd/checkpoint/1\n";

static void member_hex(struct json_out *out, const char *key, const unsigned char *bytes, size_t len)
{
	char hex[2 * STORE_SIGNATURE_BYTES + 1];

	(void)sodium_bin2hex(hex, sizeof(hex), bytes, len);
	json_out_member_text(out, key, hex);
}

/* Not time_text_member: a time of 0 is a time here. */
static void member_time(struct json_out *out, int64_t at)
{
	char text[TIME_TEXT_SIZE];

	time_text_write(at, text);
	json_out_member_text(out, "at", text);
}

void audit_line_event(struct json_out *out, const struct store_event *event)
{
	json_out_member_int(out, "sequence", event->sequence);
	json_out_member_str(out, "type", event->type);
	json_out_key(out, "subject");
	json_out_begin_object(out);
	json_out_member_str(out, "kind", event->subject_kind);
	json_out_member_str(out, "id", event->subject_id);
	json_out_end_object(out);
	json_out_member_str(out, "project", event->project);
	json_out_member_str(out, "task", event->task);
	json_out_member_str(out, "package", event->package);
	json_out_key(out, "actor");
	json_out_begin_object(out);
	json_out_member_str(out, "token", event->actor.token);
	json_out_member_str(out, "principal", event->actor.principal);
	json_out_end_object(out);
	member_time(out, event->at);
	json_out_member_str(out, "surface", store_surface_text(event->surface));
	json_out_member_str(out, "decisionId", event->decision);
	if (event->has_record)
		member_hex(out, "record", event->record, sizeof(event->record));
	else
		json_out_member_null(out, "record");
	member_hex(out, "hash", event->hash, sizeof(event->hash));
	json_out_member_raw(out, "payload", event->payload_json);
}

/* What is signed: canonical, its members in byte order. */
static void write_mark(struct json_out *out, struct str store_id, const struct store_checkpoint *row)
{
	json_out_begin_object(out);
	member_time(out, row->at);
	json_out_member_int(out, "epoch", row->epoch);
	member_hex(out, "hash", row->hash, sizeof(row->hash));
	json_out_member_str(out, "keyId", row->key_id);
	json_out_member_int(out, "number", row->number);
	json_out_member_int(out, "sequence", row->sequence);
	json_out_member_str(out, "storeId", store_id);
	json_out_end_object(out);
}

void audit_line_checkpoint(struct json_out *out, struct str store_id, const struct store_checkpoint *row)
{
	json_out_begin_object(out);
	json_out_key(out, "checkpoint");
	write_mark(out, store_id, row);
	if (row->key_id.bytes != NULL)
		member_hex(out, "signature", row->signature, sizeof(row->signature));
	else
		json_out_member_null(out, "signature");
	json_out_end_object(out);
}

void audit_line_start(struct json_out *out, struct str store_id, const struct store_chain *chain)
{
	json_out_begin_object(out);
	json_out_key(out, "log");
	json_out_begin_object(out);
	json_out_member_str(out, "storeId", store_id);
	json_out_member_int(out, "after", chain->sequence);
	if (chain->sequence != 0)
		member_hex(out, "hash", chain->hash, sizeof(chain->hash));
	else
		json_out_member_null(out, "hash");
	json_out_end_object(out);
	json_out_end_object(out);
}

/* ---- signatures */

static int signed_text(struct buf *buf, struct str store_id, const struct store_checkpoint *row)
{
	struct json_out out;

	buf_init(buf, MARK_CEILING);
	buf_puts(buf, domain);
	json_out_init(&out, buf);
	write_mark(&out, store_id, row);
	return buf_error(buf);
}

int audit_line_sign(struct store_checkpoint *row, struct str store_id, const struct audit_key *key)
{
	CLEANUP(buf_release) struct buf buf = {0};
	int r = 0;

	row->key_id = (struct str){key->id, sizeof(key->id) - 1};
	r = signed_text(&buf, store_id, row);
	if (r == 0)
		(void)crypto_sign_detached(
			row->signature, NULL, (const unsigned char *)buf.bytes, buf.len, key->secret);
	return r;
}

enum audit_signature audit_line_signature(
	const struct store_checkpoint *row, struct str store_id, const struct audit_trust *trust)
{
	CLEANUP(buf_release) struct buf buf = {0};
	const struct audit_key *key = NULL;

	if (row->key_id.bytes == NULL)
		return AUDIT_SIGNATURE_NONE;
	key = audit_trust_find(trust, row->key_id);
	if (key == NULL)
		return AUDIT_SIGNATURE_FOREIGN;
	if (signed_text(&buf, store_id, row) != 0)
		return AUDIT_SIGNATURE_BAD;
	return crypto_sign_verify_detached(row->signature, (const unsigned char *)buf.bytes, buf.len, key->public) == 0
		? AUDIT_SIGNATURE_GOOD
		: AUDIT_SIGNATURE_BAD;
}

/* ---- reading */

struct reading {
	struct arena *arena;
	bool is_bad;
};

static const json_t *member(struct reading *reading, const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	reading->is_bad |= value == NULL;
	return value;
}

static struct str read_str(struct reading *reading, const json_t *object, const char *key)
{
	const json_t *value = member(reading, object, key);

	if (value == NULL || json_is_null(value))
		return (struct str){0};
	reading->is_bad |= !json_is_string(value);
	return json_is_string(value)
		? arena_str(reading->arena, (struct str){json_string_value(value), json_string_length(value)})
		: (struct str){0};
}

static int64_t read_int(struct reading *reading, const json_t *object, const char *key)
{
	const json_t *value = member(reading, object, key);

	reading->is_bad |= !json_is_integer(value);
	return json_integer_value(value);
}

static int64_t read_time(struct reading *reading, const json_t *object)
{
	const json_t *value = member(reading, object, "at");
	int64_t at = 0;

	reading->is_bad |= !json_is_string(value) ||
		!time_text_read((struct str){json_string_value(value), json_string_length(value)}, &at);
	return at;
}

/* False: null. */
static bool read_hex(
	struct reading *reading, const json_t *object, const char *key, unsigned char *ret_bytes, size_t len)
{
	const json_t *value = member(reading, object, key);
	size_t got = 0;

	if (json_is_null(value))
		return false;
	if (!json_is_string(value) || json_string_length(value) != 2 * len ||
		sodium_hex2bin(ret_bytes, len, json_string_value(value), 2 * len, NULL, &got, NULL) != 0 || got != len)
		reading->is_bad = true;
	return true;
}

static enum store_surface read_surface(struct reading *reading, const json_t *object)
{
	struct str text = read_str(reading, object, "surface");

	for (unsigned i = 0; i < STORE_SURFACE_COUNT; i++)
		if (str_equal(text, store_surface_text((enum store_surface)i)))
			return (enum store_surface)i;
	reading->is_bad = true;
	return STORE_SURFACE_NONE;
}

/* The very text: no string before it can hold an unescaped quote, so its key is found as it stands. */
static struct str payload_of(struct reading *reading, struct str text)
{
	static const char key[] = ",\"payload\":";
	const char *at = memmem(text.bytes, text.len, key, sizeof(key) - 1);
	size_t start = at != NULL ? (size_t)(at - text.bytes) + sizeof(key) - 1 : text.len;

	if (start + 1 >= text.len || text.bytes[text.len - 1] != '}') {
		reading->is_bad = true;
		return (struct str){0};
	}
	return arena_str(reading->arena, (struct str){text.bytes + start, text.len - 1 - start});
}

static void read_event(struct reading *reading, const json_t *object, struct str text, struct store_event *ret)
{
	const json_t *subject = member(reading, object, "subject");
	const json_t *actor = member(reading, object, "actor");

	ret->sequence = read_int(reading, object, "sequence");
	ret->type = read_str(reading, object, "type");
	ret->subject_kind = read_str(reading, subject, "kind");
	ret->subject_id = read_str(reading, subject, "id");
	ret->project = read_str(reading, object, "project");
	ret->task = read_str(reading, object, "task");
	ret->package = read_str(reading, object, "package");
	ret->actor.token = read_str(reading, actor, "token");
	ret->actor.principal = read_str(reading, actor, "principal");
	ret->at = read_time(reading, object);
	ret->surface = read_surface(reading, object);
	ret->decision = read_str(reading, object, "decisionId");
	ret->has_record = read_hex(reading, object, "record", ret->record, sizeof(ret->record));
	reading->is_bad |= !read_hex(reading, object, "hash", ret->hash, sizeof(ret->hash));
	ret->payload_json = payload_of(reading, text);
}

static void read_checkpoint(struct reading *reading, const json_t *line, struct audit_line *ret)
{
	const json_t *object = member(reading, line, "checkpoint");
	struct store_checkpoint *row = &ret->checkpoint;
	bool is_signed = false;

	row->at = read_time(reading, object);
	row->epoch = read_int(reading, object, "epoch");
	reading->is_bad |= !read_hex(reading, object, "hash", row->hash, sizeof(row->hash));
	row->key_id = read_str(reading, object, "keyId");
	row->number = read_int(reading, object, "number");
	row->sequence = read_int(reading, object, "sequence");
	ret->store_id = read_str(reading, object, "storeId");
	is_signed = read_hex(reading, line, "signature", row->signature, sizeof(row->signature));
	reading->is_bad |= is_signed != (row->key_id.bytes != NULL);
}

static void read_start(struct reading *reading, const json_t *line, struct audit_line *ret)
{
	const json_t *object = member(reading, line, "log");

	ret->store_id = read_str(reading, object, "storeId");
	ret->chain.sequence = read_int(reading, object, "after");
	if (read_hex(reading, object, "hash", ret->chain.hash, sizeof(ret->chain.hash)) != (ret->chain.sequence != 0))
		reading->is_bad = true;
}

int audit_line_read(struct str text, struct arena *arena, struct audit_line *ret)
{
	CLEANUP(json_drop) json_t *line = NULL;
	struct reading reading = {.arena = arena};
	int r = json_parse(text, &line, NULL);

	*ret = (struct audit_line){0};
	if (r < 0)
		return r;
	if (r != 0 || !json_is_object(line))
		return 0;
	if (json_object_get(line, "checkpoint") != NULL) {
		ret->kind = AUDIT_LINE_CHECKPOINT;
		read_checkpoint(&reading, line, ret);
	} else if (json_object_get(line, "log") != NULL) {
		ret->kind = AUDIT_LINE_START;
		read_start(&reading, line, ret);
	} else if (json_object_get(line, "result") != NULL) {
		ret->kind = AUDIT_LINE_END;
		ret->chain.sequence = read_int(&reading, json_object_get(line, "result"), "lastSequence");
	} else {
		ret->kind = AUDIT_LINE_EVENT;
		read_event(&reading, line, text, &ret->event);
	}
	if (arena->failed)
		return -ENOMEM;
	if (reading.is_bad)
		ret->kind = AUDIT_LINE_BAD;
	return 0;
}
