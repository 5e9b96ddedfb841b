/* words_event.h - what an event of the log says to people (chapters 2.1 and 7.4): a sign, a headline, what follows from it.
 *
 * One table for API, console and command line, beside that of states (words.h), for every type of event. A headline names people, projects,
 * packages and servers by their ids and says nothing that somebody else wrote: that stands in `quote`, with who wrote it. Words are made when
 * they are asked for, and are never part of what is stored or chained. Pure, any thread.
 */
#ifndef ADMITD_POLICY_WORDS_EVENT_H
#define ADMITD_POLICY_WORDS_EVENT_H

#include <jansson.h>

#include "policy/arena.h"
#include "policy/json_out.h"

struct event_facts {
	struct str type;       /* "grant.recorded", … */
	struct str who;        /* principal of the actor; absent: the daemon itself */
	struct str project;    /* id, absent for none */
	bool is_of_package;    /* it is about one package; a grant: not for the whole project */
	bool is_of_dependency; /* told in the story of a package that waited for this one */
	int64_t held;          /* packages that a grant held at once, */
	int64_t freed;         /* and that it freed; 0: none, or not counted */
	const json_t *payload; /* an object; NULL: not at hand */
};

struct event_words {
	const char *sign; /* of 7.4's table, or "diamond", "dot" and "play" */
	const char *tone; /* 1.12's */
	struct str headline;
	struct str detail; /* absent: nothing more to say */
	struct str quote;  /* somebody else's words; absent: none */
	struct str by;     /* whose they are: a principal, or a tool server's id */
	bool is_minor;     /* it only follows from something else that is told: may be folded */
};

/* A type that isn't known is told by its name. 0 or -ENOMEM; pieces live in `arena` or in what `facts` points at. */
int event_words(struct arena *arena, const struct event_facts *facts, struct event_words *ret_words) MUST_USE;

/* {sign, tone, headline, detail, quote {text, by}, minor}; detail and quote may be null. */
void event_words_write(const struct event_words *words, struct json_out *out);

#endif
