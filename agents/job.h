/* job.h - the lenient door: the tool servers and skills that a job's body brings along (chapter 5.6).
 *
 * A body is written by another program, and one bad item must not take the good ones with it: bad items are dropped, and every drop
 * is reported with its pointer and reason. Leniency ends where leaving something out would allow more: a server whose list of
 * allowed tools can't be read goes as a whole. What is left passes the strict door (spec.h), so both know the same specs.
 *
 *   {"servers": [spec, …], "mcpServers": {id: spec, …}, "skills": [{name, description, instructions, resources}]}
 *
 * `mcpServers` is the shape of people's files, whose `type` is our `transport`. Without a transport a command makes a stdio server
 * and a URL an http one. Members of a spec that aren't known are reported and left out: nobody judged them. Other members of the
 * body are the job's own. May use policy only. Any thread.
 */
#ifndef ADMITD_AGENTS_JOB_H
#define ADMITD_AGENTS_JOB_H

#include "agents/skill.h"
#include "agents/spec.h"

struct job_drop {
	struct str pointer; /* RFC 6901, from the body */
	struct str reason;
	bool is_whole; /* the server or skill itself; else a part of one that was kept */
};

struct job {
	struct spec *servers; /* in order, ids distinct */
	size_t server_count;
	struct skill *skills; /* in order, names distinct */
	size_t skill_count;
	struct job_drop *drops;
	size_t drop_count;

	json_t *held; /* what servers borrow from */
};

/* Reads a body, which must outlive the job; the rest lives in the arena. What is no object holds nothing. 0 or -ENOMEM; the job is
 * to be released in both cases. */
int job_read(struct arena *arena, json_t *body, struct job *ret) MUST_USE;
void job_release(struct job *job);

#endif
