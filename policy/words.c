#include "policy/words.h"

#include <errno.h>
#include <string.h>

#include "policy/words_template.h"

/* What a template may name. */
enum fact {
	FACT_PACKAGE = 0,
	FACT_PROJECT,
	FACT_CAPS,
	FACT_WHO,
	FACT_WHEN,
	FACT_AT, /* `when` behind a verb: "at 09:04", "on 7 Dec" */
	FACT_REASON,
	FACT_UNTIL,
	FACT_LEFT,
	FACT_MISSING,
	FACT_SERVER,
	FACT_ERROR,
	FACT_AGE,
	FACT_NEXT,
	FACT_ATTEMPT,
	FACT_THEN,
	FACT_NOW,
	FACT_COUNT,
};

static const struct template_fact known_facts[FACT_COUNT] = {
	[FACT_PACKAGE] = {"package", "this package"},
	[FACT_PROJECT] = {"project", "this project"},
	[FACT_CAPS] = {"caps", NULL},
	[FACT_WHO] = {"who", NULL},
	[FACT_WHEN] = {"when", NULL},
	[FACT_AT] = {"at", NULL},
	[FACT_REASON] = {"reason", NULL},
	[FACT_UNTIL] = {"until", NULL},
	[FACT_LEFT] = {"left", NULL},
	[FACT_MISSING] = {"missing", NULL},
	[FACT_SERVER] = {"server", "this tool server"},
	[FACT_ERROR] = {"error", NULL},
	[FACT_AGE] = {"age", NULL},
	[FACT_NEXT] = {"next", NULL},
	[FACT_ATTEMPT] = {"attempt", NULL},
	[FACT_THEN] = {"then", NULL},
	[FACT_NOW] = {"now", NULL},
};

/* One row of 7.4; the texts are templates (words_template.h). */
struct words_row {
	const char *sign;
	const char *headline;
	const char *body;
	bool says_goes_on; /* whether going on without it can be said of this state */
};

static const struct words_row arm_rows[] = {
	[ARM_NEVER_APPROVED] = {"half disc", "Waiting for read access",
		"{package} asks to read [{caps} in ]{project}; nobody has decided.", true},
	[ARM_DENIED] = {"disc, slash", "Read access was denied",
		"[{who} denied it|It was denied][ {at}][: \"{reason}\"].", true},
	[ARM_USED_UP] = {"disc, 1", "One-time access is used up",
		"The approval[ of {when}] was for one attempt; [attempt {attempt}|an earlier attempt] used it.", true},
	[ARM_REMOVED] = {"disc, minus", "Project access was removed",
		"[{who} removed {project}'s read access|{project}'s read access was removed][ {at}][: \"{reason}\"].",
		true},
	[ARM_NARROWED] = {"quarter disc", "Project access no longer covers this",
		"[Since {when} {project} allows only {left}|{project} allows only {left}|Since {when} {project} allows "
		"less|"
		"{project} allows less than before][; this also needs {missing}].",
		true},
	[ARM_ROOT_CHANGED] = {"folder, arrow", "Project folder has changed",
		"Decisions for the folder before[ (revision {then}, now {now})] don't carry over.", true},
	[ARM_EXPIRED] = {"clock", "Read access has ended",
		"[{who} approved it until {until}|It was approved until {until}|The approval by {who} has ended|"
		"The approval has ended].",
		true},
	[ARM_INSUFFICIENT] = {"disc, gap", "Read access is too narrow",
		"The approval[ of {when}] covers [{left}|less than is asked for][; this also needs {missing}].", true},
	[ARM_TAKEN_BACK] = {"disc, arrow back", "The approval was taken back",
		"[{who} took it back|It was taken back][ {at}][: \"{reason}\"].", true},
	[ARM_NO_ROOT] = {"folder, ?", "Project has no folder yet",
		"Reads in {project} can't be approved before it has one.", true},
};

/* The arms have their own rows; without one, needs_project_context reads like one that nobody decided. */
static const struct words_row key_rows[] = {
	[OPERATOR_RECOMPUTE] = {"loop", "Needs to be decided again",
		"An older record without requirements; nothing is assumed.", false},
	[OPERATOR_PLANNING_CONTEXT] = {"lines", "Text only",
		"[{caps} reach the agent as text in its prompt and open nothing|"
		"What it asks for reaches the agent as text in its prompt and opens nothing].",
		true},
	[OPERATOR_MCP_NEEDS_SETUP] = {"triangle", "{server} needs ",
		"[Last seen {age} ago: {error}.|Last seen {age} ago.|{error}.|Nothing has been seen of it yet.]"
		"[ Checked again in {next}.]",
		true},
	[OPERATOR_DEFERRED_BOUNDARY] = {"dashed disc", "Not offered yet",
		"[{caps} needs|It needs] a live tool, which agents aren't given yet; nothing is broken.", true},
	[OPERATOR_CONTEXT_APPROVED] = {"check", "Read access approved", "Once, for this package[, by {who}][ {at}].",
		false},
	[OPERATOR_PLAN_NEEDS_CHANGES] = {"square, x", "Plan needs a change",
		"[{reason}|The plan asks for something that can't be given.]", true},
};

