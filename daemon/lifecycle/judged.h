/* judged.h - a verdict as the surfaces answer and record it; not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_JUDGED_H
#define ADMITD_DAEMON_LIFECYCLE_JUDGED_H

#include "daemon/lifecycle/hold_make.h"
#include "daemon/lifecycle/surface.h"
#include "daemon/lifecycle/world.h"

/* What a surface knows of the task beside its packages. */
struct judged_context {
	enum store_surface surface;
	const struct store_task *task;                    /* NULL: not stored */
	const struct store_dependency_list *dependencies; /* of the task; NULL: none */
	const struct store_package_list *packages;        /* of the task; NULL: none */
	bool has_result;                                  /* previews carry the whole result */
};

/* Fills one judged package; everything in it outlives the world. */
int judged_make(struct world *world, const struct verdict *verdict, const struct judged_context *context,
	struct lifecycle_judged *ret) MUST_USE;

/* The type of a surface's events: "surface.preview", … */
struct str judged_event_type(enum store_surface surface);
/* The payload of a surface event: status, what it was compared with, health as given. Into an empty buffer. 0 or -errno. */
int judged_payload(struct world *world, const struct verdict *verdict, const struct judged_context *context,
	const struct lifecycle_judged *judged, struct buf *ret_payload) MUST_USE;
/* The surface event of a stored package (2.1); its decision is stored already. `judged` as made before. */
int judged_record(struct world *world, const struct verdict *verdict, const struct judged_context *context,
	const struct lifecycle_judged *judged) MUST_USE;

/* The folded status, the counts, and health as the engine was given it, over all verdicts. */
int judged_fold(struct world *world, const struct verdict *verdicts, struct lifecycle_judgement *judgement) MUST_USE;

/* Health as given: an array of 1.11's `health` objects, one for each server that the verdicts refer to, by id. */
int judged_health(struct world *world, const struct verdict *verdicts, size_t count, struct str *ret_json) MUST_USE;

/* Whether an unfinished package of the context's task depends on this one. */
bool judged_has_dependents(const struct judged_context *context, struct str package);

/* Whether the actor contributed to this task and may therefore not approve (4.1). */
int judged_is_contributor(struct world *world, const struct store_task *task, bool *ret) MUST_USE;

#endif
