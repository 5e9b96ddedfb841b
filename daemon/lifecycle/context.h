/* context.h - the context packet of a run: what it may read, and the record that it was read (chapters 2.5, 5.2).
 *
 * Reading is long work and never done in a transaction, so it lies between two calls. lifecycle_open_context() says what the run's grants cover,
 * if each of them still stands. Whoever called reads that much of the disk and asks lifecycle_record_context(), which looks again, writes the facts and
 * so says whether the packet may be given out. Contents, names and paths of files are in neither call and are never stored.
 *
 * Both: NOT_FOUND, FORBIDDEN, RUN_ENDED, and GRANT_WITHDRAWN where a grant that the run names was denied, taken back, narrowed, expired or made for
 * another root, or where the run was given no context at all.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_CONTEXT_H
#define ADMITD_DAEMON_LIFECYCLE_CONTEXT_H

#include "daemon/lifecycle/lifecycle.h"
#include "reader/packet.h"

/* What a run may read. */
struct lifecycle_context_scope {
	struct str root_path; /* ends in NUL; the machine's: never shown or stored */
	uint64_t root_device; /* which directory was set; another one isn't read */
	uint64_t root_inode;
	struct str root_ref; /* opaque */
	int64_t root_revision;
	const struct str *capabilities; /* by name, once each */
	size_t capability_count;
	struct packet_request request; /* but for its limits */
	bool is_request_cut;           /* the document asks for more patterns or paths than a packet takes */
};

struct lifecycle_context {
	struct lifecycle_call call;
	struct str run;
	bool has_run_token; /* the request carried this run's token; else the actor must be who claimed it */

	struct lifecycle_context_scope scope; /* out */
};

struct lifecycle_context_record {
	struct lifecycle_call call;
	struct str run;
	bool has_run_token;
	const struct lifecycle_context_scope *scope; /* what was read; outlives the call, as the next */
	const struct packet_facts *facts;

	struct str facts_json; /* out: what is stored now, an object */
};

int lifecycle_open_context(struct lifecycle *lifecycle, struct lifecycle_context *call) MUST_USE;
int lifecycle_record_context(struct lifecycle *lifecycle, struct lifecycle_context_record *call) MUST_USE;

#endif
