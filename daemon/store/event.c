#include "daemon/store/event.h"

#include <sodium.h>
#include <string.h>

#include "daemon/store/record.h"
#include "daemon/store/sql.h"
#include "daemon/store/words.h"

_Static_assert(STORE_HASH_BYTES == crypto_hash_sha256_BYTES, "the chain is made of SHA-256");

static const char domain[] = "admitd/event/1";

struct str store_surface_text(enum store_surface surface)
{
	CHECK(surface < STORE_SURFACE_COUNT);
	return words_str(words_surface[surface]);
}

static void add_number(crypto_hash_sha256_state *state, uint64_t number, unsigned bytes)
{
	unsigned char text[8];

	for (unsigned i = 0; i < bytes; i++)
		text[i] = (unsigned char)(number >> 8 * (bytes - 1 - i));
	(void)crypto_hash_sha256_update(state, text, bytes);
}

static void add_str(crypto_hash_sha256_state *state, struct str text)
{
	add_number(state, text.bytes ? text.len : UINT32_MAX, 4);
	if (text.len)
		(void)crypto_hash_sha256_update(state, (const unsigned char *)text.bytes, text.len);
}

/* The rule is event.h's "Chain". */
static void hash_row(const unsigned char *store_id, const unsigned char *before, const struct store_event *row,
	unsigned char ret_hash[STORE_HASH_BYTES])
{
	const struct str fields[] = {row->type, row->subject_kind, row->subject_id, row->project, row->task,
		row->package, row->actor.token, row->actor.principal};
	crypto_hash_sha256_state state;

	(void)crypto_hash_sha256_init(&state);
	(void)crypto_hash_sha256_update(&state, (const unsigned char *)domain, sizeof(domain));
	(void)crypto_hash_sha256_update(&state, store_id, 16);
	(void)crypto_hash_sha256_update(&state, before, STORE_HASH_BYTES);
	add_number(&state, (uint64_t)row->sequence, 8);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		add_str(&state, fields[i]);
	add_number(&state, (uint64_t)row->at, 8);
	add_str(&state, row->payload_json);
	add_str(&state, store_surface_text(row->surface));
	add_str(&state, row->decision);
	add_str(&state, row->has_record ? (struct str){(const char *)row->record, STORE_HASH_BYTES} : (struct str){0});
	(void)crypto_hash_sha256_final(&state, ret_hash);
}

/* The head moves with the row; the writer puts it back when the operation or the batch is lost. */
int store_event_append(struct store_tx *tx, struct store_event *row)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin_write(tx,
		"INSERT INTO events (sequence, type, subject_kind, subject_id, project_id, task_id, package_id, "
		"actor_token, "
		"actor_principal, at, payload_json, surface, decision_id, record_digest, hash) VALUES (?, ?, ?, ?, ?, "
		"?, "
		"?, ?, ?, ?, ?, ?, ?, ?, ?)");
	int r = record_digest(tx, row, row->record, &row->has_record);

	if (r)
		return r;
	row->sequence = tx->head->sequence + 1;
	hash_row(tx->store_id, tx->head->hash, row, row->hash);
	sql_bind_int(&query, row->sequence);
	sql_bind_str(&query, row->type);
	sql_bind_str(&query, row->subject_kind);
	sql_bind_str(&query, row->subject_id);
	sql_bind_str(&query, row->project);
	sql_bind_str(&query, row->task);
	sql_bind_str(&query, row->package);
	sql_bind_actor(&query, &row->actor);
	sql_bind_int(&query, row->at);
	sql_bind_str(&query, row->payload_json);
	sql_bind_word(&query, words_surface, STORE_SURFACE_COUNT, row->surface);
	sql_bind_str(&query, row->decision);
	sql_bind_blob_if(&query, row->has_record, row->record, sizeof(row->record));
	sql_bind_blob(&query, row->hash, sizeof(row->hash));
	r = sql_run(&query);
	if (r)
		return r;
	tx->head->sequence = row->sequence;
	memcpy(tx->head->hash, row->hash, sizeof(row->hash));
	return 0;
}

static void read_int(struct sql *query, void *row)
{
	*(int64_t *)row = sql_int(query);
}

