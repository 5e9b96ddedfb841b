#include "daemon/store/audit.h"

#include <errno.h>
#include <string.h>

#include "daemon/store/record.h"
#include "daemon/store/sql.h"

/* ---- checkpoints */

#define CHECKPOINT "SELECT number, epoch, sequence, hash, at, key_id, signature FROM audit_checkpoints"

static void read_checkpoint(struct sql *query, void *row)
{
	struct store_checkpoint *checkpoint = row;

	*checkpoint = (struct store_checkpoint){0};
	checkpoint->number = sql_int(query);
	checkpoint->epoch = sql_int(query);
	checkpoint->sequence = sql_int(query);
	sql_blob(query, checkpoint->hash, sizeof(checkpoint->hash));
	checkpoint->at = sql_int(query);
	checkpoint->key_id = sql_str(query);
	(void)sql_blob_if(query, checkpoint->signature, sizeof(checkpoint->signature));
}

static void read_int(struct sql *query, void *row)
{
	*(int64_t *)row = sql_int(query);
}

static int scalar(struct store_tx *tx, const char *text, int64_t *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, text);

	return sql_one(&query, read_int, ret);
}

static int current_epoch(struct store_tx *tx, int64_t *ret_epoch)
{
	return scalar(tx, "SELECT coalesce(max(epoch), 1) FROM epochs", ret_epoch);
}

int store_checkpoint_last(struct store_tx *tx, struct store_checkpoint *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, CHECKPOINT " ORDER BY number DESC LIMIT 1");

	return sql_one(&query, read_checkpoint, ret);
}

int store_checkpoint_draft(struct store_tx *tx, struct store_checkpoint *ret)
{
	struct store_checkpoint last = {0};
	int64_t epoch = 0;
	int r = store_checkpoint_last(tx, &last);

	CHECK(tx->can_write);
	if (r == STORE_ABSENT)
		r = 0;
	if (r == 0)
		r = current_epoch(tx, &epoch);
	if (r)
		return r;
	if (tx->head->sequence == last.sequence)
		return STORE_ABSENT;
	*ret = (struct store_checkpoint){.number = last.number + 1, .epoch = epoch, .sequence = tx->head->sequence};
	memcpy(ret->hash, tx->head->hash, sizeof(ret->hash));
	return 0;
}

int store_checkpoint_append(struct store_tx *tx, const struct store_checkpoint *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"INSERT INTO audit_checkpoints (number, epoch, sequence, hash, at, key_id, signature) VALUES (?, ?, ?, "
		"?, ?, ?, ?)");

	sql_bind_int(&query, row->number);
	sql_bind_int(&query, row->epoch);
	sql_bind_int(&query, row->sequence);
	sql_bind_blob(&query, row->hash, sizeof(row->hash));
	sql_bind_int(&query, row->at);
	sql_bind_str(&query, row->key_id);
	sql_bind_blob_if(&query, row->key_id.bytes != NULL, row->signature, sizeof(row->signature));
	return sql_run(&query);
}

int store_checkpoint_list(struct store_tx *tx, int64_t number, size_t limit, struct store_checkpoint_list *ret)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, CHECKPOINT " WHERE number > ? ORDER BY number LIMIT ?");
	struct sql_rows rows;
	int r;

	sql_bind_int(&query, number);
	sql_bind_int(&query, sql_limit(limit));
	r = sql_all(&query, read_checkpoint, sizeof(*ret->items), &rows);
	if (r == 0)
		*ret = (struct store_checkpoint_list){rows.items, rows.count};
	return r;
}

/* ---- epochs */

static void read_epoch(struct sql *query, void *row)
{
	struct store_epoch *epoch = row;

	*epoch = (struct store_epoch){0};
	epoch->epoch = sql_int(query);
	epoch->from.sequence = sql_int(query);
	sql_blob(query, epoch->from.hash, sizeof(epoch->from.hash));
	epoch->replaced.sequence = sql_int(query);
	sql_blob(query, epoch->replaced.hash, sizeof(epoch->replaced.hash));
	epoch->at = sql_int(query);
}

int store_epoch_open(struct store_tx *tx, struct store_epoch *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"INSERT INTO epochs (epoch, from_sequence, from_hash, replaced_sequence, replaced_hash, at) VALUES (?, "
		"?, ?, ?, ?, ?)");
	int r = current_epoch(tx, &row->epoch);

	if (r)
		return r;
	row->epoch++;
	row->from = *tx->head;
	sql_bind_int(&query, row->epoch);
	sql_bind_int(&query, row->from.sequence);
	sql_bind_blob(&query, row->from.hash, sizeof(row->from.hash));
	sql_bind_int(&query, row->replaced.sequence);
	sql_bind_blob(&query, row->replaced.hash, sizeof(row->replaced.hash));
	sql_bind_int(&query, row->at);
	return sql_run(&query);
}

static int run_text(struct store_tx *tx, const char *text)
{
	CLEANUP(sql_end) struct sql query = sql_begin_write(tx, text);

	return sql_run(&query);
}

int store_epoch_disarm(struct store_tx *tx, int64_t at, int64_t *ret_tokens)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx, "UPDATE tokens SET revoked_at = ? WHERE revoked_at IS NULL");
	int r = scalar(tx, "SELECT count(*) FROM tokens WHERE revoked_at IS NULL", ret_tokens);

	sql_bind_int(&query, at);
	if (r == 0)
		r = sql_run(&query);
	if (r == 0)
		r = run_text(tx, "UPDATE runs SET token_hash = 'dead ' || id");
	return r ? r : run_text(tx, "DELETE FROM answers");
}

