/* job_private.h - what the files of the lenient door share; nobody else includes it.
 */
#ifndef ADMITD_AGENTS_JOB_PRIVATE_H
#define ADMITD_AGENTS_JOB_PRIVATE_H

#include "agents/job.h"

struct job_reading {
	struct arena *arena;
	struct job *job;
	size_t drop_size;
	bool failed; /* memory ran out */
};

/* Reports what was dropped; `pointer` is formatted. */
void job_drop(struct job_reading *reading, bool is_whole, const char *reason, const char *pointer, ...)
	__attribute__((format(printf, 4, 5)));

/* A text of JSON; absent for anything else. */
struct str job_text(const json_t *value);

/* Reads one server at `place` ("/servers/3"); `id` is absent where the spec itself names it. */
void job_read_server(struct job_reading *reading, struct str id, json_t *value, const char *place);
void job_read_skill(struct job_reading *reading, const json_t *value, const char *place);

#endif
