/* fault_list.h - every fault of a document with its pointer, not only the first (chapter 4.1); not for other rooms.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_FAULT_LIST_H
#define ADMITD_DAEMON_LIFECYCLE_FAULT_LIST_H

#include "daemon/lifecycle/lifecycle.h"

/* Zeroed but for arena it is empty. */
struct fault_list {
	struct arena *arena;
	struct lifecycle_fault *items;
	size_t count;
	bool failed; /* memory ran out */
};

/* `text` is a literal; the pointer is printed. Beyond PLAN_FAULT_LIMIT nothing is added. */
void fault_list_add(struct fault_list *faults, const char *text, const char *pointer_format, ...)
	__attribute__((format(printf, 3, 4)));

/* A member's name as a step of a pointer (~ and / escaped). */
struct str fault_list_step(struct fault_list *faults, const char *name);

/* 0 without faults; else LIFECYCLE_INVALID_DOCUMENT with the faults in *ret_refusal, or -ENOMEM. */
int fault_list_result(const struct fault_list *faults, struct lifecycle_refusal *ret_refusal) MUST_USE;

#endif
