/* finding.h - what one check found, in words that may be shown (chapters 1.6, 5.7).
 *
 * A finding begins as unknown and gets its status once. What a server sent is only ever repeated through finding_quote(), which
 * takes out the secrets of its spec and whatever else looks like one. One thread.
 */
#ifndef ADMITD_PROBER_FINDING_H
#define ADMITD_PROBER_FINDING_H

#include "agents/probe_message.h"
#include "agents/secret_mask.h"

struct finding {
	struct arena *arena;
	struct secret_mask mask;
	enum health_install_state install_state;
	enum health_status status;
	struct str error; /* absent: none */
	bool is_settled;
};

/* 0 or -ENOMEM. */
int finding_begin(struct finding *finding, struct arena *arena, const struct spec *spec) MUST_USE;

/* Settles it, unless it is settled. The text is of ours. */
void finding_set(struct finding *finding, enum health_status status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same, with what the server sent behind the text, when there is something. */
void finding_quote(struct finding *finding, enum health_status status, const char *text, struct str sent);
void finding_healthy(struct finding *finding);

#endif
