/* store_private.h - the inside of struct store, for store.c, writer.c, reader.c, checkpoint.c and backup.c only. */
#ifndef ADMITD_DAEMON_STORE_STORE_PRIVATE_H
#define ADMITD_DAEMON_STORE_STORE_PRIVATE_H

#include <pthread.h>

#include "daemon/store/folder.h"
#include "daemon/store/sql.h"
#include "daemon/store/store.h"

enum { STORE_ID_BYTES = 16 };

struct store_reader {
	struct sql_connection connection;
	struct store_reader *next; /* among the free ones */
};

struct store {
	struct store_config config; /* with the defaults filled in */
	struct folder folder;
	unsigned char id[STORE_ID_BYTES];
	char identity[2 * STORE_ID_BYTES + 1];

	/* the writer thread's alone */
	struct sql_connection writer;
	struct store_chain head;
	pthread_t writer_thread;
	bool has_writer_thread;

	/* under `lock` */
	pthread_mutex_t lock;
	pthread_cond_t wake; /* the writer: there is work, or the end */
	struct store_op *first;
	struct store_op *last;
	struct backup *backup; /* that somebody waits for; the writer works on it */
	bool is_closing;
	struct store_stats stats;

	/* the checkpoint thread's alone, but for what it is to do, which is under `lock` */
	struct sql_connection checkpointer;
	pthread_cond_t checkpoint_wake;
	enum { CHECKPOINT_NONE, CHECKPOINT_WANTED, CHECKPOINT_RUNNING } checkpoint;
	uint64_t copied_frames; /* how long the log was when the last checkpoint had copied all of it; 0: it hadn't */
	pthread_t checkpoint_thread;
	bool has_checkpoint_thread;

	/* under `reader_lock` */
	pthread_mutex_t reader_lock;
	pthread_cond_t reader_wake;
	struct store_reader *readers;
	struct store_reader *free_readers;
	unsigned busy_readers;
};

int writer_start(struct store *store) MUST_USE;
/* After is_closing is set: the queue runs empty first. */
void writer_stop(struct store *store);
int checkpoint_start(struct store *store) MUST_USE;
void checkpoint_stop(struct store *store);
/* From the writer, after each commit: asks the thread, or does it when the log has grown too far. */
void checkpoint_after_commit(struct store *store);

/* From the writer, between batches, while store->backup is there: copies a piece. */
void backup_step(struct store *store);
/* From the writer, at its end: who waits is told. */
void backup_stop(struct store *store);

int reader_open_all(struct store *store) MUST_USE;
/* Waits for the busy ones. */
void reader_close_all(struct store *store);

/* S5: from now on nothing is written; tells the owner once. Not under `lock`. */
void store_break(struct store *store);
bool store_is_broken(struct store *store);

#endif
