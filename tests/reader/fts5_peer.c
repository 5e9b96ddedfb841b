#include "tests/reader/fts5_peer.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "policy/cleanup.h"

struct fts5_peer {
	sqlite3 *db;
	fts5_tokenizer words;
	Fts5Tokenizer *tokenizer;
};

static void run(struct fts5_peer *peer, const char *sql)
{
	CHECK(sqlite3_exec(peer->db, sql, NULL, NULL, NULL) == SQLITE_OK);
}

static sqlite3_stmt *prepare(struct fts5_peer *peer, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	CHECK(sqlite3_prepare_v2(peer->db, sql, -1, &statement, NULL) == SQLITE_OK);
	return statement;
}

static void find_tokenizer(struct fts5_peer *peer)
{
	static const char *arguments[] = {"unicode61"};
	sqlite3_stmt *statement = prepare(peer, "SELECT fts5(?1)");
	fts5_api *api = NULL;
	void *context = NULL;

	CHECK(sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", NULL) == SQLITE_OK);
	CHECK(sqlite3_step(statement) == SQLITE_ROW && api != NULL);
	(void)sqlite3_finalize(statement);
	CHECK(api->xFindTokenizer(api, "porter", &context, &peer->words) == SQLITE_OK);
	CHECK(peer->words.xCreate(context, arguments, 1, &peer->tokenizer) == SQLITE_OK);
}

struct fts5_peer *fts5_peer_new(void)
{
	struct fts5_peer *peer = calloc(1, sizeof(*peer));

	CHECK(peer != NULL && sqlite3_open(":memory:", &peer->db) == SQLITE_OK);
	run(peer,
		"CREATE VIRTUAL TABLE texts USING fts5(title, description, tags, body, tokenize = 'porter unicode61')");
	run(peer, "CREATE VIRTUAL TABLE one USING fts5(title, description, tags, body, tokenize = 'porter unicode61')");
	find_tokenizer(peer);
	return peer;
}

void fts5_peer_free(struct fts5_peer *peer)
{
	peer->words.xDelete(peer->tokenizer);
	CHECK(sqlite3_close(peer->db) == SQLITE_OK);
	free(peer);
}

void fts5_peer_clear(struct fts5_peer *peer)
{
	run(peer, "DELETE FROM texts");
}

static void bind(sqlite3_stmt *statement, int at, struct str text)
{
	CHECK(sqlite3_bind_text(statement, at, text.bytes == NULL ? "" : text.bytes, (int)text.len, SQLITE_STATIC) ==
		SQLITE_OK);
}

static void add(struct fts5_peer *peer, const char *sql, size_t number, const struct bundle_rank_text *text)
{
	sqlite3_stmt *statement = prepare(peer, sql);

	CHECK(sqlite3_bind_int64(statement, 1, (sqlite3_int64)number) == SQLITE_OK);
	bind(statement, 2, text->title);
	bind(statement, 3, text->description);
	bind(statement, 4, text->tags);
	bind(statement, 5, text->body);
	CHECK(sqlite3_step(statement) == SQLITE_DONE);
	(void)sqlite3_finalize(statement);
}

void fts5_peer_add(struct fts5_peer *peer, size_t number, const struct bundle_rank_text *text)
{
	add(peer, "INSERT INTO texts (rowid, title, description, tags, body) VALUES (?1, ?2, ?3, ?4, ?5)", number,
		text);
}

static bool is_word_byte(unsigned char byte)
{
	return byte >= 0x80 || (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

static bool has_word(const struct str *words, size_t count, struct str word)
{
	while (count-- > 0)
		if (str_equal(words[count], word))
			return true;
	return false;
}

/* Each different run of letters, digits and what isn't ASCII, in quotes; any of them will do. */
static void make_query(struct str question, struct buf *query)
{
	struct str words[64];
	size_t at = 0, count = 0;

	while (count < 64) {
		struct str word;

		while (at < question.len && !is_word_byte((unsigned char)question.bytes[at]))
			at++;
		word.bytes = question.bytes + at;
		while (at < question.len && is_word_byte((unsigned char)question.bytes[at]))
			at++;
		word.len = (size_t)(question.bytes + at - word.bytes);
		if (word.len == 0)
			return;
		if (has_word(words, count, word))
			continue;
		words[count++] = word;
		buf_puts(query, query->len == 0 ? "\"" : " OR \"");
		buf_add_str(query, word);
		buf_putc(query, '"');
	}
}

static int64_t milli(double bm25)
{
	double score = -bm25 * 1000.0;

	return score > 0 && score < 1e15 ? (int64_t)(score + 0.5) : 0;
}

size_t fts5_peer_best(struct fts5_peer *peer, struct str question, size_t limit, struct bundle_rank_hit *ret_hits)
{
	CLEANUP(buf_release) struct buf query = {0};
	sqlite3_stmt *statement = prepare(peer,
		"SELECT rowid, bm25(texts, 8.0, 4.0, 4.0, 1.0) AS score FROM texts WHERE texts MATCH ?1"
		" ORDER BY score, rowid LIMIT ?2");
	size_t count = 0;
	int rc = SQLITE_DONE;

	buf_init(&query, SIZE_MAX / 4);
	make_query(question, &query);
	bind(statement, 1, buf_str(&query));
	CHECK(sqlite3_bind_int64(statement, 2, (sqlite3_int64)limit) == SQLITE_OK);
	while (query.len > 0 && (rc = sqlite3_step(statement)) == SQLITE_ROW)
		ret_hits[count++] = (struct bundle_rank_hit){
			(size_t)sqlite3_column_int64(statement, 0), milli(sqlite3_column_double(statement, 1))};
	CHECK(rc == SQLITE_DONE);
	(void)sqlite3_finalize(statement);
	return count;
}

void fts5_peer_excerpt(
	struct fts5_peer *peer, struct str question, const struct bundle_rank_text *text, struct buf *out)
{
	CLEANUP(buf_release) struct buf query = {0};
	sqlite3_stmt *statement =
		prepare(peer, "SELECT snippet(one, 3, '', '', ' \xE2\x80\xA6 ', 32) FROM one WHERE one MATCH ?1");
	int rc;

	run(peer, "DELETE FROM one");
	add(peer, "INSERT INTO one (rowid, title, description, tags, body) VALUES (?1, ?2, ?3, ?4, ?5)", 1, text);
	buf_init(&query, SIZE_MAX / 4);
	make_query(question, &query);
	bind(statement, 1, buf_str(&query));
	rc = query.len == 0 ? SQLITE_DONE : sqlite3_step(statement);
	CHECK(rc == SQLITE_ROW || rc == SQLITE_DONE);
	if (rc == SQLITE_ROW)
		buf_add(out, (const char *)sqlite3_column_text(statement, 0),
			(size_t)sqlite3_column_bytes(statement, 0));
	else
		buf_add_str(out, text->body);
	(void)sqlite3_finalize(statement);
}

void fts5_peer_words(struct fts5_peer *peer, struct str text, fts5_peer_each each, void *arg)
{
	CHECK(peer->words.xTokenize(peer->tokenizer, arg, FTS5_TOKENIZE_DOCUMENT, text.bytes, (int)text.len, each) ==
		SQLITE_OK);
}
