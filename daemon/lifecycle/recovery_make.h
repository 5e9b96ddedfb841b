/* recovery_make.h - one page of the queue while it is being made; not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_RECOVERY_MAKE_H
#define ADMITD_DAEMON_LIFECYCLE_RECOVERY_MAKE_H

#include "daemon/lifecycle/judged.h"
#include "daemon/lifecycle/recovery.h"

/* A held package that may share a cause or be opened by another's approval. */
struct recovery_member {
	struct store_package row;
	struct lifecycle_hold hold;
	struct subject subject;
	struct str cause; /* key; absent: it stands alone */
};

/* What the project's approval of a set of reads would open; asked for once a set. */
struct recovery_always {
	const struct catalog_capability **asked;
	size_t asked_count;
	struct str *opens;
	size_t opens_count;
	struct recovery_always *next;
};

struct recovery_cause {
	struct lifecycle_cause cause;
	struct recovery_cause *next;
};

/* One project, opened once a page. */
struct recovery_world {
	struct world world;
	bool has_members;
	struct recovery_member *members;
	size_t member_count;
	struct recovery_always *always;
	struct recovery_cause *causes;
	struct recovery_world *next;
};

struct recovering {
	const struct lifecycle_reader *reader;
	struct store_tx *tx;
	struct lifecycle_call call; /* whose actor and time the judgements use */
	struct recovery_world *worlds;
	struct arena scratch; /* of judgements that are only looked at; reset after each */
};

/* The task of an item, with all that judged packages are told of it. */
struct recovery_task {
	struct store_task row;
	struct store_package_list packages;
	struct store_dependency_list edges;
	struct judged_context context;
};

int recovery_open_world(struct recovering *work, struct str project, struct recovery_world **ret) MUST_USE;
int recovery_open_task(struct recovering *work, struct str id, struct recovery_task *ret) MUST_USE;

/* Fills the item from the row of its list (recovery_item.c). */
int recovery_make_item(
	struct recovering *work, const struct store_queue_row *row, struct lifecycle_recovery_item *ret) MUST_USE;

/* Whether the package is held on a world as given, looked at only. */
int recovery_is_held(
	struct recovering *work, const struct world *world, const struct subject *subject, bool *ret) MUST_USE;

/* For a package that is held for a grant (recovery_group.c). */
int recovery_find_opens(struct recovering *work, struct recovery_world *place, const struct subject *subject,
	struct lifecycle_opens *ret) MUST_USE;
/* The same by itself, outside the queue. */
int recovery_opens_of(struct store_tx *tx, const struct lifecycle_reader *reader, const struct store_package *row,
	struct lifecycle_opens *ret) MUST_USE;
/* Its words; the packages are there (recovery_words.c). */
int recovery_say_opens(struct world *world, const struct store_package *row, struct lifecycle_opens *opens) MUST_USE;
/* What one deed does to all of a cause. 0 or -ENOMEM. */
int recovery_say_cause(struct world *world, enum action_id id, struct lifecycle_cause *cause) MUST_USE;
/* item->cause; its actions are those of the item, for all of the cause. */
int recovery_find_cause(
	struct recovering *work, struct recovery_world *place, struct lifecycle_recovery_item *item) MUST_USE;

#endif
