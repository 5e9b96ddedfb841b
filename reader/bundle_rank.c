#include "reader/bundle_rank.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "policy/cleanup.h"

struct bundle_rank {
	sqlite3 *db;
	sqlite3_stmt *insert;
	sqlite3_stmt *select;
	sqlite3_stmt *excerpt_clear;
	sqlite3_stmt *excerpt_insert;
	sqlite3_stmt *excerpt_select;
};

/* `texts` keeps no content: it only ranks. Its positions are needed, as bm25() would look into the content without them. Its index is
 * gathered in one piece and never merged, as it is asked once and dropped. `excerpts` holds one text at a time. */
static const char schema[] =
	"PRAGMA temp_store = MEMORY;"
	"PRAGMA journal_mode = OFF;"
	"CREATE VIRTUAL TABLE texts USING fts5(title, description, tags, body, content = '',"
	" tokenize = 'porter unicode61');"
	"CREATE VIRTUAL TABLE excerpts USING fts5(title, description, tags, body, tokenize = 'porter unicode61');"
	"INSERT INTO texts (texts, rank) VALUES ('hashsize', 67108864), ('automerge', 0);"
	"BEGIN;";

static const struct {
	size_t statement; /* offset in struct bundle_rank */
	const char *sql;
} statements[] = {
	{offsetof(struct bundle_rank, insert),
		"INSERT INTO texts (rowid, title, description, tags, body) VALUES (?1, ?2, ?3, ?4, ?5)"},
	{offsetof(struct bundle_rank, select),
		"SELECT rowid, bm25(texts, 8.0, 4.0, 4.0, 1.0) AS score FROM texts WHERE texts MATCH ?1"
		" ORDER BY score, rowid LIMIT ?2"},
	{offsetof(struct bundle_rank, excerpt_clear), "DELETE FROM excerpts"},
	{offsetof(struct bundle_rank, excerpt_insert),
		"INSERT INTO excerpts (rowid, title, description, tags, body) VALUES (?1, ?2, ?3, ?4, ?5)"},
	{offsetof(struct bundle_rank, excerpt_select),
		"SELECT snippet(excerpts, 3, '', '', ' \xE2\x80\xA6 ', ?2) FROM excerpts WHERE excerpts MATCH ?1"},
};

static int error_of(int rc)
{
	return rc == SQLITE_OK || rc == SQLITE_DONE || rc == SQLITE_ROW ? 0 : rc == SQLITE_NOMEM ? -ENOMEM : -EIO;
}

static sqlite3_stmt **statement_of(struct bundle_rank *rank, size_t offset)
{
	return (sqlite3_stmt **)(void *)((char *)rank + offset);
}

