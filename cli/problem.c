#include "cli/problem.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/document.h"
#include "policy/cleanup.h"

static const struct {
	const char *code;
	const char *advice;
} advices[] = {
	{"unauthenticated", "give a token: --token-file FILE, ADMITD_TOKEN, or --state DIR for the first admin token"},
	{"admission_blocked", "free what blocks it, then the same command"},
	{"inputs_changed", "the world changed meanwhile; the same command again"},
	{"in_progress", "the same request is still being answered; the same command again"},
	{"plan_revision_conflict", "another plan came meanwhile; read it, then decide again"},
	{"revision_conflict", "another decision came meanwhile; read it, then decide again"},
	{"root_changed", "the project's folder changed meanwhile; read again, then decide again"},
	{"precondition_failed", "it changed meanwhile; read again, then decide again"},
	{"already_covered", "nothing to do: the project's grant covers it already"},
	{"nothing_to_revoke", "nothing to do: there is no grant to take back"},
	{"run_active", "wait until these runs end, or cancel them"},
	{"run_ended", "the run is over: stop, and discard what it made"},
	{"outcome_conflict", "another outcome was reported: stop, and discard what this one made"},
	{"idempotency_mismatch", "this key was used for another request; leave --idempotency-key out"},
	{"root_missing", "give the project a folder first: admitctl project set PROJECT --root DIR"},
	{"rate_limited", "come again later"},
	{"queue_full", "come again later; nothing was lost"},
	{"shutting_down", "come again when the daemon is back"},
	{"not_stored", "nothing happened; the same command again"},
	{"outcome_unknown", "repeat it with the same --idempotency-key once the daemon is back: it tells what is true"},
};

const char *problem_advice(const char *code)
{
	for (size_t i = 0; code != NULL && i < sizeof(advices) / sizeof(advices[0]); i++) {
		if (strcmp(advices[i].code, code) == 0)
			return advices[i].advice;
	}
	return NULL;
}

static void say_faults(const json_t *problem)
{
	const json_t *fault;
	size_t index;

	json_array_foreach(json_object_get(problem, "faults"), index, fault)
	{
		const char *pointer = document_text_or_empty(fault, "pointer");

		cli_say("  %s: %s", *pointer == '\0' ? "/" : pointer, document_text_or_empty(fault, "detail"));
	}
}

/* "a, b" of an array of texts under a label; nothing for an empty or absent one. */
static void say_list(const json_t *problem, const char *key, const char *label)
{
	CLEANUP(cli_buf_drop) struct buf list = {0};
	const json_t *item;
	size_t index;

	buf_init(&list, 64 * 1024);
	json_array_foreach(json_object_get(problem, key), index, item)
	{
		if (json_string_value(item) != NULL)
			buf_printf(&list, "%s%s", list.len == 0 ? "" : ", ", json_string_value(item));
	}
	if (list.len > 0)
		cli_say("  %s: %s", label, buf_str(&list).bytes);
}

/* 409 and 412 carry the record that stands. */
static void say_current(const json_t *problem)
{
	const json_t *record = json_object_get(problem, "current");
	const char *who = document_text(json_object_get(record, "actor"), "principal");
	const char *when = document_text(record, "at");
	const char *reason = document_text(record, "reason");
	const char *revision = document_text(record, "revision");

	if (who == NULL && when == NULL)
		return;
	cli_say("  what stands:%s%s%s%s%s%s%s%s", revision == NULL ? "" : " revision ",
		revision == NULL ? "" : revision, who == NULL ? "" : " by ", who == NULL ? "" : who,
		when == NULL ? "" : " at ", when == NULL ? "" : when, reason == NULL ? "" : ": ",
		reason == NULL ? "" : reason);
}

void problem_say(const struct client_reply *reply)
{
	const json_t *problem = reply->json;
	const char *code = document_text(problem, "code");
	const char *title = document_text(problem, "title");
	const char *detail = document_text(problem, "detail");
	const char *instance = document_text(problem, "instance");
	const char *status = document_text(problem, "currentStatus");
	const char *outcome = document_text(problem, "outcome");

	if (code == NULL || title == NULL) {
		cli_say("%s (%ld)",
			reply->status >= 300 && reply->status < 400
				? "the server sends elsewhere, which is not followed; is this URL admitd's?"
				: "refused without a reason that admitd gives; is this URL admitd's?",
			reply->status);
		return;
	}
	cli_say("%s (%ld %s)", title, reply->status, code);
	if (detail != NULL)
		cli_say("  %s", detail);
	if (status != NULL)
		cli_say("  its status: %s", status);
	if (outcome != NULL)
		cli_say("  its outcome: %s", outcome);
	say_faults(problem);
	say_list(problem, "roleNeeded", "one of these roles is needed");
	say_list(problem, "missing", "missing");
	say_list(problem, "notAsked", "not asked for");
	say_list(problem, "runs", "runs");
	say_current(problem);
	if (problem_advice(code) != NULL)
		cli_say("  %s", problem_advice(code));
	if (instance != NULL)
		cli_say("  request %s", instance);
}
