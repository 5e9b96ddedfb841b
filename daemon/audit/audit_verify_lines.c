/* Exported rows, checked without a store: what an auditor keeps elsewhere. */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "daemon/audit/audit_verify.h"
#include "policy/cleanup.h"

enum { ARENA_BYTES = 512 * 1024 * 1024 };

struct lines {
	const struct audit_trust *trust;
	struct audit_verdict *verdict;
	struct arena arena;
	unsigned char store_id[AUDIT_STORE_ID_BYTES];
	bool has_store;
	bool has_start;
	bool is_anchored; /* the rows begin at the first, or behind a checkpoint of the file */
	bool is_broken;
	struct store_chain chain;
	int64_t number;   /* of the last checkpoint */
	unsigned long at; /* line */
};

static void close_file(FILE **file)
{
	if (*file != NULL)
		(void)fclose(*file);
}

/* One file is of one store. */
static void take_store(struct lines *lines, struct str id)
{
	unsigned char bytes[AUDIT_STORE_ID_BYTES];
	size_t got = 0;

	if (sodium_hex2bin(bytes, sizeof(bytes), id.bytes, id.len, NULL, &got, NULL) != 0 || got != sizeof(bytes)) {
		audit_verdict_add(lines->verdict, AUDIT_EXPORT_DAMAGED, 0, "line %lu names no store", lines->at);
		return;
	}
	if (lines->has_store && memcmp(bytes, lines->store_id, sizeof(bytes)) != 0)
		audit_verdict_add(
			lines->verdict, AUDIT_CHECKPOINT_FORGED, 0, "line %lu is of another store", lines->at);
	if (lines->has_store)
		return;
	memcpy(lines->store_id, bytes, sizeof(bytes));
	lines->has_store = true;
	(void)sodium_bin2hex(lines->verdict->store_id, sizeof(lines->verdict->store_id), bytes, sizeof(bytes));
}

static void check_start(struct lines *lines, const struct audit_line *line)
{
	if (lines->has_start)
		audit_verdict_add(lines->verdict, AUDIT_EXPORT_DAMAGED, 0, "line %lu begins the log again", lines->at);
	lines->has_start = true;
	lines->chain = line->chain;
	lines->is_anchored = line->chain.sequence == 0;
	lines->verdict->first = line->chain.sequence + 1;
}

static void check_event(struct lines *lines, const struct audit_line *line)
{
	if (lines->is_broken)
		return;
	if (!lines->has_start || !lines->has_store) {
		audit_verdict_add(lines->verdict, AUDIT_EXPORT_DAMAGED, line->event.sequence,
			"the first line doesn't say where the log begins");
		lines->is_broken = true;
		return;
	}
	if (store_event_follow(lines->store_id, &lines->chain, &line->event) == 0) {
		lines->verdict->rows++;
		return;
	}
	audit_verdict_add(lines->verdict,
		line->event.sequence == lines->chain.sequence ? AUDIT_ROW_CHANGED : AUDIT_ROW_MISSING,
		lines->chain.sequence, "line %lu: row %lld %s", lines->at, (long long)lines->chain.sequence,
		line->event.sequence == lines->chain.sequence ? "is not the one that the log was written with"
							      : "is missing here");
	lines->is_broken = true;
}

static void check_signature(struct lines *lines, const struct audit_line *line)
{
	struct audit_verdict *verdict = lines->verdict;
	const struct store_checkpoint *row = &line->checkpoint;
	enum audit_signature signature = audit_line_signature(row, line->store_id, lines->trust);

	verdict->is_signed = signature == AUDIT_SIGNATURE_GOOD;
	verdict->checkpoints++;
	verdict->signed_checkpoints += row->key_id.bytes != NULL;
	if (signature == AUDIT_SIGNATURE_BAD || (signature == AUDIT_SIGNATURE_FOREIGN && verdict->has_key))
		audit_verdict_add(verdict, AUDIT_CHECKPOINT_FORGED, row->sequence,
			"line %lu: checkpoint %lld is not what a key that is believed signed", lines->at,
			(long long)row->number);
	else if (signature == AUDIT_SIGNATURE_NONE && (verdict->signed_checkpoints != 0 || verdict->has_key))
		audit_verdict_add(verdict, AUDIT_CHECKPOINT_MISSING, row->sequence,
			"line %lu: checkpoint %lld is not signed", lines->at, (long long)row->number);
}

