#include "daemon/audit/audit_verify.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "policy/cleanup.h"

enum { ROWS_A_SNAPSHOT = 500, RECORDS_A_SNAPSHOT = 200, ARENA_BYTES = 512 * 1024 * 1024, MARKS_PAGE = 1000 };

/* A checkpoint that was kept for comparing with the chain: texts don't outlive their page. */
struct mark {
	int64_t number;
	int64_t epoch;
	int64_t sequence;
	unsigned char hash[STORE_HASH_BYTES];
	unsigned char signature[STORE_SIGNATURE_BYTES];
	bool is_signed;
};

struct work {
	const struct audit_verify *verify;
	struct audit_verdict *verdict;
	struct arena arena;
	struct mark *marks; /* of the store, by number */
	size_t mark_count;
	size_t mark_room;
	size_t next_mark; /* the first whose sequence the chain hasn't reached */
	struct store_epoch epochs[64];
	size_t epoch_count;
	struct store_chain chain;
	bool is_broken; /* the chain ends here */
	struct store_audit_walk walk;
	int64_t number; /* the last mark read */
	off_t export_bytes; /* as long as the exported file was before the first snapshot: what comes later, that one doesn't know */
};

static bool goes_on(struct work *work)
{
	const struct audit_verify *verify = work->verify;

	if (work->verdict->fault_count == AUDIT_FAULTS_MAX || work->verdict->is_cancelled)
		return false;
	if (verify->progress != NULL && !verify->progress(verify->arg, work->verdict))
		work->verdict->is_cancelled = true;
	return !work->verdict->is_cancelled;
}

static int snapshot(struct work *work, int (*run)(struct store_tx *tx, void *arg))
{
	arena_reset(&work->arena);
	return store_read(work->verify->store, &work->arena, run, work);
}

/* ---- the store's checkpoints */

static int keep_mark(struct work *work, const struct store_checkpoint *row)
{
	struct mark *mark = NULL;

	if (work->mark_count == work->mark_room) {
		size_t room = work->mark_room != 0 ? work->mark_room * 2 : 64;
		struct mark *marks = reallocarray(work->marks, room, sizeof(*marks));

		if (marks == NULL)
			return -ENOMEM;
		work->marks = marks;
		work->mark_room = room;
	}
	mark = &work->marks[work->mark_count++];
	*mark = (struct mark){.number = row->number,
		.epoch = row->epoch,
		.sequence = row->sequence,
		.is_signed = row->key_id.bytes != NULL};
	memcpy(mark->hash, row->hash, sizeof(mark->hash));
	memcpy(mark->signature, row->signature, sizeof(mark->signature));
	return 0;
}

/* Once signed, always signed: a signature that is gone was taken. */
static void check_signature(struct work *work, const struct store_checkpoint *row)
{
	struct audit_verdict *verdict = work->verdict;
	enum audit_signature signature =
		audit_line_signature(row, store_identity(work->verify->store), work->verify->trust);

	verdict->is_signed = signature == AUDIT_SIGNATURE_GOOD;
	verdict->signed_checkpoints += row->key_id.bytes != NULL;
	if (signature == AUDIT_SIGNATURE_BAD)
		audit_verdict_add(verdict, AUDIT_CHECKPOINT_FORGED, row->sequence,
			"checkpoint %lld is not what its key signed", (long long)row->number);
	else if (signature == AUDIT_SIGNATURE_FOREIGN && verdict->has_key)
		audit_verdict_add(verdict, AUDIT_CHECKPOINT_FORGED, row->sequence,
			"checkpoint %lld is signed by a key that is not believed", (long long)row->number);
	else if (signature == AUDIT_SIGNATURE_NONE && verdict->signed_checkpoints != 0)
		audit_verdict_add(verdict, AUDIT_CHECKPOINT_MISSING, row->sequence,
			"checkpoint %lld is not signed, though one before it is", (long long)row->number);
}

