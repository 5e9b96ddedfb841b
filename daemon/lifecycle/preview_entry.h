/* preview_entry.h - what one preview leaves to be written (chapter 2.3); not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_PREVIEW_ENTRY_H
#define ADMITD_DAEMON_LIFECYCLE_PREVIEW_ENTRY_H

#include "daemon/lifecycle/asked.h"
#include "daemon/lifecycle/preview_log.h"
#include "daemon/store/decision.h"

struct preview_record {
	struct store_decision decision; /* without its time */
	struct store_event event;       /* without time and actor */
	struct str
		document; /* of a package that isn't stored: without it nobody could judge again (2.7); else absent */
	struct preview_record *next;
};

struct preview_entry {
	struct arena arena;
	struct preview_record *first, **last;
	struct store_actor actor;
	int64_t now;
	struct lifecycle_asked *asked;
	struct preview_entry *next; /* of a batch */
};

/* Takes over who asked, when, and the health that was asked for the call. 0 or -ENOMEM. */
int preview_entry_close(struct preview_entry *entry, struct lifecycle_call *call) MUST_USE;
/* Writes it: health with what follows from it, decisions, events, and the packages' last preview. 0 or -errno. */
int preview_entry_write(struct store_tx *tx, struct lifecycle *lifecycle, const struct preview_entry *entry) MUST_USE;

#endif
