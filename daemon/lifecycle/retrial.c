/* A period judged again: in windows of sequences, each read in a snapshot of its own and judged outside of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/liveness.h"
#include "daemon/lifecycle/recall_make.h"
#include "daemon/lifecycle/scope_json.h"
#include "daemon/lifecycle/time_text.h"
#include "daemon/store/catalog.h"
#include "daemon/store/package.h"
#include "policy/cleanup.h"
#include "policy/replay_diff.h"
#include "policy/trace.h"

enum {
	WINDOW = 100, /* sequences; a snapshot of so many ends well within a second */
	WINDOW_ARENA_BYTES = 512 * 1024 * 1024,
	OWN_CATALOGS = 4,
	STATUSES = ADMISSION_ALLOWED + 1,
	REASONS_CEILING = 256 * 1024 * 1024,
};

/* Catalogs that decisions were made with; there are few at a time. */
struct own_catalog {
	struct catalog *catalog;
	uint64_t used;
};

/* What changes in one way: the first of it are listed. */
struct listing {
	struct json_out *out;
	size_t listed;
	uint64_t count;
	int64_t next;
	bool has_next;
};

struct walk {
	struct lifecycle_retrial *retrial;
	struct store_decision_period period;
	struct arena arena; /* of the walk */
	const struct catalog *catalog;
	struct own_catalog own[OWN_CATALOGS];
	uint64_t uses;
	struct liveness liveness;
	struct listing outcomes; /* another outcome */
	struct listing reasons;  /* the same outcome for another reason; written behind the others, from `held_back` */
	struct buf held_back;
	struct json_out held_back_out;
	uint64_t judged, same, not_kept, other_engine, unlike;
	uint64_t pairs[STATUSES][STATUSES];
	/* the window that is read */
	struct arena window;
	int64_t at, through, last;
	struct store_decision_list list;
	struct str *documents; /* one a decision; absent: not kept */
};

/* ---- reading */

static int read_documents(struct store_tx *tx, struct walk *walk)
{
	walk->documents = ARENA_ARRAY(store_tx_arena(tx), walk->list.count, struct str);
	if (walk->documents == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < walk->list.count; i++) {
		int r = store_document_find(tx, walk->list.items[i].package_digest, &walk->documents[i]);

		if (r != 0 && r != STORE_ABSENT)
			return call_store_result(r);
	}
	return 0;
}

static int run_window(struct store_tx *tx, void *arg)
{
	struct walk *walk = arg;
	int r = store_decision_walk(tx, &walk->period, walk->at, walk->through, &walk->list);

	return r != 0 ? call_store_result(r) : read_documents(tx, walk);
}

static int run_last(struct store_tx *tx, void *arg)
{
	return call_store_result(store_decision_last(tx, &((struct walk *)arg)->last));
}

/* The one decision is a window of its own, for whoever may see it. */
static int run_one(struct store_tx *tx, void *arg)
{
	struct walk *walk = arg;
	struct store_decision *decision = ARENA_NEW(store_tx_arena(tx), struct store_decision);
	int r = decision != NULL ? store_decision_is_seen(tx, walk->retrial->decision, walk->period.projects_json)
				 : -ENOMEM;

	if (r == 0)
		r = store_decision_find(tx, walk->retrial->decision, decision);
	if (r != 0)
		return r == STORE_ABSENT ? LIFECYCLE_NOT_FOUND : call_store_result(r);
	walk->list = (struct store_decision_list){decision, 1};
	return read_documents(tx, walk);
}

struct catalog_reading {
	struct str digest;
	struct store_catalog catalog;
};

static int run_catalog(struct store_tx *tx, void *arg)
{
	struct catalog_reading *reading = arg;

	return call_store_result(store_catalog_find(tx, reading->digest, &reading->catalog));
}

static int read_snapshot(struct walk *walk, struct arena *arena, int (*run)(struct store_tx *tx, void *arg), void *arg)
{
	int r = store_read(walk->retrial->lifecycle->store, arena, run, arg);

	return r < 0 ? call_store_result(r) : r;
}

/* ---- the catalogs of the decisions */

static struct own_catalog *oldest_of(struct walk *walk)
{
	struct own_catalog *oldest = &walk->own[0];

	for (size_t i = 1; i < OWN_CATALOGS; i++)
		if (walk->own[i].used < oldest->used)
			oldest = &walk->own[i];
	return oldest;
}

static int own_catalog(struct walk *walk, struct str digest, const struct catalog **ret)
{
	struct catalog_reading reading = {.digest = digest};
	struct own_catalog *slot = NULL;
	int r = 0;

	for (size_t i = 0; i < OWN_CATALOGS; i++)
		if (walk->own[i].catalog != NULL && str_equal(walk->own[i].catalog->digest, digest))
			slot = &walk->own[i];
	if (slot == NULL) {
		slot = oldest_of(walk);
		r = read_snapshot(walk, &walk->window, run_catalog, &reading);
		if (r != 0)
			return r;
		catalog_free(slot->catalog);
		slot->catalog = NULL;
		r = recall_catalog(reading.catalog.bytes, &slot->catalog);
	}
	slot->used = ++walk->uses;
	*ret = slot->catalog;
	return r;
}

