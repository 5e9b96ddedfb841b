/* words.h - the words that several entities write, each once (daemon/store only). */
#ifndef ADMITD_DAEMON_STORE_WORDS_H
#define ADMITD_DAEMON_STORE_WORDS_H

#include <string.h>

#include "daemon/store/event.h"
#include "daemon/store/grant.h"
#include "daemon/store/task.h"

enum { WORDS_MODE_COUNT = STORE_GRANT_ALWAYS_ALLOW + 1 };

extern const char *const words_task_status[STORE_TASK_STATUS_COUNT];
extern const char *const words_grant_mode[WORDS_MODE_COUNT];
extern const char *const words_surface[STORE_SURFACE_COUNT]; /* the first is NULL: no surface */

/* A word as a str; NULL = absent. */
static inline struct str words_str(const char *word)
{
	return word ? (struct str){word, strlen(word)} : (struct str){0};
}

#endif