/* A checkpoint may stand before the rows (what they go on from), among or behind them. */
static void check_checkpoint(struct lines *lines, const struct audit_line *line)
{
	const struct store_checkpoint *row = &line->checkpoint;

	check_signature(lines, line);
	lines->verdict->sealed = row->sequence;
	lines->verdict->sealed_at = row->at;
	if (lines->number != 0 && row->number != lines->number + 1)
		audit_verdict_add(lines->verdict, AUDIT_CHECKPOINT_MISSING, row->sequence,
			"line %lu: checkpoint %lld follows %lld", lines->at, (long long)row->number,
			(long long)lines->number);
	lines->number = row->number;
	if (!lines->has_start || lines->is_broken)
		return;
	if (row->sequence > lines->chain.sequence) {
		audit_verdict_add(lines->verdict, AUDIT_TAIL_CUT, lines->chain.sequence + 1,
			"line %lu: the rows end at %lld, the checkpoint vouches for %lld", lines->at,
			(long long)lines->chain.sequence, (long long)row->sequence);
		return;
	}
	if (row->sequence != lines->chain.sequence)
		return;
	if (memcmp(row->hash, lines->chain.hash, sizeof(row->hash)) != 0)
		audit_verdict_add(lines->verdict, AUDIT_LOG_REWRITTEN, row->sequence,
			"line %lu: the rows are not the ones that checkpoint %lld vouches for", lines->at,
			(long long)row->number);
	lines->is_anchored = true;
}

static void check_line(struct lines *lines, const struct audit_line *line)
{
	switch (line->kind) {
	case AUDIT_LINE_START:
		take_store(lines, line->store_id);
		check_start(lines, line);
		return;
	case AUDIT_LINE_EVENT:
		check_event(lines, line);
		return;
	case AUDIT_LINE_CHECKPOINT:
		take_store(lines, line->store_id);
		check_checkpoint(lines, line);
		return;
	case AUDIT_LINE_END:
		if (!lines->is_broken && line->chain.sequence != lines->chain.sequence)
			audit_verdict_add(lines->verdict, AUDIT_TAIL_CUT, lines->chain.sequence + 1,
				"line %lu: the rows end at %lld and not at %lld", lines->at,
				(long long)lines->chain.sequence, (long long)line->chain.sequence);
		return;
	case AUDIT_LINE_BAD:
		audit_verdict_add(lines->verdict, AUDIT_EXPORT_DAMAGED, 0, "line %lu is none", lines->at);
		return;
	}
}

static int check_file(struct lines *lines, FILE *file)
{
	CLEANUP(free_drop) char *text = NULL;
	size_t size = 0;
	ssize_t len = 0;
	int r = 0;

	while (r == 0 && lines->verdict->fault_count < AUDIT_FAULTS_MAX && (len = getline(&text, &size, file)) > 0) {
		struct audit_line line;

		lines->at++;
		arena_reset(&lines->arena);
		r = audit_line_read((struct str){text, (size_t)len - (text[len - 1] == '\n')}, &lines->arena, &line);
		if (r == 0)
			check_line(lines, &line);
	}
	return r == 0 && ferror(file) ? -EIO : r;
}

int audit_verify_lines(const char *path, const struct audit_trust *trust, struct audit_verdict *ret)
{
	CLEANUP(close_file) FILE *file = fopen(path, "re");
	struct lines lines = {.trust = trust, .verdict = ret};
	int r = 0;

	*ret = (struct audit_verdict){.has_key = trust->count != 0, .has_export = true};
	if (file == NULL)
		return -errno;
	arena_init(&lines.arena, ARENA_BYTES);
	r = check_file(&lines, file);
	arena_release(&lines.arena);
	ret->head = lines.chain;
	ret->exported_checkpoints = ret->checkpoints;
	if (r == 0 && lines.at == 0)
		audit_verdict_add(ret, AUDIT_EXPORT_DAMAGED, 0, "the file is empty");
	if (r == 0 && ret->rows != 0 && !lines.is_anchored && ret->fault_count == 0)
		audit_verdict_add(
			ret, AUDIT_ROW_MISSING, ret->first - 1, "no checkpoint vouches for where the rows begin");
	return r;
}