/* ---- judging */

struct naming {
	const struct walk *walk;
	struct str decision;
	struct store_decision_subject subject;
};

static int run_subject(struct store_tx *tx, void *arg)
{
	struct naming *naming = arg;
	int r = store_decision_find_subject(tx, naming->decision, naming->walk->period.projects_json, &naming->subject);

	return r == STORE_ABSENT ? 0 : call_store_result(r);
}

static int write_words(struct walk *walk, const char *key, const struct replay *replay, struct json_out *out)
{
	json_out_key(out, key);
	return trace_write_words(&walk->window, &replay->admission, out);
}

static int write_change(struct walk *walk, const struct store_decision *decision, const struct replay *before,
	const struct replay *after, struct json_out *out)
{
	struct naming naming = {.walk = walk, .decision = decision->id};
	int r = read_snapshot(walk, &walk->window, run_subject, &naming);

	if (r != 0)
		return r;
	json_out_begin_object(out);
	json_out_member_str(out, "decisionId", decision->id);
	time_text_member(out, "createdAt", decision->created_at);
	json_out_member_str(out, "packageDigest", decision->package_digest);
	json_out_member_str(out, "catalogDigest", decision->catalog_digest);
	json_out_member_str(out, "project", naming.subject.project);
	json_out_member_str(out, "task", naming.subject.task);
	json_out_member_str(out, "packageId", naming.subject.package);
	json_out_member_str(out, "label", naming.subject.label);
	replay_diff_write(before, after, out);
	r = write_words(walk, "wordsBefore", before, out);
	if (r == 0)
		r = write_words(walk, "wordsAfter", after, out);
	json_out_end_object(out);
	return r;
}

static int tell_change(struct walk *walk, const struct store_decision *decision, const struct replay *before,
	const struct replay *after)
{
	enum admission_status was = before->admission.status;
	enum admission_status is = after->admission.status;
	struct listing *listing = was == is ? &walk->reasons : &walk->outcomes;

	walk->pairs[was][is]++;
	listing->count++;
	if (listing->listed == walk->retrial->listed_limit) {
		listing->has_next = true;
		return 0;
	}
	listing->listed++;
	listing->next = decision->sequence;
	return write_change(walk, decision, before, after, listing->out);
}

static void count_unlike(struct walk *walk, const struct store_decision *decision, const char *id, const char *result)
{
	if (decision->engine_revision != ADMISSION_ENGINE_REVISION)
		walk->other_engine++;
	else if (!str_is(decision->id, id) || !str_is(decision->result_digest, result))
		walk->unlike++;
}

static int compare(struct walk *walk, const struct store_decision *decision, struct str document,
	const struct recall_parts *before)
{
	CLEANUP(recall_parts_release) struct recall_parts after = {0};
	char id[DIGEST_TEXT_SIZE], result[DIGEST_TEXT_SIZE], other[DIGEST_TEXT_SIZE];
	int r = replay_digests(&before->replay, id, result);

	if (r != 0)
		return r;
	count_unlike(walk, decision, id, result);
	if (str_equal(decision->catalog_digest, walk->catalog->digest)) {
		walk->same++; /* it was judged by this very one just now */
		return 0;
	}
	r = recall_decide(walk->catalog, document, decision->inputs_json, &after);
	if (r == 0)
		r = replay_digests(&after.replay, id, other);
	if (r != 0)
		return r;
	if (strcmp(result, other) != 0)
		return tell_change(walk, decision, &before->replay, &after.replay);
	walk->same++;
	return 0;
}

static int judge(struct walk *walk, const struct store_decision *decision, struct str document)
{
	CLEANUP(recall_parts_release) struct recall_parts before = {0};
	const struct catalog *own = NULL;
	int r = 0;

	if (document.bytes == NULL) {
		walk->not_kept++;
		return 0;
	}
	r = own_catalog(walk, decision->catalog_digest, &own);
	if (r == 0)
		r = recall_decide(own, document, decision->inputs_json, &before);
	if (r != 0)
		return r;
	walk->judged++;
	if (walk->retrial->tells_prohibitions)
		r = liveness_add(&walk->liveness, &walk->arena, &walk->window, &before.replay.admission,
			before.document, decision);
	return r != 0 ? r : compare(walk, decision, document, &before);
}

static int judge_window(struct walk *walk)
{
	for (size_t i = 0; i < walk->list.count; i++) {
		int r = judge(walk, &walk->list.items[i], walk->documents[i]);

		if (r != 0)
			return r;
	}
	return 0;
}

static int tell_progress(struct walk *walk)
{
	const struct lifecycle_retrial *retrial = walk->retrial;

	return retrial->progress != NULL ? retrial->progress(retrial->arg, (uint64_t)walk->at, (uint64_t)walk->last)
					 : 0;
}

