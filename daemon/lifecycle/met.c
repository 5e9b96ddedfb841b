#include "daemon/lifecycle/met.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/lifecycle/due.h"

struct met_project {
	struct met_project *next;
	int result; /* 0; the fault for which it was given up */
	char id[];
};

static struct str id_of(const struct met_project *met)
{
	return (struct str){met->id, strlen(met->id)};
}

static struct met_project *find(const struct lifecycle_call *call, struct str project)
{
	struct met_project *met = call->met;

	while (met != NULL && !str_is(project, met->id))
		met = met->next;
	return met;
}

/* CALL_DUE_FIRST, or -ENOMEM. */
static int note(struct lifecycle_call *call, struct str project, int result)
{
	struct met_project *met = find(call, project);

	if (met == NULL) {
		met = calloc(1, sizeof(*met) + project.len + 1);
		if (met == NULL)
			return -ENOMEM;
		memcpy(met->id, project.bytes, project.len);
		met->next = call->met;
		call->met = met;
	}
	met->result = result;
	return CALL_DUE_FIRST;
}

int met_enter(struct store_tx *tx, struct lifecycle_call *call, struct str project)
{
	struct met_project *met = find(call, project);
	bool is_waiting = false;
	int r = met != NULL ? met->result : 0;

	if (r == 0)
		r = due_is_waiting(tx, project, call->now, &is_waiting);
	return r == 0 && is_waiting ? note(call, project, 0) : r;
}

int met_write_due(struct store_tx *tx, struct lifecycle_call *call)
{
	for (struct met_project *met = call->met; met != NULL; met = met->next) {
		int r = met->result == 0 ? due_write(tx, call->lifecycle, call->now, id_of(met)) : 0;

		if (r < 0)
			return note(call, id_of(met), r);
		if (r > 0)
			return r;
	}
	return 0;
}

int met_catch_up(struct lifecycle_call *call)
{
	for (struct met_project *met = call->met; met != NULL; met = met->next) {
		int r = met->result == 0 ? due_catch_up(call->lifecycle, id_of(met)) : 0;

		if (r > 0)
			return r;
		if (r < 0)
			met->result = r;
	}
	return 0;
}

int met_give_up(struct lifecycle_call *call, struct str project, int result)
{
	return note(call, project, result);
}

bool met_is_given_up(const struct lifecycle_call *call, struct str project)
{
	const struct met_project *met = find(call, project);

	return met != NULL && met->result != 0;
}

size_t met_given_up_count(const struct lifecycle_call *call)
{
	size_t count = 0;

	for (const struct met_project *met = call->met; met != NULL; met = met->next)
		count += met->result != 0;
	return count;
}

void met_free(struct lifecycle_call *call)
{
	while (call->met != NULL) {
		struct met_project *next = call->met->next;

		free(call->met);
		call->met = next;
	}
}