int store_event_head(struct store_tx *tx, int64_t *ret_sequence)
{
	CLEANUP(sql_end) struct sql query = sql_begin(tx, "SELECT max(sequence) FROM events");

	return sql_one(&query, read_int, ret_sequence);
}

#define EVENT                                                                                             \
	"SELECT sequence, type, subject_kind, subject_id, project_id, task_id, package_id, actor_token, " \
	"actor_principal, "                                                                               \
	"at, payload_json, surface, decision_id, record_digest, hash FROM events"

static void read_event(struct sql *query, void *row)
{
	struct store_event *event = row;

	*event = (struct store_event){0};
	event->sequence = sql_int(query);
	event->type = sql_str(query);
	event->subject_kind = sql_str(query);
	event->subject_id = sql_str(query);
	event->project = sql_str(query);
	event->task = sql_str(query);
	event->package = sql_str(query);
	sql_actor(query, &event->actor);
	event->at = sql_int(query);
	event->payload_json = sql_str(query);
	event->surface = (enum store_surface)sql_word(query, words_surface, STORE_SURFACE_COUNT);
	event->decision = sql_str(query);
	event->has_record = sql_blob_if(query, event->record, sizeof(event->record));
	sql_blob(query, event->hash, sizeof(event->hash));
}

int store_event_find_last(struct store_tx *tx, struct str package, enum store_surface surface, struct store_event *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx, EVENT " WHERE package_id = ? AND surface = ? ORDER BY sequence DESC LIMIT 1");

	sql_bind_str(&query, package);
	sql_bind_str(&query, store_surface_text(surface));
	return sql_one(&query, read_event, ret);
}

int store_event_list_of_server(
	struct store_tx *tx, struct str project, struct str mcp_id, size_t limit, struct store_event_list *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		EVENT " INDEXED BY events_of_server WHERE project_id = ? AND subject_id = ? AND type = "
		      "'health.changed' ORDER "
		      "BY sequence DESC LIMIT ?");
	struct sql_rows rows = {0};
	int r = 0;

	sql_bind_str(&query, project);
	sql_bind_str(&query, mcp_id);
	sql_bind_int(&query, sql_limit(limit));
	r = sql_all(&query, read_event, sizeof(*ret->items), &rows);
	*ret = (struct store_event_list){rows.items, rows.count};
	return r;
}

int store_event_list(struct store_tx *tx, const struct store_event_filter *filter, int64_t from, size_t limit,
	struct store_event_list *ret)
{
	struct sql_select select;
	struct sql_rows rows;
	int r;

	sql_select_init(&select, EVENT);
	sql_select_where_in(&select, "+project_id", filter->projects_json);
	sql_select_where(&select, "project_id = ?", filter->project);
	sql_select_where(&select, "task_id = ?", filter->task);
	sql_select_where(&select, "package_id = ?", filter->package);
	sql_select_where(&select, "type = ?", filter->type);
	sql_select_where(&select, "decision_id = ?", filter->decision);
	sql_select_where(&select, "actor_principal = ?", filter->principal);
	if (filter->since != 0)
		sql_select_where_int(&select, "at >= ?", filter->since);
	if (filter->until != 0)
		sql_select_where_int(&select, "at < ?", filter->until);
	sql_select_where_always(&select, filter->newest_first ? "sequence < ?" : "sequence > ?");
	sql_select_finish(
		&select, filter->newest_first ? " ORDER BY sequence DESC LIMIT ?" : " ORDER BY sequence LIMIT ?");
	CLEANUP(sql_end) struct sql query = sql_select_begin(tx, &select);
	sql_bind_int(&query, filter->newest_first ? sql_before(from) : from);
	sql_bind_int(&query, sql_limit(limit));
	r = sql_all(&query, read_event, sizeof(*ret->items), &rows);
	if (r == 0)
		*ret = (struct store_event_list){rows.items, rows.count};
	return r;
}

