/* recall.h - what was decided: why, once more, and by another catalog (chapters 2.7, 4.2).
 *
 * Reads only, each in short snapshots; what is judged is judged outside of them. A decision is nobody's: who may see one is said by the
 * events that name it. Any thread; a period is long work, for a job.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_RECALL_H
#define ADMITD_DAEMON_LIFECYCLE_RECALL_H

#include <jansson.h>

#include "daemon/lifecycle/lifecycle.h"
#include "daemon/lifecycle/view.h"
#include "daemon/store/decision.h"
#include "policy/json_out.h"
#include "policy/replay.h"

/* One decision, made again with its own catalog by the engine of today. */
struct lifecycle_recall {
	struct store_decision decision;
	bool is_decided; /* false: its document isn't kept, and nothing of the following is there */
	json_t *document;
	json_t *record; /* its inputs */
	struct catalog *catalog;
	struct replay replay;
	char id[DIGEST_TEXT_SIZE];     /* that it has now */
	char result[DIGEST_TEXT_SIZE]; /* digest of its result now */
};

/* 0, LIFECYCLE_NOT_FOUND, LIFECYCLE_NOT_STORED (the store is busy), or -errno. What was read lives in the reader's arena, the rest until
 * lifecycle_recall_release(), which is called in any case.
 */
int lifecycle_recall(const struct lifecycle_reader *reader, struct str id, struct lifecycle_recall *ret) MUST_USE;
void lifecycle_recall_release(struct lifecycle_recall *recall);

/* Whether deciding again gave the same bytes. */
bool lifecycle_recall_is_same(const struct lifecycle_recall *recall);

enum { RECALL_LISTED_USUAL = 100, RECALL_LISTED_MAX = 500 };

/* One decision or a period of them, judged by another catalog. */
struct lifecycle_retrial {
	struct lifecycle *lifecycle;
	struct lifecycle_scope scope;
	const struct catalog *catalog; /* to judge by; NULL: the one in force */
	struct str decision;           /* this one, or */
	struct str project;            /* those that an event of this project (absent: any) */
	int64_t from, to;              /* and of this time names; 0: without a bound */
	int64_t after;                 /* go on behind this sequence: `next` of the answer before */
	size_t listed_limit;           /* of each list */
	bool tells_prohibitions;
	/* Called now and then, outside any snapshot; what it answers but 0 ends the walk: positive, what was judged so far is told. */
	int (*progress)(void *arg, uint64_t done, uint64_t total);
	void *arg;
};

/* Judges and writes the members of an open object:
 *  catalogDigest  the one that was judged by
 *  changes        those with another outcome, the first of them: [{decisionId, createdAt, packageDigest, catalogDigest, project, task,
 *                 packageId, label, replay_diff_write()'s, wordsBefore, wordsAfter {sign, tone, headline, detail}}]; project to label
 *                 are of what it was last made for, null where it was made for no stored package
 *  next           where to go on for more of them, a decimal string; null: all are listed
 *  reasons        those with the same outcome for another reason, the first of them, in the same shape
 *  nextReasons    where to go on for more of these
 *  counts         {judged, same, changed, outcomes, reasons, notKept, otherEngine, unlike}: changed = outcomes + reasons; notKept have no document any more; otherEngine were made by
 *                 another engine revision; unlike gave other bytes with their own catalog and engine revision, which is an alarm
 *  byStatus       [{before, after, count}] of the changed
 *  complete       false: `progress` ended it
 *  prohibitions   [{capability, declared, matched, lastMatched}] over the period with each decision's own catalog, if asked for
 * 0, LIFECYCLE_NOT_FOUND (the one decision), LIFECYCLE_NOT_STORED, or -errno, also `progress`'s.
 */
int lifecycle_rejudge(struct lifecycle_retrial *retrial, struct json_out *out) MUST_USE;

#endif
