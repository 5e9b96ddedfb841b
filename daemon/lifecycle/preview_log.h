/* preview_log.h - records of previews, written after the answer (chapter 2.3); not for other rooms.
 *
 * A preview's decision and event are queued when it is answered. One batch at a time is with the store; what comes meanwhile waits
 * for the next, so that many previews cost one commit. The same decision on the same subject again within a minute is folded:
 * nothing is written. What waits is bounded; a preview that doesn't fit is refused. Any thread.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_PREVIEW_LOG_H
#define ADMITD_DAEMON_LIFECYCLE_PREVIEW_LOG_H

#include "daemon/lifecycle/judged.h"
#include "daemon/lifecycle/lifecycle_inner.h"

/* NULL when memory is out. */
struct preview_log *preview_log_new(struct lifecycle *lifecycle);
/* Writes what waits, then frees. After call_worker_stop(). NULL is fine. */
void preview_log_free(struct preview_log *log);

/* Hands what waits to the store at once, so that what is submitted next comes after it. */
void preview_log_flush(struct preview_log *log);

/* Hands over what the store had no room for. */
void preview_log_take_up(struct preview_log *log);

/* Whether this decision on this subject (a package's id, or a document's digest) needs no record now. */
bool preview_log_folds(struct preview_log *log, struct str subject, struct str decision_id, int64_t now);

/* What one preview leaves: a record for each package, and the health that was asked for it. */
struct preview_entry;

/* NULL when memory is out. */
struct preview_entry *preview_entry_new(void);
void preview_entry_free(struct preview_entry *entry);
/* Adds a copy of one judged package. 0 or -errno. */
int preview_entry_add(struct preview_entry *entry, struct world *world, const struct verdict *verdict,
	const struct judged_context *context, const struct lifecycle_judged *judged) MUST_USE;

/* Takes over who asked, when, and the health that was asked for the call, and queues the entry, which the log owns from here on. 0,
 * or LIFECYCLE_QUEUE_FULL and nothing is queued; the entry is the caller's still.
 */
int preview_log_add(struct preview_log *log, struct lifecycle_call *call, struct preview_entry *entry) MUST_USE;

/* Sets the members about previews. */
void preview_log_stats_read(struct preview_log *log, struct lifecycle_stats *ret);

#endif