static const char project_approval[] = "For {project}[ until {until}][, by {who}][ {at}].";
static const char goes_on[] = " The package goes on without it.";

/* A fact stays absent when it is empty: a body never shows a hole. */
static struct str present(struct str text)
{
	return text.len == 0 ? (struct str){0} : text;
}

/* "at 09:04" for a time of today, "on 7 Dec 09:04" for everything longer. */
static int fact_at(struct arena *arena, struct str when, struct str *ret_at)
{
	bool is_clock = when.len == 5 && when.bytes[2] == ':';

	if (when.len == 0)
		return 0;
	*ret_at = arena_printf(arena, "%s %.*s", is_clock ? "at" : "on", (int)when.len, when.bytes);
	return ret_at->bytes == NULL ? -ENOMEM : 0;
}

static int fact_number(struct arena *arena, int64_t number, struct str *ret_text)
{
	if (number <= 0)
		return 0;
	*ret_text = arena_printf(arena, "%lld", (long long)number);
	return ret_text->bytes == NULL ? -ENOMEM : 0;
}

static int facts_collect(struct arena *arena, const struct words_facts *facts, struct str ret_values[FACT_COUNT])
{
	int error;

	ret_values[FACT_PACKAGE] = present(facts->package);
	ret_values[FACT_PROJECT] = present(facts->project);
	ret_values[FACT_CAPS] = present(facts->capabilities);
	ret_values[FACT_WHO] = present(facts->who);
	ret_values[FACT_WHEN] = present(facts->when);
	ret_values[FACT_REASON] = present(facts->reason);
	ret_values[FACT_UNTIL] = present(facts->until);
	ret_values[FACT_LEFT] = present(facts->left);
	ret_values[FACT_MISSING] = present(facts->missing);
	ret_values[FACT_SERVER] = present(facts->server);
	ret_values[FACT_ERROR] = present(facts->error);
	ret_values[FACT_AGE] = present(facts->age);
	ret_values[FACT_NEXT] = present(facts->next_check);
	error = fact_at(arena, facts->when, &ret_values[FACT_AT]);
	if (error == 0)
		error = fact_number(arena, facts->attempt, &ret_values[FACT_ATTEMPT]);
	if (error == 0)
		error = fact_number(arena, facts->root_revision_then, &ret_values[FACT_THEN]);
	if (error == 0)
		error = fact_number(arena, facts->root_revision_now, &ret_values[FACT_NOW]);
	return error;
}

/* What a server lacks, from the most fundamental to the last thing that was seen. */
static const char *setup_need(const struct words_facts *facts)
{
	if (!facts->observed)
		return "a first check";
	if (facts->install_state == HEALTH_MISSING)
		return "installing";
	if (facts->is_switched_off)
		return "switching on";
	switch (facts->health) {
	case HEALTH_DISABLED:
		return "switching on";
	case HEALTH_AUTH_REQUIRED:
		return "a sign-in";
	case HEALTH_CONFIGURATION_REQUIRED:
		return "settings";
	case HEALTH_UNKNOWN:
		return "a first check";
	case HEALTH_UNHEALTHY:
	case HEALTH_HEALTHY:
		break;
	}
	return "attention";
}

static int expand(struct arena *arena, const char *template, const char *more, const struct str values[FACT_COUNT],
	struct str *ret_text)
{
	const struct template_facts facts = {known_facts, values, FACT_COUNT};

	return words_template_expand(arena, template, more, &facts, ret_text);
}

static const struct words_row *row_of(enum operator_key key, enum hold_arm arm)
{
	CHECK((size_t)arm < sizeof(arm_rows) / sizeof(arm_rows[0]));
	CHECK((size_t)key < sizeof(key_rows) / sizeof(key_rows[0]));
	if (key != OPERATOR_NEEDS_PROJECT_CONTEXT)
		return &key_rows[key];
	return &arm_rows[arm == ARM_NONE ? ARM_NEVER_APPROVED : arm];
}

int words_state(struct arena *arena, enum operator_key key, enum hold_arm arm, const struct words_facts *facts,
	struct words *ret_words)
{
	const struct words_row *row = row_of(key, arm);
	bool for_project = key == OPERATOR_CONTEXT_APPROVED && facts->is_project_grant;
	struct words words = {.sign = row->sign};
	struct str values[FACT_COUNT] = {{0}};
	int error = facts_collect(arena, facts, values);

