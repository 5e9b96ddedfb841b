/* audit_keeper.h - a thread that makes checkpoints, exports them, and lets go of what is old (chapter 2.8).
 *
 * A checkpoint is made when so many rows came since the last one, or so long after it if any row came; also at the start and the
 * end. It is signed, stored, and appended to the export folder; one that couldn't be exported is, with the next. Retention
 * exports whole segments between checkpoints and then deletes them, never while the log is being checked. Prints nothing: what
 * goes wrong is told to its owner, and tried again.
 */
#ifndef ADMITD_DAEMON_AUDIT_AUDIT_KEEPER_H
#define ADMITD_DAEMON_AUDIT_AUDIT_KEEPER_H

#include "daemon/audit/audit_verify.h"

enum { AUDIT_EVERY_ROWS = 1000, AUDIT_EVERY_SECONDS = 3600 };

struct audit_keeper;

struct audit_keeper_config {
	struct store *store;
	const struct audit_key *key;     /* NULL: checkpoints are unsigned */
	const struct audit_trust *trust; /* the key's public part is among them; outlives the keeper */
	const char *export_folder;       /* NULL: nothing is exported */
	int64_t every_rows;              /* 0 = 1000 */
	int64_t every_ms;                /* 0 = an hour */
	int64_t keep_ms;                 /* rows older than this go, when export_folder is set; 0 = all stay */
	/* From the keeper's thread: `what` (a literal) failed with -errno, or a store_result; 0: it works again. May be NULL. */
	void (*tell)(void *arg, const char *what, int result);
	void *arg;
};

/* Looks at the export folder and starts. 0, an audit_file_result, or -errno. */
int audit_keeper_start(const struct audit_keeper_config *config, struct audit_keeper **ret) MUST_USE;
/* Makes a last checkpoint and ends the thread. Before store_close. NULL is fine. */
void audit_keeper_stop(struct audit_keeper *keeper);
/* The log's last sequence now. Any thread; short. NULL is fine. */
void audit_keeper_wake(struct audit_keeper *keeper, int64_t last_sequence);

/* The check, with the keeper's keys and export folder; retention waits for it. As audit_verify_store. Any thread. */
int audit_keeper_verify(struct audit_keeper *keeper, bool (*progress)(void *arg, const struct audit_verdict *so_far),
	void *arg, struct audit_verdict *ret) MUST_USE;

struct audit_keeper_facts {
	bool has_key;
	char key_id[AUDIT_KEY_ID_SIZE];
	bool exports;
	bool is_exported; /* every checkpoint is */
	bool is_failing;  /* the last try of something failed */
	int64_t number;   /* of the last checkpoint; 0: none */
	int64_t sequence;
	int64_t at;
	int64_t last_sequence; /* of the log */
};

/* Any thread. */
void audit_keeper_read(struct audit_keeper *keeper, struct audit_keeper_facts *ret);

#endif