static void check_mark(struct work *work, const struct store_checkpoint *row)
{
	const struct mark *before = work->mark_count != 0 ? &work->marks[work->mark_count - 1] : NULL;

	if (row->number != work->number + 1)
		audit_verdict_add(work->verdict, AUDIT_CHECKPOINT_MISSING, row->sequence, "checkpoint %lld was removed",
			(long long)work->number + 1);
	if (before != NULL && (row->sequence <= before->sequence || row->epoch < before->epoch))
		audit_verdict_add(work->verdict, AUDIT_CHECKPOINT_FORGED, row->sequence, "checkpoint %lld goes back",
			(long long)row->number);
	work->number = row->number;
	check_signature(work, row);
}

static int read_marks(struct store_tx *tx, void *arg)
{
	struct work *work = arg;
	struct store_checkpoint_list list = {0};
	int r = store_checkpoint_list(tx, work->number, MARKS_PAGE, &list);

	for (size_t i = 0; r == 0 && i < list.count; i++) {
		check_mark(work, &list.items[i]);
		r = keep_mark(work, &list.items[i]);
		work->verdict->checkpoints++;
		work->verdict->sealed = list.items[i].sequence;
		work->verdict->sealed_at = list.items[i].at;
	}
	return r != 0 ? r : list.count < MARKS_PAGE ? STORE_ABSENT : 0;
}

static int check_marks(struct work *work)
{
	int r = 0;

	while (r == 0 && goes_on(work))
		r = snapshot(work, read_marks);
	if (work->verdict->has_key && work->mark_count != 0 && work->verdict->signed_checkpoints == 0)
		audit_verdict_add(work->verdict, AUDIT_CHECKPOINT_MISSING, work->verdict->sealed,
			"no checkpoint is signed, though there is a key");
	return r == STORE_ABSENT ? 0 : r;
}

static int read_epochs(struct store_tx *tx, void *arg)
{
	struct work *work = arg;
	struct store_epoch_list list = {0};
	int r = store_epoch_list(tx, &list);

	work->epoch_count = 0;
	for (size_t i = 0; r == 0 && i < list.count && i < sizeof(work->epochs) / sizeof(work->epochs[0]); i++)
		work->epochs[work->epoch_count++] = list.items[i];
	return r;
}

/* ---- the exported checkpoints */

static const struct mark *find_mark(const struct work *work, int64_t number)
{
	for (size_t i = 0; i < work->mark_count; i++)
		if (work->marks[i].number == number)
			return &work->marks[i];
	return NULL;
}

/* Whether a restore says that what this checkpoint vouches for was given up, and a later checkpoint vouches for the restore. */
static bool is_given_up(const struct work *work, const struct store_checkpoint *row)
{
	for (size_t i = 0; i < work->epoch_count; i++) {
		const struct store_epoch *epoch = &work->epochs[i];

		if (epoch->epoch <= row->epoch || row->sequence <= epoch->from.sequence)
			continue;
		for (size_t k = 0; k < work->mark_count; k++)
			if (work->marks[k].epoch >= epoch->epoch && work->marks[k].sequence > epoch->from.sequence &&
				(work->marks[k].is_signed || !work->verdict->has_key))
				return true;
	}
	return false;
}

static bool is_same(const struct mark *mark, const struct store_checkpoint *row)
{
	return mark->epoch == row->epoch && mark->sequence == row->sequence &&
		mark->is_signed == (row->key_id.bytes != NULL) &&
		memcmp(mark->hash, row->hash, sizeof(mark->hash)) == 0 &&
		memcmp(mark->signature, row->signature, sizeof(mark->signature)) == 0;
}

static void compare_exported(struct work *work, const struct store_checkpoint *row)
{
	const struct mark *mark = find_mark(work, row->number);

	work->verdict->exported_checkpoints++;
	if ((mark != NULL && is_same(mark, row)) || is_given_up(work, row))
		return;
	if (mark != NULL)
		audit_verdict_add(work->verdict, AUDIT_CHECKPOINT_FORGED, mark->sequence,
			"checkpoint %lld differs from the exported one", (long long)row->number);
	else if (row->sequence > work->verdict->head.sequence && !work->is_broken)
		audit_verdict_add(work->verdict, AUDIT_TAIL_CUT, work->verdict->head.sequence + 1,
			"the exported checkpoint %lld vouches for rows up to %lld; the store has lost it",
			(long long)row->number, (long long)row->sequence);
	else
		audit_verdict_add(work->verdict, AUDIT_CHECKPOINT_MISSING, row->sequence,
			"checkpoint %lld was exported and is not in the store", (long long)row->number);
}