	/* One revision alone says nothing about a change. */
	if (values[FACT_THEN].bytes == NULL || values[FACT_NOW].bytes == NULL)
		values[FACT_THEN] = values[FACT_NOW] = (struct str){0};
	if (error == 0)
		error = expand(arena, row->headline, key == OPERATOR_MCP_NEEDS_SETUP ? setup_need(facts) : "", values,
			&words.headline);
	if (error == 0)
		error = expand(arena, for_project ? project_approval : row->body,
			row->says_goes_on && facts->goes_on_without ? goes_on : "", values, &words.body);
	if (error == 0)
		*ret_words = words;
	return error;
}

void words_state_write(enum operator_key key, const struct words *words, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_member_text(out, "key", operator_key_name(key));
	json_out_member_text(out, "tone", operator_key_tone(key));
	json_out_member_text(out, "sign", words->sign);
	json_out_member_str(out, "headline", words->headline);
	json_out_member_str(out, "body", words->body);
	json_out_end_object(out);
}

static const struct {
	const char *name;
	const char *label;
} actions[] = {
	[ACTION_APPROVE_ONCE] = {"approve_once", "Approve once…"},
	[ACTION_APPROVE_ALWAYS] = {"approve_always", "Always allow in {project}…"},
	[ACTION_DENY] = {"deny", "Deny…"},
	[ACTION_SET_ROOT] = {"set_root", "Set the folder…"},
	[ACTION_CHECK_SERVER] = {"check_server", "Check now"},
	[ACTION_REQUEST_CHANGES] = {"request_changes", "Request changes…"},
	[ACTION_CANCEL_PACKAGE] = {"cancel_package", "Cancel package…"},
	[ACTION_APPROVE_PLAN] = {"approve", "Approve plan…"},
	[ACTION_REJECT] = {"reject", "Reject…"},
	[ACTION_RETRY] = {"retry", "Retry"},
	[ACTION_CANCEL_TASK] = {"cancel_task", "Cancel task…"},
	[ACTION_REWORK] = {"rework", "Do it again…"},
	[ACTION_TAKE_BACK] = {"take_back", "Take the approval back…"},
	[ACTION_REMOVE_ACCESS] = {"remove_access", "Remove {project}'s access…"},
	[ACTION_NARROW] = {"narrow", "Narrow…"},
};

const char *action_id_name(enum action_id action)
{
	CHECK((size_t)action < sizeof(actions) / sizeof(actions[0]));
	return actions[action].name;
}

/* Some arms call the two approvals by what they are there (7.4). */
static const char *label_template(enum action_id action, enum hold_arm arm)
{
	CHECK((size_t)action < sizeof(actions) / sizeof(actions[0]));
	if (action == ACTION_APPROVE_ONCE && arm == ARM_USED_UP)
		return "Approve once more…";
	if (action == ACTION_APPROVE_ALWAYS && (arm == ARM_REMOVED || arm == ARM_EXPIRED))
		return "Always allow again…";
	if (action == ACTION_APPROVE_ALWAYS && arm == ARM_NARROWED)
		return "Widen project access…";
	if (action == ACTION_SET_ROOT && arm == ARM_ROOT_CHANGED)
		return "Change the folder…";
	return actions[action].label;
}

int words_action_label(
	struct arena *arena, enum action_id action, enum hold_arm arm, struct str project, struct str *ret_label)
{
	struct str values[FACT_COUNT] = {{0}};

	values[FACT_PROJECT] = present(project);
	return expand(arena, label_template(action, arm), "", values, ret_label);
}

static const struct {
	const char *name;
	const char *text;
} offs[ACTION_OFF_COUNT] = {
	[ACTION_OFF_NO_ACCESS] = {"no_access", "The project has no standing access."},
	[ACTION_OFF_NOTHING_ASKED] = {"nothing_asked", "No package waits for read access here."},
	[ACTION_OFF_NO_ROOT] = {"no_root", "The project has no folder yet."},
	[ACTION_OFF_RUN_ACTIVE] = {"run_active", "A run reads it now."},
	[ACTION_OFF_USED_UP] = {"used_up", "An attempt has used it, that can't be undone."},
	[ACTION_OFF_REPORTED] = {"reported", "Only its outside checker can look at it."},
};

const char *action_off_name(enum action_off off)
{
	CHECK(off > ACTION_OFF_NOT && off < ACTION_OFF_COUNT);
	return offs[off].name;
}

const char *action_off_text(enum action_off off)
{
	CHECK(off > ACTION_OFF_NOT && off < ACTION_OFF_COUNT);
	return offs[off].text;
}

struct str words_unreadable(void)
{
	return STR("Its record is damaged and can't be judged, so nothing of it goes ahead.");
}

int words_used_up(struct arena *arena, int64_t attempt, struct str *ret)
{
	*ret = arena_printf(arena, "Attempt %lld has used it, that can't be undone.", (long long)attempt);
	return ret->bytes != NULL ? 0 : -ENOMEM;
}
