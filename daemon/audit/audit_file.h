/* audit_file.h - the export folder: what whoever holds the store can't take back (chapter 2.8).
 *
 *	checkpoints.jsonl               a line for each checkpoint, appended and synced
 *	log-NNNNNNNNNNNN-NNNNNNNNNNNN.jsonl  rows that retention took out of the store: begin, checkpoint before, rows, checkpoint
 *
 * Lines as in audit_line.h. Files are 0600; the folder is there already, and best on another machine or owned by another user.
 * One thread at a time. Prints nothing.
 */
#ifndef ADMITD_DAEMON_AUDIT_AUDIT_FILE_H
#define ADMITD_DAEMON_AUDIT_AUDIT_FILE_H

#include "daemon/audit/audit_line.h"

#define AUDIT_FILE_CHECKPOINTS "checkpoints.jsonl"

enum audit_file_result {
	AUDIT_FILE_FOREIGN = 1, /* its checkpoints are another store's */
	AUDIT_FILE_DAMAGED,     /* it holds a line that isn't one */
};

/* The last line of checkpoints.jsonl; number 0: none yet. A line that a crash cut off is taken away. 0, a result above, or -errno. */
int audit_file_last(const char *folder, struct str store_id, struct store_checkpoint *ret) MUST_USE;

/* Appends one line and syncs it. 0 or -errno. */
int audit_file_append(const char *folder, struct str store_id, const struct store_checkpoint *row) MUST_USE;

/* Writes a segment's rows into a file of their own, whole and synced, or not at all; again is fine. 0 or -errno. */
int audit_file_segment(const char *folder, struct store *store, const struct store_segment *segment) MUST_USE;

#endif