static void check_exported(struct work *work, const struct audit_line *line, unsigned long number)
{
	struct str store_id = store_identity(work->verify->store);
	enum audit_signature signature;

	if (line->kind != AUDIT_LINE_BAD && line->kind != AUDIT_LINE_CHECKPOINT)
		return;
	if (line->kind == AUDIT_LINE_BAD) {
		audit_verdict_add(
			work->verdict, AUDIT_EXPORT_DAMAGED, 0, "line %lu of the exported file is none", number);
		return;
	}
	if (!str_equal(line->store_id, store_id)) {
		audit_verdict_add(work->verdict, AUDIT_CHECKPOINT_FORGED, line->checkpoint.sequence,
			"line %lu of the exported file is of another store", number);
		return;
	}
	signature = audit_line_signature(&line->checkpoint, store_id, work->verify->trust);
	if (signature == AUDIT_SIGNATURE_BAD || (signature == AUDIT_SIGNATURE_FOREIGN && work->verdict->has_key))
		audit_verdict_add(work->verdict, AUDIT_EXPORT_DAMAGED, line->checkpoint.sequence,
			"line %lu of the exported file is not what a key that is believed signed", number);
	else
		compare_exported(work, &line->checkpoint);
}

static void close_file(FILE **file)
{
	if (*file != NULL)
		(void)fclose(*file);
}

static int check_export(struct work *work)
{
	CLEANUP(close_file) FILE *file = NULL;
	CLEANUP(free_drop) char *text = NULL;
	size_t size = 0;
	ssize_t len = 0;
	off_t at = 0;
	int r = 0;

	if (work->verify->exported == NULL)
		return 0;
	file = fopen(work->verify->exported, "re");
	if (file == NULL)
		return errno == ENOENT ? 0 : -errno;
	work->verdict->has_export = true;
	for (unsigned long number = 1; r == 0 && at < work->export_bytes && (len = getline(&text, &size, file)) > 0;
		number++) {
		struct audit_line line;

		at += len;
		arena_reset(&work->arena);
		r = audit_line_read((struct str){text, (size_t)len - (text[len - 1] == '\n')}, &work->arena, &line);
		if (r == 0)
			check_exported(work, &line, number);
	}
	return r;
}

/* ---- the rows */

static void take_anchor(struct work *work)
{
	while (work->next_mark < work->mark_count && work->marks[work->next_mark].sequence <= work->chain.sequence)
		work->next_mark++;
	work->verdict->first = work->chain.sequence + 1;
}

static int read_anchor(struct store_tx *tx, void *arg)
{
	struct work *work = arg;
	int r = store_audit_anchor(tx, &work->chain);

	if (r == STORE_CHAIN_BROKEN)
		audit_verdict_add(work->verdict, AUDIT_ROW_MISSING, work->chain.sequence + 1,
			"the log begins where no checkpoint vouches for it");
	work->is_broken = r == STORE_CHAIN_BROKEN;
	return r == STORE_CHAIN_BROKEN ? 0 : r;
}

static int tell_break(struct store_tx *tx, struct work *work)
{
	struct store_event_filter filter = {0};
	struct store_event_list list = {0};
	int64_t sequence = work->chain.sequence;
	int r = store_event_list(tx, &filter, sequence - 1, 1, &list);

	if (r != 0)
		return r;
	if (list.count != 0 && list.items[0].sequence == sequence)
		audit_verdict_add(work->verdict, AUDIT_ROW_CHANGED, sequence,
			"row %lld is not the one that the log was written with", (long long)sequence);
	else
		audit_verdict_add(
			work->verdict, AUDIT_ROW_MISSING, sequence, "row %lld was removed", (long long)sequence);
	work->is_broken = true;
	return 0;
}

