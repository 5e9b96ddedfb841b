/* What the chain can't see by itself: rows that nothing in the log names, and texts that aren't what their digest says. */
#include <errno.h>
#include <string.h>

#include "daemon/store/audit.h"
#include "daemon/store/record.h"
#include "daemon/store/sql.h"
#include "policy/decision_id.h"

/* The row of the log that names a record, or of what is left of the log; 0 when there is none. */
#define NAMED(subject, condition)                                                                              \
	"coalesce((SELECT e.sequence FROM events e WHERE e.subject_id = " subject " AND " condition            \
	" AND e.record_digest IS NOT NULL LIMIT 1), (SELECT e.sequence FROM audit_bound e WHERE e.subject_id " \
	"= " subject " AND " condition " LIMIT 1), 0)"
#define PAGE(table, key) " FROM " table " r WHERE r." key " > ? ORDER BY r." key " LIMIT ?"

/* Columns: where the walk is, the id, the row that names it (NULL: none is needed), and pairs of a digest and its text. */
static const struct part {
	const char *name;
	const char *text;
	unsigned pairs;
} parts[STORE_AUDIT_PART_COUNT] = {
	[STORE_AUDIT_GRANTS] = {"grant",
		"SELECT r.sequence, r.id, " NAMED("r.id", "e.type = 'grant.recorded'") PAGE("grants", "sequence"), 0},
	[STORE_AUDIT_TOKENS] = {"token",
		"SELECT r.sequence, r.id, " NAMED("r.id", "e.type = 'token.issued'") PAGE("tokens", "sequence"), 0},
	[STORE_AUDIT_RUNS] = {"run",
		"SELECT r.sequence, r.id, " NAMED("r.id", "e.type = 'run.claimed'") PAGE("runs", "sequence"), 0},
	[STORE_AUDIT_DUE_RECORDS] = {"due record",
		"SELECT r.sequence, r.subject, " NAMED("CAST(r.sequence AS TEXT)", "e.type = 'due.recorded'")
			PAGE("due_records", "sequence"),
		0},
	[STORE_AUDIT_CATALOG_EPOCHS] = {"catalog epoch",
		"SELECT r.epoch, r.digest, " NAMED("r.digest", "e.type = 'catalog.replaced' AND e.at = r.at")
			PAGE("catalog_epochs", "epoch"),
		0},
	[STORE_AUDIT_EPOCHS] = {"epoch",
		"SELECT r.epoch, CAST(r.epoch AS TEXT), " NAMED("CAST(r.epoch AS TEXT)", "e.type = 'store.restored'")
			PAGE("epochs", "epoch"),
		0},
	[STORE_AUDIT_TRIMS] = {"trim",
		"SELECT r.through, CAST(r.through AS TEXT), " NAMED(
			"CAST(r.through AS TEXT)", "e.type = 'audit.trimmed'") PAGE("audit_trims", "through"),
		0},
	[STORE_AUDIT_DECISIONS] = {"decision",
		"SELECT r.sequence, r.id, coalesce((SELECT e.sequence FROM events e WHERE e.decision_id = r.id LIMIT "
		"1), "
		"(SELECT e.sequence FROM audit_bound e WHERE e.decision_id = r.id LIMIT 1), 0), r.id, r.inputs_json, "
		"r.result_digest, r.result_json" PAGE("decisions", "sequence"),
		2},
	[STORE_AUDIT_CATALOGS] = {"catalog",
		"SELECT r.rowid, r.digest, NULL, r.digest, r.bytes" PAGE("catalogs", "rowid"), 1},
	[STORE_AUDIT_DOCUMENTS] = {"document",
		"SELECT r.rowid, r.digest, NULL, r.digest, r.bytes" PAGE("documents", "rowid"), 1},
};

const char *store_audit_part_text(enum store_audit_part part)
{
	CHECK(part < STORE_AUDIT_PART_COUNT);
	return parts[part].name;
}

struct audited {
	int64_t key;
	struct str id;
	int64_t named_by;
	bool is_sound;
};

/* Read where it lies: texts may be long. */
static bool is_pair_sound(const struct sql *query, int column)
{
	const char *digest = (const char *)sqlite3_column_text(query->stmt, column);
	const char *bytes = (const char *)sqlite3_column_text(query->stmt, column + 1);
	char text[DIGEST_TEXT_SIZE];

	if (!digest || !bytes)
		return false;
	digest_text((struct str){bytes, (size_t)sqlite3_column_bytes(query->stmt, column + 1)}, text);
	return strcmp(text, digest) == 0;
}