int store_epoch_list(struct store_tx *tx, struct store_epoch_list *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		"SELECT epoch, from_sequence, from_hash, replaced_sequence, replaced_hash, at FROM epochs ORDER BY "
		"epoch");
	struct sql_rows rows;
	int r = sql_all(&query, read_epoch, sizeof(*ret->items), &rows);

	if (r == 0)
		*ret = (struct store_epoch_list){rows.items, rows.count};
	return r;
}

/* ---- trims */

static void read_anchor(struct sql *query, void *row)
{
	struct store_chain *anchor = row;

	anchor->sequence = sql_int(query);
	sql_blob(query, anchor->hash, sizeof(anchor->hash));
}

static int last_trim(struct store_tx *tx, int64_t *ret_through)
{
	return scalar(tx, "SELECT coalesce(max(through), 0) FROM audit_trims", ret_through);
}

int store_audit_anchor(struct store_tx *tx, struct store_chain *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		"SELECT t.through, c.hash FROM audit_trims t JOIN audit_checkpoints c ON c.sequence = t.through "
		"ORDER BY t.through DESC LIMIT 1");
	int64_t through = 0;
	int64_t odd = 0;
	int r = last_trim(tx, &through);

	*ret = (struct store_chain){0};
	if (r || through == 0)
		return r;
	r = scalar(tx,
		"SELECT count(*) FROM audit_trims t WHERE after <> coalesce((SELECT max(through) FROM audit_trims b "
		"WHERE b.through < t.through), 0)",
		&odd);
	if (r)
		return r;
	r = sql_one(&query, read_anchor, ret);
	return r == STORE_ABSENT || (r == 0 && (odd || ret->sequence != through)) ? STORE_CHAIN_BROKEN : r;
}

int store_audit_oldest(struct store_tx *tx, int64_t before, struct store_segment *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx, CHECKPOINT " WHERE sequence > ? ORDER BY number LIMIT 2");
	struct store_checkpoint *found;
	struct sql_rows rows;
	int64_t after = 0;
	int r = last_trim(tx, &after);

	if (r)
		return r;
	sql_bind_int(&query, after);
	r = sql_all(&query, read_checkpoint, sizeof(*found), &rows);
	if (r)
		return r;
	found = rows.items;
	if (rows.count < 2 || found->at >= before)
		return STORE_ABSENT;
	*ret = (struct store_segment){.after = after, .through = found->sequence, .checkpoint = *found};
	memcpy(ret->hash, found->hash, sizeof(ret->hash));
	return 0;
}

static int run_between(struct store_tx *tx, const char *text, const struct store_segment *segment)
{
	CLEANUP(sql_end) struct sql query = sql_begin_write(tx, text);

	sql_bind_int(&query, segment->after);
	sql_bind_int(&query, segment->through);
	return sql_run(&query);
}

static int digest_bound(struct store_tx *tx, int64_t after, int64_t through, unsigned char ret_digest[STORE_HASH_BYTES])
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		"SELECT sequence, type, subject_kind, subject_id, project_id, package_id, at, decision_id, "
		"record_digest FROM audit_bound WHERE sequence > ? AND sequence <= ? ORDER BY sequence");

	sql_bind_int(&query, after);
	sql_bind_int(&query, through);
	return record_digest_rows(&query, ret_digest);
}

static int write_trim(struct store_tx *tx, const struct store_segment *segment, int64_t at)
{
	CLEANUP(sql_end)
	struct sql query =
		sql_begin_write(tx, "INSERT INTO audit_trims (through, after, digest, at) VALUES (?, ?, ?, ?)");
	unsigned char digest[STORE_HASH_BYTES];
	int r = digest_bound(tx, segment->after, segment->through, digest);

	if (r)
		return r;
	sql_bind_int(&query, segment->through);
	sql_bind_int(&query, segment->after);
	sql_bind_blob(&query, digest, sizeof(digest));
	sql_bind_int(&query, at);
	return sql_run(&query);
}

static int tell_trim(struct store_tx *tx, const struct store_segment *segment, int64_t at)
{
	struct store_event event = {.type = STR("audit.trimmed"),
		.subject_kind = STR("log"),
		.subject_id = arena_printf(tx->arena, "%lld", (long long)segment->through),
		.at = at,
		.payload_json = arena_printf(tx->arena, "{\"after\":%lld,\"through\":%lld}", (long long)segment->after,
			(long long)segment->through)};

	if (!event.subject_id.bytes || !event.payload_json.bytes)
		return -ENOMEM;
	return store_event_append(tx, &event);
}

int store_audit_trim(struct store_tx *tx, const struct store_segment *segment, int64_t at)
{
	int64_t after = 0;
	int r = last_trim(tx, &after);

	if (r == 0 && after != segment->after)
		return STORE_STALE;
	if (r == 0)
		r = run_between(tx,
			"INSERT INTO audit_bound (sequence, type, subject_kind, subject_id, project_id, package_id, "
			"at, "
			"decision_id, record_digest) SELECT sequence, type, subject_kind, subject_id, project_id, "
			"package_id, at, decision_id, record_digest FROM events WHERE sequence > ? AND sequence <= ? "
			"AND "
			"record_digest IS NOT NULL",
			segment);
	if (r == 0)
		r = write_trim(tx, segment, at);
	/* The trigger lets these go, because the trim is there. */
	if (r == 0)
		r = run_between(tx, "DELETE FROM events WHERE sequence > ? AND sequence <= ?", segment);
	return r ? r : tell_trim(tx, segment, at);
}