/* Each part by an index of its own; the parts have no row in common. */
int store_event_list_story(struct store_tx *tx, const struct store_event_story *story, int64_t from, size_t limit,
	struct store_event_list *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		"WITH story (told) AS (SELECT sequence FROM events WHERE package_id = ?1 AND sequence > ?5 UNION ALL "
		"SELECT sequence FROM events WHERE task_id = ?2 AND type = 'task.status' AND at >= ?4 AND sequence > "
		"?5 "
		"UNION ALL SELECT e.sequence FROM grants g JOIN events e ON e.subject_id = g.id AND "
		"e.type = 'grant.recorded' AND e.record_digest IS NOT NULL WHERE g.project_id = ?3 AND g.package_id IS "
		"NULL "
		"AND g.at >= ?4 AND e.sequence > ?5 UNION ALL "
		"SELECT e.sequence FROM dependencies d JOIN events e ON e.package_id = d.depends_on WHERE d.package_id "
		"= ?1 "
		"AND e.type = 'package.status' AND json_extract(e.payload_json, '$.after') = 'completed' AND "
		"e.sequence > ?5) " EVENT " WHERE sequence IN (SELECT told FROM story) ORDER BY sequence LIMIT ?6");
	struct sql_rows rows = {0};
	int r;

	sql_bind_str(&query, story->package);
	sql_bind_str(&query, story->task);
	sql_bind_str(&query, story->project);
	sql_bind_int(&query, story->since);
	sql_bind_int(&query, from);
	sql_bind_int(&query, sql_limit(limit));
	r = sql_all(&query, read_event, sizeof(*ret->items), &rows);
	if (r == 0)
		*ret = (struct store_event_list){rows.items, rows.count};
	return r;
}

static void read_effects(struct sql *query, void *row)
{
	struct store_event_effects *effects = row;

	effects->held = sql_int(query);
	effects->freed = sql_int(query);
}

/* A transaction's events have one time and no gaps: it is over where another time, project or grant begins. */
int store_event_count_effects(struct store_tx *tx, const struct store_event *event, struct store_event_effects *ret)
{
	CLEANUP(sql_end)
	struct sql query = sql_begin(tx,
		"WITH RECURSIVE same (sequence, type) AS (SELECT ?1, '' UNION ALL SELECT e.sequence, e.type FROM same "
		"JOIN "
		"events e ON e.sequence = same.sequence + 1 WHERE e.at = ?2 AND e.project_id = ?3 AND e.type <> "
		"'grant.recorded') SELECT sum(type = 'hold.opened'), sum(type = 'hold.cleared') FROM same");

	sql_bind_int(&query, event->sequence);
	sql_bind_int(&query, event->at);
	sql_bind_str(&query, event->project);
	return sql_one(&query, read_effects, ret);
}

int store_event_follow(const unsigned char *store_id, struct store_chain *chain, const struct store_event *row)
{
	unsigned char hash[STORE_HASH_BYTES];
	int64_t expected = chain->sequence + 1;

	if (row->sequence == expected)
		hash_row(store_id, chain->hash, row, hash);
	chain->sequence = expected;
	if (row->sequence != expected || memcmp(hash, row->hash, sizeof(hash)) != 0)
		return STORE_CHAIN_BROKEN;
	memcpy(chain->hash, hash, sizeof(hash));
	return 0;
}

/* A row that fits moves the chain; then what it names is looked at. */
static int check_row(struct store_tx *tx, struct store_chain *chain, const struct store_event *row)
{
	unsigned char record[STORE_HASH_BYTES];
	bool has_record = false;
	int r = store_event_follow(tx->store_id, chain, row);

	if (r == 0)
		r = record_digest(tx, row, record, &has_record);
	if (r)
		return r;
	if (has_record != row->has_record || (has_record && memcmp(record, row->record, sizeof(record)) != 0))
		return STORE_RECORD_CHANGED;
	return 0;
}

int store_event_verify(struct store_tx *tx, struct store_chain *chain, size_t limit)
{
	struct store_event_filter filter = {0};
	struct store_event_list list;
	int r = store_event_list(tx, &filter, chain->sequence, limit, &list);

	for (size_t i = 0; r == 0 && i < list.count; i++)
		r = check_row(tx, chain, &list.items[i]);
	if (r == 0)
		chain->is_at_end = list.count < limit;
	return r;
}