static int prepare(struct bundle_rank *rank)
{
	static const int switches[][2] = {
		{SQLITE_DBCONFIG_DQS_DDL, 0},
		{SQLITE_DBCONFIG_DQS_DML, 0},
		{SQLITE_DBCONFIG_DEFENSIVE, 1},
		{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
		{SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
	};
	int rc = sqlite3_exec(rank->db, schema, NULL, NULL, NULL);
	size_t i;

	for (i = 0; rc == SQLITE_OK && i < sizeof(switches) / sizeof(switches[0]); i++)
		rc = sqlite3_db_config(rank->db, switches[i][0], switches[i][1], NULL);
	for (i = 0; rc == SQLITE_OK && i < sizeof(statements) / sizeof(statements[0]); i++)
		rc = sqlite3_prepare_v3(rank->db, statements[i].sql, -1, SQLITE_PREPARE_PERSISTENT,
			statement_of(rank, statements[i].statement), NULL);
	return error_of(rc);
}

int bundle_rank_new(struct bundle_rank **ret)
{
	CLEANUP(bundle_rank_free) struct bundle_rank *rank = calloc(1, sizeof(*rank));
	int result;

	if (rank == NULL)
		return -ENOMEM;
	result = error_of(sqlite3_open_v2(":memory:", &rank->db,
		SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, NULL));
	if (result == 0)
		result = prepare(rank);
	if (result == 0)
		*ret = TAKE(rank);
	return result;
}

void bundle_rank_free(struct bundle_rank **rank)
{
	size_t i;

	if (*rank == NULL)
		return;
	for (i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
		(void)sqlite3_finalize(*statement_of(*rank, statements[i].statement));
	(void)sqlite3_close(TAKE((*rank)->db));
	free(*rank);
	*rank = NULL;
}

static int bind_text(sqlite3_stmt *statement, int at, struct str text)
{
	if (text.len > INT_MAX)
		return SQLITE_TOOBIG;
	return sqlite3_bind_text(statement, at, text.bytes == NULL ? "" : text.bytes, (int)text.len, SQLITE_STATIC);
}

static int add_to(sqlite3_stmt *statement, size_t number, const struct bundle_rank_text *text)
{
	const struct str columns[] = {text->title, text->description, text->tags, text->body};
	int rc = sqlite3_bind_int64(statement, 1, (sqlite3_int64)number);
	int at;

	for (at = 0; rc == SQLITE_OK && at < 4; at++)
		rc = bind_text(statement, at + 2, columns[at]);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(statement);
	(void)sqlite3_reset(statement);
	(void)sqlite3_clear_bindings(statement);
	return error_of(rc);
}

int bundle_rank_add(struct bundle_rank *rank, size_t number, const struct bundle_rank_text *text)
{
	return add_to(rank->insert, number + 1, text);
}

static bool is_word_byte(unsigned char byte)
{
	return byte >= 0x80 || (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z');
}

/* The next run of letters, digits, and what isn't ASCII; false at the end. */
static bool next_word(struct str text, size_t *at, struct str *ret)
{
	size_t begin;

	while (*at < text.len && !is_word_byte((unsigned char)text.bytes[*at]))
		(*at)++;
	begin = *at;
	while (*at < text.len && is_word_byte((unsigned char)text.bytes[*at]))
		(*at)++;
	*ret = (struct str){text.bytes + begin, *at - begin};
	return ret->len > 0;
}

static bool has_word(const struct str *words, size_t count, struct str word)
{
	while (count-- > 0)
		if (str_equal(words[count], word))
			return true;
	return false;
}

/* The words of a question as FTS5 wants them: each quoted, so that none is an operator; any of them will do. Empty: no word. */
static int make_query(struct str question, struct buf *query)
{
	struct str words[BUNDLE_RANK_TERMS], word;
	size_t at = 0, count = 0;

	while (count < BUNDLE_RANK_TERMS && next_word(question, &at, &word)) {
		if (has_word(words, count, word))
			continue;
		words[count++] = word;
		buf_puts(query, query->len == 0 ? "\"" : " OR \"");
		buf_add_str(query, word);
		buf_putc(query, '"');
	}
	return buf_error(query);
}

static int64_t milli(double bm25)
{
	double score = -bm25 * 1000.0;

	return score > 0 && score < 1e15 ? (int64_t)(score + 0.5) : 0;
}

static int take_hits(sqlite3_stmt *statement, struct bundle_rank_hit *hits, size_t limit, size_t *ret_count)
{
	int rc;

	while ((rc = sqlite3_step(statement)) == SQLITE_ROW && *ret_count < limit)
		hits[(*ret_count)++] = (struct bundle_rank_hit){
			(size_t)sqlite3_column_int64(statement, 0) - 1, milli(sqlite3_column_double(statement, 1))};
	return error_of(rc);
}

int bundle_rank_ask(struct bundle_rank *rank, struct str question, size_t limit, struct bundle_rank_hit *ret_hits,
	size_t *ret_count)
{
	struct buf query CLEANUP(buf_release);
	int result;

	*ret_count = 0;
	buf_init(&query, SIZE_MAX / 4);
	result = make_query(question, &query);
	if (result != 0 || query.len == 0)
		return result;
	result = error_of(bind_text(rank->select, 1, buf_str(&query)));
	if (result == 0)
		result = error_of(sqlite3_bind_int64(rank->select, 2, (sqlite3_int64)limit));
	if (result == 0)
		result = take_hits(rank->select, ret_hits, limit, ret_count);
	(void)sqlite3_reset(rank->select);
	(void)sqlite3_clear_bindings(rank->select);
	return result;
}

/* On one line, runs of white space as one blank, cut between two characters. */
static void add_line(struct buf *out, struct str text)
{
	size_t i, len = text.len;
	bool was_blank = true;

	if (len > BUNDLE_RANK_EXCERPT_BYTES)
		for (len = BUNDLE_RANK_EXCERPT_BYTES; len > 0 && ((unsigned char)text.bytes[len] & 0xC0) == 0x80;)
			len--;
	for (i = 0; i < len; i++) {
		bool is_blank = (unsigned char)text.bytes[i] <= ' ' || text.bytes[i] == 0x7F;

		if (!is_blank)
			buf_putc(out, text.bytes[i]);
		else if (!was_blank)
			buf_putc(out, ' ');
		was_blank = is_blank;
	}
}

static int take_excerpt(sqlite3_stmt *statement, struct str otherwise, struct buf *out)
{
	int rc = sqlite3_step(statement);

	if (rc == SQLITE_ROW)
		add_line(out,
			(struct str){(const char *)sqlite3_column_text(statement, 0),
				(size_t)sqlite3_column_bytes(statement, 0)});
	else if (rc == SQLITE_DONE)
		add_line(out, otherwise);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? buf_error(out) : error_of(rc);
}

int bundle_rank_excerpt(
	struct bundle_rank *rank, struct str question, const struct bundle_rank_text *text, struct buf *out)
{
	struct buf query CLEANUP(buf_release);
	int result;

	buf_init(&query, SIZE_MAX / 4);
	result = make_query(question, &query);
	if (result == 0)
		result = error_of(sqlite3_step(rank->excerpt_clear));
	(void)sqlite3_reset(rank->excerpt_clear);
	if (result == 0)
		result = add_to(rank->excerpt_insert, 1, text);
	if (result == 0)
		result = error_of(bind_text(rank->excerpt_select, 1, buf_str(&query)));
	if (result == 0)
		result = error_of(sqlite3_bind_int(rank->excerpt_select, 2, BUNDLE_RANK_EXCERPT));
	if (result == 0)
		result = take_excerpt(rank->excerpt_select, text->body, out);
	(void)sqlite3_reset(rank->excerpt_select);
	(void)sqlite3_clear_bindings(rank->excerpt_select);
	return result;
}