static void read_audited(struct sql *query, const struct part *part, struct audited *ret)
{
	ret->key = sql_int(query);
	ret->id = sql_str(query);
	ret->is_sound = sqlite3_column_type(query->stmt, query->column) == SQLITE_NULL ||
		sqlite3_column_int64(query->stmt, query->column) != 0;
	ret->named_by = sql_int(query);
	for (unsigned i = 0; i < part->pairs; i++)
		ret->is_sound = ret->is_sound && is_pair_sound(query, 3 + 2 * (int)i);
}

static void read_bound(struct sql *query, struct store_event *event)
{
	*event = (struct store_event){0};
	event->sequence = sql_int(query);
	event->type = sql_str(query);
	event->subject_id = sql_str(query);
	event->package = sql_str(query);
	event->at = sql_int(query);
	event->decision = sql_str(query);
	event->has_record = true;
	sql_blob(query, event->record, sizeof(event->record));
}

/* 0, or STORE_RECORD_CHANGED with the row that named it. */
static int check_bound(struct store_tx *tx, int64_t through, int64_t *ret_sequence)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		"SELECT sequence, type, subject_id, package_id, at, decision_id, record_digest FROM audit_bound WHERE "
		"sequence > (SELECT after FROM audit_trims WHERE through = ?1) AND sequence <= ?1 ORDER BY sequence");
	struct store_event event;
	unsigned char digest[STORE_HASH_BYTES];
	bool has = false;
	int r;

	sql_bind_int(&query, through);
	while ((r = sql_next(&query)) == SQL_ROW) {
		read_bound(&query, &event);
		r = record_digest(tx, &event, digest, &has);
		if (r)
			return r;
		*ret_sequence = event.sequence;
		if (!has || memcmp(digest, event.record, sizeof(digest)) != 0)
			return STORE_RECORD_CHANGED;
	}
	return r;
}

static void read_digest(struct sql *query, void *row)
{
	sql_blob(query, row, STORE_HASH_BYTES);
}

/* A trim's digest is over what is left of its rows; then what those name. */
static int check_trim(struct store_tx *tx, int64_t through, int64_t *ret_sequence)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, "SELECT digest FROM audit_trims WHERE through = ?");
	CLEANUP(sql_end)
	struct sql bound = sql_begin(tx,
		"SELECT sequence, type, subject_kind, subject_id, project_id, package_id, at, decision_id, "
		"record_digest "
		"FROM audit_bound WHERE sequence > (SELECT after FROM audit_trims WHERE through = ?1) AND sequence <= "
		"?1 "
		"ORDER BY sequence");
	unsigned char stored[STORE_HASH_BYTES];
	unsigned char digest[STORE_HASH_BYTES];
	int r;

	sql_bind_int(&query, through);
	sql_bind_int(&bound, through);
	r = sql_one(&query, read_digest, stored);
	if (r == 0)
		r = record_digest_rows(&bound, digest);
	if (r == 0 && memcmp(stored, digest, sizeof(digest)) != 0)
		return STORE_RECORD_CHANGED;
	return r ? r : check_bound(tx, through, ret_sequence);
}

/* One page; STORE_RECORD_CHANGED at the first row that isn't sound. */
static int check_page(
	struct store_tx *tx, struct store_audit_walk *walk, size_t limit, size_t *ret_count, struct audited *ret)
{
	const struct part *part = &parts[walk->part];
	CLEANUP(sql_end) struct sql query = sql_begin(tx, part->text);
	int r;

	sql_bind_int(&query, walk->after);
	sql_bind_int(&query, sql_limit(limit));
	while ((r = sql_next(&query)) == SQL_ROW) {
		read_audited(&query, part, ret);
		walk->after = ret->key;
		walk->seen++;
		(*ret_count)++;
		r = ret->is_sound ? 0 : STORE_RECORD_CHANGED;
		if (r == 0 && walk->part == STORE_AUDIT_TRIMS)
			r = check_trim(tx, ret->key, &ret->named_by);
		if (r)
			return r;
	}
	return r;
}

int store_audit_check(
	struct store_tx *tx, struct store_audit_walk *walk, size_t limit, struct str *ret_id, int64_t *ret_sequence)
{
	struct audited row = {0};
	size_t count = 0;
	int r;

	CHECK(walk->part < STORE_AUDIT_PART_COUNT);
	r = check_page(tx, walk, limit, &count, &row);
	if (r == STORE_RECORD_CHANGED) {
		*ret_id = row.id;
		*ret_sequence = row.named_by;
	} else if (r == 0 && count < limit) {
		walk->part++;
		walk->after = 0;
	}
	return r;
}