static int walk_period(struct walk *walk)
{
	int r = read_snapshot(walk, &walk->window, run_last, walk);

	walk->at = walk->retrial->after;
	while (r == 0 && walk->at < walk->last) {
		r = tell_progress(walk);
		if (r != 0)
			break;
		walk->through = walk->at + WINDOW;
		arena_reset(&walk->window);
		r = read_snapshot(walk, &walk->window, run_window, walk);
		if (r == 0)
			r = judge_window(walk);
		walk->at = walk->through;
	}
	return r;
}

static int walk_one(struct walk *walk)
{
	int r = read_snapshot(walk, &walk->window, run_one, walk);

	return r != 0 ? r : judge_window(walk);
}

/* ---- what is told behind the changes */

static void write_counts(const struct walk *walk, struct json_out *out)
{
	json_out_key(out, "counts");
	json_out_begin_object(out);
	json_out_member_int(out, "judged", (int64_t)walk->judged);
	json_out_member_int(out, "same", (int64_t)walk->same);
	json_out_member_int(out, "changed", (int64_t)(walk->outcomes.count + walk->reasons.count));
	json_out_member_int(out, "outcomes", (int64_t)walk->outcomes.count);
	json_out_member_int(out, "reasons", (int64_t)walk->reasons.count);
	json_out_member_int(out, "notKept", (int64_t)walk->not_kept);
	json_out_member_int(out, "otherEngine", (int64_t)walk->other_engine);
	json_out_member_int(out, "unlike", (int64_t)walk->unlike);
	json_out_end_object(out);
}

static void write_pairs(const struct walk *walk, struct json_out *out)
{
	json_out_key(out, "byStatus");
	json_out_begin_array(out);
	for (unsigned before = 0; before < STATUSES; before++) {
		for (unsigned after = 0; after < STATUSES; after++) {
			if (walk->pairs[before][after] == 0)
				continue;
			json_out_begin_object(out);
			json_out_member_text(out, "before", admission_status_name((enum admission_status)before));
			json_out_member_text(out, "after", admission_status_name((enum admission_status)after));
			json_out_member_int(out, "count", (int64_t)walk->pairs[before][after]);
			json_out_end_object(out);
		}
	}
	json_out_end_array(out);
}

static void write_next(const struct listing *listing, const char *key, struct json_out *out)
{
	if (listing->has_next)
		json_out_member_revision(out, key, listing->next);
	else
		json_out_member_null(out, key);
}

static int write_end(struct walk *walk, bool is_complete)
{
	struct json_out *out = walk->outcomes.out;

	json_out_end_array(out);
	json_out_end_array(walk->reasons.out);
	if (buf_error(&walk->held_back) != 0)
		return buf_error(&walk->held_back);
	write_next(&walk->outcomes, "next", out);
	json_out_member_raw(out, "reasons", buf_str(&walk->held_back));
	write_next(&walk->reasons, "nextReasons", out);
	write_counts(walk, out);
	write_pairs(walk, out);
	json_out_member_bool(out, "complete", is_complete);
	if (walk->retrial->tells_prohibitions)
		liveness_write(&walk->liveness, out);
	return 0;
}

static int run_walk(struct walk *walk)
{
	struct json_out *out = walk->outcomes.out;
	int r = scope_json(&walk->arena, &walk->retrial->scope, &walk->period.projects_json);

	if (r != 0)
		return r;
	json_out_member_str(out, "catalogDigest", walk->catalog->digest);
	json_out_key(out, "changes");
	json_out_begin_array(out);
	json_out_begin_array(walk->reasons.out);
	r = walk->retrial->decision.bytes != NULL ? walk_one(walk) : walk_period(walk);
	if (r < 0 || r == LIFECYCLE_NOT_FOUND || r == LIFECYCLE_NOT_STORED)
		return r;
	return write_end(walk, r == 0);
}

int lifecycle_rejudge(struct lifecycle_retrial *retrial, struct json_out *out)
{
	struct walk *walk = calloc(1, sizeof(*walk));
	int r = 0;

	if (walk == NULL)
		return -ENOMEM;
	walk->retrial = retrial;
	walk->outcomes.out = out;
	buf_init(&walk->held_back, REASONS_CEILING);
	json_out_init(&walk->held_back_out, &walk->held_back);
	walk->reasons.out = &walk->held_back_out;
	walk->period =
		(struct store_decision_period){.project = retrial->project, .from = retrial->from, .to = retrial->to};
	arena_init(&walk->arena, WINDOW_ARENA_BYTES);
	arena_init(&walk->window, WINDOW_ARENA_BYTES);
	walk->catalog =
		retrial->catalog != NULL ? retrial->catalog : lifecycle_catalog(retrial->lifecycle, &walk->arena);
	r = walk->catalog != NULL ? run_walk(walk) : -ENOMEM;
	for (size_t i = 0; i < OWN_CATALOGS; i++)
		catalog_free(walk->own[i].catalog);
	buf_release(&walk->held_back);
	arena_release(&walk->window);
	arena_release(&walk->arena);
	free(walk);
	return r;
}
