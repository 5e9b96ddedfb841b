#include "cli/remedy.h"

#include <ctype.h>
#include <string.h>

#include "cli/document.h"

void remedy_quote(struct buf *out, const char *word)
{
	bool is_plain = *word != '\0';

	for (const char *at = word; *at != '\0'; at++)
		is_plain = is_plain && (isalnum((unsigned char)*at) || strchr("-._/:@%+,=", *at) != NULL);
	if (is_plain) {
		buf_puts(out, word);
		return;
	}
	buf_putc(out, '\'');
	for (; *word != '\0'; word++) {
		if (*word == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, *word);
	}
	buf_putc(out, '\'');
}

static void add_option(struct buf *out, const char *option, const char *value)
{
	if (value == NULL)
		return;
	buf_printf(out, " %s ", option);
	remedy_quote(out, value);
}

/* The segment of a path behind `prefix`, as text; false for another path. */
static bool segment_of(const char *href, const char *prefix, struct buf *ret_segment)
{
	size_t length = strlen(prefix);

	if (href == NULL || strncmp(href, prefix, length) != 0)
		return false;
	buf_add(ret_segment, href + length, strcspn(href + length, "/?"));
	return ret_segment->len > 0 && buf_error(ret_segment) == 0;
}

static void add_revisions(struct buf *out, const json_t *body)
{
	add_option(out, "--expected-revision", document_text(body, "expectedRevision"));
	add_option(out, "--root-revision", document_text(body, "rootRevision"));
}

/* A package's approval covers all it asks for, so its capabilities need not be named; a project's does not. */
static void add_grant(struct buf *out, const char *verb, const char *package, const char *project, const json_t *body)
{
	const json_t *capability;
	size_t index;

	buf_printf(out, "admitctl %s", verb);
	if (package != NULL) {
		buf_putc(out, ' ');
		remedy_quote(out, package);
	}
	add_option(out, "--project", project);
	if (project != NULL) {
		json_array_foreach(json_object_get(body, "capabilities"), index, capability)
			add_option(out, "--capability", json_string_value(capability));
	}
	add_revisions(out, body);
}

static bool grant_command(struct buf *out, const json_t *action)
{
	static const struct {
		const char *decision;
		const char *verb;
	} verbs[] = {{"approved", "grant"}, {"denied", "deny"}, {"revoked", "revoke"}};
	const json_t *body = json_object_get(action, "body");
	const char *href = document_text(action, "href");
	const char *decision = document_text_or_empty(body, "decision");
	const char *verb = NULL;
	struct buf package;
	struct buf project;
	bool is_package;
	bool is_project;

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(verbs[i].decision, decision) == 0)
			verb = verbs[i].verb;
	}
	buf_init(&package, 512);
	buf_init(&project, 512);
	is_package = segment_of(href, "/v1/packages/", &package);
	is_project = segment_of(href, "/v1/projects/", &project);
	if (verb != NULL && (is_package || is_project))
		add_grant(out, verb, is_package ? package.bytes : NULL, is_project ? project.bytes : NULL, body);
	buf_release(&package);
	buf_release(&project);
	return verb != NULL && (is_package || is_project);
}

static bool is_id(const json_t *action, const char *id)
{
	return strcmp(document_text_or_empty(action, "id"), id) == 0;
}

/* "admitctl VERB ID" of the id in the action's path; false for another path. */
static bool add_verb(struct buf *out, const char *verb, const json_t *action, const char *prefix)
{
	struct buf id;
	bool is_there;

	buf_init(&id, 512);
	is_there = segment_of(document_text(action, "href"), prefix, &id);
	if (is_there) {
		buf_printf(out, "admitctl %s ", verb);
		remedy_quote(out, id.bytes);
	}
	buf_release(&id);
	return is_there;
}

/* What is done to a plan or a package. */
static bool move_command(struct buf *out, const json_t *action)
{
	static const struct {
		const char *id, *verb, *prefix;
	} moves[] = {
		{"request_changes", "changes", "/v1/tasks/"},
		{"reject", "reject", "/v1/tasks/"},
		{"cancel_task", "cancel", "/v1/tasks/"},
		{"cancel_package", "cancel", "/v1/packages/"},
		{"retry", "retry", "/v1/packages/"},
		{"rework", "rework", "/v1/packages/"},
	};
	const json_t *body = json_object_get(action, "body");

	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		if (!is_id(action, moves[i].id) || !add_verb(out, moves[i].verb, action, moves[i].prefix))
			continue;
		add_option(out, "--plan-revision", document_text(body, "planRevision"));
		if (json_is_true(json_object_get(body, "cascade")))
			buf_puts(out, " --cascade");
		return true;
	}
	return false;
}

bool remedy_command(struct buf *out, const json_t *action, const struct remedy_context *context)
{
	if (is_id(action, "approve_once") || is_id(action, "approve_always") || is_id(action, "deny") ||
		is_id(action, "take_back") || is_id(action, "remove_access"))
		return grant_command(out, action);
	if (is_id(action, "set_root") && add_verb(out, "project set", action, "/v1/projects/")) {
		buf_puts(out, " --root DIR");
		return true;
	}
	if (is_id(action, "approve") && add_verb(out, "approve", action, "/v1/tasks/")) {
		add_option(out, "--plan-revision", document_text(json_object_get(action, "body"), "planRevision"));
		return true;
	}
	if (is_id(action, "request_changes") && context->takes_plan)
		return add_verb(out, "task submit PLAN --id", action, "/v1/tasks/");
	return move_command(out, action);
}

const json_t *remedy_first(const json_t *actions)
{
	return json_array_get(actions, 0);
}

void remedy_why_not(struct buf *out, const json_t *action)
{
	const char *why = document_text(action, "whyNot");
	const json_t *role;
	size_t index;

	if (action == NULL || json_is_true(json_object_get(action, "allowed")))
		return;
	if (why == NULL || strcmp(why, "role_missing") == 0) {
		buf_puts(out, " (needs role ");
		json_array_foreach(json_object_get(action, "roleNeeded"), index, role) buf_printf(out, "%s%s",
			index == 0 ? "" : " or ", json_string_value(role) == NULL ? "" : json_string_value(role));
		buf_putc(out, ')');
	} else if (strcmp(why, "self_approval") == 0) {
		buf_puts(out, " (somebody else must: you sent this plan)");
	} else {
		buf_printf(out, " (%s)", why);
	}
}