static int check_rows(struct store_tx *tx, void *arg)
{
	struct work *work = arg;
	const struct mark *mark = work->next_mark < work->mark_count ? &work->marks[work->next_mark] : NULL;
	int64_t before = work->chain.sequence;
	int64_t to_mark = mark != NULL ? mark->sequence - before : INT64_MAX;
	size_t limit = to_mark < ROWS_A_SNAPSHOT ? (size_t)to_mark : ROWS_A_SNAPSHOT;
	int r = store_event_verify(tx, &work->chain, limit);

	if (r == STORE_CHAIN_BROKEN)
		return tell_break(tx, work);
	if (r == STORE_RECORD_CHANGED)
		audit_verdict_add(work->verdict, AUDIT_RECORD_CHANGED, work->chain.sequence,
			"what row %lld names was changed or removed", (long long)work->chain.sequence);
	if (r < 0)
		return r;
	work->verdict->rows += (uint64_t)(work->chain.sequence - before);
	if (mark == NULL || work->chain.sequence != mark->sequence)
		return 0;
	if (memcmp(mark->hash, work->chain.hash, sizeof(mark->hash)) != 0)
		audit_verdict_add(work->verdict, AUDIT_LOG_REWRITTEN, mark->sequence,
			"the rows up to %lld are not the ones that checkpoint %lld vouches for",
			(long long)mark->sequence, (long long)mark->number);
	work->next_mark++;
	return 0;
}

static int check_chain(struct work *work)
{
	int r = snapshot(work, read_anchor);

	take_anchor(work);
	/* Some row was asked for, so an end below a mark is a real end. */
	while (r == 0 && !work->is_broken && !work->chain.is_at_end && goes_on(work))
		r = snapshot(work, check_rows);
	work->verdict->head = work->chain;
	if (r == 0 && !work->is_broken && work->chain.is_at_end && work->next_mark < work->mark_count)
		audit_verdict_add(work->verdict, AUDIT_TAIL_CUT, work->chain.sequence + 1,
			"the log ends at %lld; checkpoint %lld vouches for rows up to %lld",
			(long long)work->chain.sequence, (long long)work->marks[work->mark_count - 1].number,
			(long long)work->marks[work->mark_count - 1].sequence);
	return r;
}

/* ---- the records */

static int check_records(struct store_tx *tx, void *arg)
{
	struct work *work = arg;
	enum store_audit_part part = work->walk.part;
	struct str id = {0};
	int64_t sequence = 0;
	uint64_t seen = work->walk.seen;
	bool is_text = false;
	int r = store_audit_check(tx, &work->walk, part == STORE_AUDIT_TRIMS ? 1 : RECORDS_A_SNAPSHOT, &id, &sequence);

	work->verdict->records += work->walk.seen - seen;
	if (r != STORE_RECORD_CHANGED)
		return r;
	is_text = part == STORE_AUDIT_CATALOGS || part == STORE_AUDIT_DOCUMENTS;
	audit_verdict_add(work->verdict, sequence != 0 || is_text ? AUDIT_RECORD_CHANGED : AUDIT_RECORD_UNNAMED,
		sequence, "the %s %.*s %s", store_audit_part_text(part), id.len < 90 ? (int)id.len : 90,
		id.bytes != NULL ? id.bytes : "",
		is_text                 ? "is not what its digest says"
			: sequence != 0 ? "is not what was recorded"
					: "is vouched for by nothing in the log");
	return 0;
}

static void note_export(struct work *work)
{
	struct stat facts;

	if (work->verify->exported != NULL && stat(work->verify->exported, &facts) == 0)
		work->export_bytes = facts.st_size;
}

static int check_all(struct work *work)
{
	int r = 0;

	note_export(work);
	r = snapshot(work, read_epochs);
	if (r == 0)
		r = check_marks(work);
	if (r == 0)
		r = check_chain(work);
	if (r == 0)
		r = check_export(work);
	while (r == 0 && work->walk.part < STORE_AUDIT_PART_COUNT && goes_on(work))
		r = snapshot(work, check_records);
	return r;
}

int audit_verify_store(const struct audit_verify *verify, struct audit_verdict *ret)
{
	struct work *work = calloc(1, sizeof(*work));
	int r = 0;

	*ret = (struct audit_verdict){.has_key = verify->trust->count != 0};
	if (work == NULL)
		return -ENOMEM;
	work->verify = verify;
	work->verdict = ret;
	memcpy(ret->store_id, store_identity(verify->store).bytes, sizeof(ret->store_id) - 1);
	arena_init(&work->arena, ARENA_BYTES);
	r = check_all(work);
	arena_release(&work->arena);
	free(work->marks);
	free(work);
	return r > 0 ? -EIO : r;
}
