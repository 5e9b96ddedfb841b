#include "policy/words_event.h"

#include <errno.h>
#include <string.h>

#include "policy/words.h"
#include "policy/words_template.h"

enum fact {
	FACT_WHO = 0,
	FACT_PROJECT,
	FACT_LABEL,
	FACT_SERVER,
	FACT_REVISION,
	FACT_ATTEMPT,
	FACT_CAPS,
	FACT_UNTIL,
	FACT_HEALTH, /* "filesystem seen healthy at 08:29" */
	FACT_STATE,  /* headline of a hold, as it stands behind a colon */
	FACT_ENGINE, /* the engine's reason */
	FACT_PRINCIPAL,
	FACT_THROUGH,
	FACT_TOKENS,
	FACT_HELD,
	FACT_FREED,
	FACT_TYPE,
	FACT_COUNT,
};

static const struct template_fact known_facts[FACT_COUNT] = {
	[FACT_WHO] = {"who", "the daemon"},
	[FACT_PROJECT] = {"project", "this project"},
	[FACT_LABEL] = {"label", "this package"},
	[FACT_SERVER] = {"server", "the tool server"},
	[FACT_REVISION] = {"revision", NULL},
	[FACT_ATTEMPT] = {"attempt", NULL},
	[FACT_CAPS] = {"caps", NULL},
	[FACT_UNTIL] = {"until", NULL},
	[FACT_HEALTH] = {"health", NULL},
	[FACT_STATE] = {"state", "it needs attention"},
	[FACT_ENGINE] = {"engine", NULL},
	[FACT_PRINCIPAL] = {"principal", "somebody"},
	[FACT_THROUGH] = {"through", NULL},
	[FACT_TOKENS] = {"tokens", NULL},
	[FACT_HELD] = {"held", NULL},
	[FACT_FREED] = {"freed", NULL},
	[FACT_TYPE] = {"type", NULL},
};

/* Whose part of it a row is about. */
enum scope { SCOPE_ANY = 0, SCOPE_PACKAGE, SCOPE_PROJECT, SCOPE_DEPENDENCY };

/* The first row is taken whose type fits and whose members have these values; the texts are templates (words_template.h). `quotes` is the
 * member that holds somebody else's words. A row without sign has that of the hold.
 */
struct event_row {
	const char *type;
	struct {
		const char *name;
		const char *value; /* a text; "false" and "null" for those */
	} member[2];
	enum scope scope;
	const char *sign;
	const char *tone;
	const char *headline;
	const char *detail;
	const char *quotes;
	bool is_minor;
};

#define STATUS(name) .member[0] = {"status", name}
#define AFTER(name) .member[0] = {"after", name}
#define GRANTED(name) .member[0] = {"decision", name}
#define CHANGE(name) .member[0] = {"change", name}
#define OUTCOME(name) .member[0] = {"outcome", name}
#define KIND(name) .member[0] = {"kind", name}
#define OK "check", "green"
#define BAD "square, x", "red"
#define PLAIN "dot", "neutral"

/* Initialised by name up to the sign, and then in the struct's order. */
static const struct event_row rows[] = {
	{"surface.preview", STATUS("allowed"), .sign = "diamond", "neutral", "Preview by {who}: nothing blocked"},
	{"surface.preview", STATUS("warning"), .sign = "diamond", "slate",
		"Preview by {who}: goes ahead with a warning"},
	{"surface.preview", .sign = "diamond", "amber", "Preview by {who}: blocked"},
	{"surface.approval", STATUS("allowed"), .sign = OK, "{who} approved the plan[, revision {revision}]",
		"[{health}]"},
	{"surface.approval", STATUS("warning"), .sign = OK,
		"{who} approved the plan[, revision {revision}], with a warning", "[{health}]"},
	{"surface.approval", .sign = "diamond", "amber", "Approval refused for {who}", "Nothing was approved"},
	{"surface.handoff", STATUS("allowed"), .sign = "diamond", "neutral", "Handoff to {who}"},
	{"surface.handoff", STATUS("warning"), .sign = "diamond", "slate", "Handoff to {who}, with a warning"},
	{"surface.handoff", .sign = "diamond", "amber", "Handoff refused for {who}", "No run made, no attempt counted"},

	{"grant.recorded", GRANTED("approved"), .scope = SCOPE_PACKAGE, .sign = OK, "{who} approved read access, once",
		"[{caps}, until {until}|{caps}][. Freed {freed}]", "reason"},
	{"grant.recorded", GRANTED("denied"), .sign = "disc, slash", "amber", "{who} denied read access",
		"[Held {held}]", "reason"},
	{"grant.recorded", GRANTED("revoked"), .scope = SCOPE_PACKAGE, .sign = "disc, arrow back", "amber",
		"{who} took the approval back", "[Held {held}]", "reason"},
	{"grant.recorded", GRANTED("approved"), .sign = OK, "{who} allowed reads in {project}[, revision {revision}]",
		"[{caps}, until {until}|{caps}][. Freed {freed}]", "reason"},
	{"grant.recorded", .sign = "disc, minus", "amber", "{who} removed access in {project}[, revision {revision}]",
		"[Held {held}]", "reason"},

	{"hold.opened", .headline = "Held: {state}", .detail = "[{engine}]"},
	{"hold.changed", .headline = "Held for another reason: {state}", .detail = "[{engine}]"},
	{"hold.cleared", .sign = OK, "Not held any more"},

	{"run.claimed", .sign = "play", "neutral", "Claimed by {who}", "[Attempt {attempt}]"},
	{"run.ended", OUTCOME("succeeded"), .sign = OK, "Run succeeded", "[Attempt {attempt}]", "summary"},
	{"run.ended", OUTCOME("failed"), .sign = BAD, "Run failed", "[Attempt {attempt}]", "summary"},
	{"run.ended", OUTCOME("released"), .sign = "disc, arrow back", "neutral", "Run given back",
		"No attempt counted", "summary"},
	{"run.ended", OUTCOME("expired"), .sign = "clock", "amber", "Run lost: its lease ended", "[Attempt {attempt}]",
		"summary"},
	{"run.ended", .sign = "square, x", "neutral", "Run cancelled", "No attempt counted", "summary"},

	{"task.status", AFTER("proposed"), .sign = PLAIN, "Plan[ revision {revision}] sent by {who}", "", "reason"},
	{"task.status", {{"after", "approved"}, {"before", "failed"}}, .sign = "loop", "neutral",
		"{who} took the plan up again", "", "reason"},
	{"task.status", AFTER("approved"), .sign = OK, "{who} approved the plan[, revision {revision}]", "", "reason"},
	{"task.status", AFTER("rejected"), .sign = BAD, "{who} rejected the plan[, revision {revision}]", "", "reason"},
	{"task.status", AFTER("changes_requested"), .sign = "disc, arrow back", "amber",
		"{who} sent the plan back[, revision {revision}]", "", "reason"},
	{"task.status", AFTER("completed"), .sign = OK, "Plan completed", "", "reason"},
	{"task.status", AFTER("failed"), .sign = BAD, "Plan failed", "", "reason"},
	{"task.status", .sign = "square, x", "neutral", "{who} cancelled the plan", "", "reason"},

	{"package.status", AFTER("completed"), .scope = SCOPE_DEPENDENCY, .sign = OK, "{label} completed",
		"This package was next", "reason"},
	{"package.status", AFTER("completed"), .sign = OK, "{label} completed", "", "reason", true},
	{"package.status", AFTER("failed"), .sign = BAD, "{label} failed", "Its attempts are used up", "reason"},
	{"package.status", AFTER("cancelled"), .sign = "square, x", "neutral", "{label} was cancelled", "", "reason"},
	{"package.status", AFTER("superseded"), .sign = "loop", "neutral", "{label} gave way to a newer plan", "",
		"reason"},
	{"package.status", AFTER("blocked"), .sign = PLAIN, "{label} is held", "", "reason", true},
	{"package.status", AFTER("pending"), .sign = PLAIN, "{label} waits for another package", "", "reason", true},
	{"package.status", AFTER("ready"), .sign = PLAIN, "{label} is ready", "", "reason", true},
	{"package.status", AFTER("running"), .sign = PLAIN, "{label} is running", "", "reason", true},
	{"package.status", .sign = PLAIN, "{label} is a draft", "", "reason", true},

	{"health.changed", {{"installState", "missing"}}, .sign = "triangle", "red", "{server} isn't installed", "",
		"error"},
	{"health.changed", {{"enabled", "false"}}, .sign = "triangle", "amber", "{server} is switched off", "",
		"error"},
	{"health.changed", STATUS("healthy"), .sign = OK, "{server} is healthy", "", "error"},
	{"health.changed", STATUS("disabled"), .sign = "triangle", "amber", "{server} is switched off", "", "error"},
	{"health.changed", STATUS("auth_required"), .sign = "triangle", "red", "{server} needs a sign-in", "", "error"},
	{"health.changed", STATUS("configuration_required"), .sign = "triangle", "red", "{server} needs settings", "",
		"error"},
	{"health.changed", STATUS("unhealthy"), .sign = "triangle", "red", "{server} isn't healthy", "", "error"},
	{"health.changed", .sign = "triangle", "neutral", "How {server} is isn't known", "", "error"},

	{"project.changed", CHANGE("created"), .sign = PLAIN, "{who} made the project {project}"},
	{"project.changed", CHANGE("renamed"), .sign = PLAIN, "{who} renamed {project}", "", "name"},
	{"project.changed", CHANGE("root"), .sign = "folder, arrow", "neutral", "{who} set the folder of {project}",
		"[Folder revision {revision}]"},
	{"project.changed", CHANGE("archived"), .sign = "square, x", "neutral", "{who} archived {project}", "",
		"reason"},
	{"project.changed", CHANGE("unarchived"), .sign = PLAIN, "{who} took {project} out of the archive", "",
		"reason"},
	{"project.changed", CHANGE("server"), .sign = PLAIN, "{who} set how {server} is reached in {project}"},
	{"project.changed", CHANGE("server_removed"), .sign = PLAIN, "{who} removed {server} from {project}"},
	{"project.changed", .sign = PLAIN, "{who} changed {project}"},

	{"due.recorded", KIND("grant"), .sign = "clock", "amber", "A read access of {project} has ended"},
	{"due.recorded", KIND("lease"), .sign = "clock", "amber", "The lease of a run in {project} has ended"},
	{"due.recorded", .sign = "clock", "amber", "A report on a tool server of {project} is too old to count"},

	{"catalog.replaced", .sign = "loop", "neutral", "{who} put another catalog in force"},
	{"token.issued", .sign = PLAIN, "{who} made a token for {principal}"},
	{"token.revoked", .sign = PLAIN, "{who} revoked a token of {principal}"},
	{"store.restored", .sign = "loop", "amber", "The store was restored from a copy", "[{tokens} revoked]"},
	{"audit.trimmed", .sign = PLAIN, "The log was exported and cut[ through row {through}]"},
};

/* What a later version wrote. */
static const struct event_row unknown = {.sign = PLAIN, "[{type}|Something happened]"};

/* ---- finding the row */

static struct str text_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	if (json_is_string(value) && json_string_length(value) > 0)
		return (struct str){json_string_value(value), json_string_length(value)};
	return (struct str){0};
}

static bool has_value(const json_t *payload, const char *name, const char *value)
{
	const json_t *member = json_object_get(payload, name);

	if (json_is_boolean(member))
		return strcmp(value, json_is_true(member) ? "true" : "false") == 0;
	return json_is_string(member) && strcmp(json_string_value(member), value) == 0;
}

static bool fits(const struct event_row *row, const struct event_facts *facts)
{
	if (!str_is(facts->type, row->type) || (row->scope == SCOPE_PACKAGE && !facts->is_of_package) ||
		(row->scope == SCOPE_DEPENDENCY && !facts->is_of_dependency))
		return false;
	for (size_t i = 0; i < sizeof(row->member) / sizeof(row->member[0]) && row->member[i].name != NULL; i++)
		if (!has_value(facts->payload, row->member[i].name, row->member[i].value))
			return false;
	return true;
}

static const struct event_row *row_of(const struct event_facts *facts)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (fits(&rows[i], facts))
			return &rows[i];
	return &unknown;
}

/* ---- facts */

static int fact_number(struct arena *arena, const json_t *number, struct str *ret)
{
	if (!json_is_integer(number) || json_integer_value(number) <= 0)
		return 0;
	*ret = arena_printf(arena, "%lld", (long long)json_integer_value(number));
	return ret->bytes != NULL ? 0 : -ENOMEM;
}

static int fact_counted(struct arena *arena, int64_t count, const char *what, struct str *ret)
{
	if (count <= 0)
		return 0;
	*ret = arena_printf(arena, "%lld %s%s", (long long)count, what, count == 1 ? "" : "s");
	return ret->bytes != NULL ? 0 : -ENOMEM;
}

static int add_phrase(struct arena *arena, struct str more, struct str *phrase)
{
	*phrase = phrase->bytes == NULL
		? more
		: arena_printf(arena, "%.*s, %.*s", (int)phrase->len, phrase->bytes, (int)more.len, more.bytes);
	return phrase->bytes != NULL ? 0 : -ENOMEM;
}

static int fact_capabilities(struct arena *arena, const json_t *names, struct str *ret)
{
	for (size_t i = 0; i < json_array_size(names); i++) {
		const json_t *name = json_array_get(names, i);
		int r = json_is_string(name)
			? add_phrase(arena, (struct str){json_string_value(name), json_string_length(name)}, ret)
			: 0;

		if (r != 0)
			return r;
	}
	return 0;
}

/* "2026-12-07T09:41:00.000Z" as "2026-12-07 09:41 UTC". */
static int fact_time(struct arena *arena, struct str time, struct str *ret)
{
	enum { DATE = 10, CLOCK = 11, CLOCK_LENGTH = 5, WHOLE = CLOCK + CLOCK_LENGTH };

	if (time.len < WHOLE)
		return 0;
	*ret = arena_printf(arena, "%.*s %.*s UTC", DATE, time.bytes, CLOCK_LENGTH, time.bytes + CLOCK);
	return ret->bytes != NULL ? 0 : -ENOMEM;
}

static const char *health_phrase(struct str status)
{
	static const char *const phrases[][2] = {
		{"healthy", "healthy"},
		{"unhealthy", "unhealthy"},
		{"disabled", "switched off"},
		{"auth_required", "without a sign-in"},
		{"configuration_required", "without settings"},
	};

	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++)
		if (str_is(status, phrases[i][0]))
			return phrases[i][1];
	return NULL;
}

/* What a decision was given of health: only what somebody had seen. */
static int fact_health(struct arena *arena, const json_t *list, struct str *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < json_array_size(list); i++) {
		const json_t *row = json_array_get(list, i);
		const char *health = health_phrase(text_of(row, "status"));
		struct str server = text_of(row, "mcpId");
		struct str when = {0};
		struct str one;

		if (health == NULL || server.bytes == NULL || !json_is_true(json_object_get(row, "observed")))
			continue;
		r = fact_time(arena, text_of(row, "checkedAt"), &when);
		if (r != 0)
			return r;
		one = when.bytes == NULL ? arena_printf(arena, "%s seen %s", server.bytes, health)
					 : arena_printf(arena, "%s seen %s at %s", server.bytes, health,
						   when.bytes + sizeof("2026-12-07"));
		r = one.bytes != NULL ? add_phrase(arena, one, ret) : -ENOMEM;
	}
	return r;
}

static struct str any_revision(const json_t *payload)
{
	static const char *const names[] = {"planRevision", "revision", "rootRevision"};
	struct str found = {0};

	for (size_t i = 0; found.bytes == NULL && i < sizeof(names) / sizeof(names[0]); i++)
		found = text_of(payload, names[i]);
	return found;
}

/* ---- holds: the state's own headline, as it stands behind a colon */

static enum operator_key key_of_hold(const json_t *hold)
{
	if (has_value(hold, "kind", hold_kind_name(HOLD_NEEDS_GRANT)))
		return OPERATOR_NEEDS_PROJECT_CONTEXT;
	if (has_value(hold, "kind", hold_kind_name(HOLD_NEEDS_SETUP)))
		return OPERATOR_MCP_NEEDS_SETUP;
	return has_value(hold, "mode", admission_mode_name(MODE_DEFERRED_LIVE_MCP)) ? OPERATOR_DEFERRED_BOUNDARY
										    : OPERATOR_PLAN_NEEDS_CHANGES;
}

static int fact_state(struct arena *arena, const json_t *hold, struct event_words *words, struct str *ret)
{
	const struct words_facts facts = {.server = text_of(hold, "mcpId"),
		.observed = true,
		.install_state = HEALTH_INSTALLED,
		.health = HEALTH_UNHEALTHY,
		.root_revision_then = -1};
	enum operator_key key = key_of_hold(hold);
	enum hold_arm arm = ARM_NONE;
	struct words state = {0};
	int r = 0;

	(void)hold_arm_find(text_of(hold, "arm"), &arm);
	r = words_state(arena, key, arm, &facts, &state);
	if (r != 0)
		return r;
	words->sign = state.sign;
	words->tone = operator_key_tone(key);
	*ret = state.headline;
	if (key == OPERATOR_MCP_NEEDS_SETUP && facts.server.bytes != NULL)
		return 0; /* it begins with the server's id, which stays as it is */
	*ret = arena_printf(arena, "%c%s", state.headline.bytes[0] | ('a' - 'A'), state.headline.bytes + 1);
	return ret->bytes != NULL ? 0 : -ENOMEM;
}

/* ---- the words */

static int collect(struct arena *arena, const struct event_facts *facts, struct event_words *words,
	struct str ret_values[FACT_COUNT])
{
	const json_t *payload = facts->payload;
	const json_t *hold = json_object_get(payload, "hold");
	int r = 0;

	ret_values[FACT_WHO] = facts->who;
	ret_values[FACT_PROJECT] = facts->project;
	ret_values[FACT_TYPE] = facts->type;
	ret_values[FACT_LABEL] = text_of(payload, "label");
	ret_values[FACT_SERVER] = text_of(payload, "mcpId");
	ret_values[FACT_PRINCIPAL] = text_of(payload, "principal");
	ret_values[FACT_REVISION] = any_revision(payload);
	ret_values[FACT_ENGINE] = text_of(hold, "reason");
	r = fact_number(arena, json_object_get(payload, "attempt"), &ret_values[FACT_ATTEMPT]);
	if (r == 0)
		r = fact_number(arena, json_object_get(payload, "through"), &ret_values[FACT_THROUGH]);
	if (r == 0)
		r = fact_counted(arena, json_integer_value(json_object_get(payload, "tokensRevoked")), "token",
			&ret_values[FACT_TOKENS]);
	if (r == 0)
		r = fact_counted(arena, facts->held, "package", &ret_values[FACT_HELD]);
	if (r == 0)
		r = fact_counted(arena, facts->freed, "package", &ret_values[FACT_FREED]);
	if (r == 0)
		r = fact_capabilities(arena, json_object_get(payload, "capabilities"), &ret_values[FACT_CAPS]);
	if (r == 0)
		r = fact_time(arena, text_of(payload, "expiresAt"), &ret_values[FACT_UNTIL]);
	if (r == 0)
		r = fact_health(arena, json_object_get(payload, "health"), &ret_values[FACT_HEALTH]);
	return r == 0 && hold != NULL ? fact_state(arena, hold, words, &ret_values[FACT_STATE]) : r;
}

static void quote(const struct event_row *row, const struct event_facts *facts, struct event_words *words)
{
	if (row->quotes == NULL)
		return;
	words->quote = text_of(facts->payload, row->quotes);
	if (words->quote.bytes != NULL)
		words->by = strcmp(row->quotes, "error") == 0 ? text_of(facts->payload, "mcpId") : facts->who;
}

int event_words(struct arena *arena, const struct event_facts *facts, struct event_words *ret_words)
{
	const struct event_row *row = row_of(facts);
	struct event_words words = {.sign = "dot", .tone = "neutral", .is_minor = row->is_minor};
	struct str values[FACT_COUNT] = {{0}};
	const struct template_facts known = {known_facts, values, FACT_COUNT};
	int r = collect(arena, facts, &words, values);

	if (row->sign != NULL) {
		words.sign = row->sign;
		words.tone = row->tone;
	}
	if (r == 0)
		r = words_template_expand(arena, row->headline, "", &known, &words.headline);
	if (r == 0 && row->detail != NULL)
		r = words_template_expand(arena, row->detail, "", &known, &words.detail);
	if (r != 0)
		return r;
	if (words.detail.len == 0)
		words.detail = (struct str){0};
	quote(row, facts, &words);
	*ret_words = words;
	return 0;
}

void event_words_write(const struct event_words *words, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_member_text(out, "sign", words->sign);
	json_out_member_text(out, "tone", words->tone);
	json_out_member_str(out, "headline", words->headline);
	json_out_member_str(out, "detail", words->detail);
	json_out_key(out, "quote");
	if (words->quote.bytes != NULL) {
		json_out_begin_object(out);
		json_out_member_str(out, "text", words->quote);
		json_out_member_str(out, "by", words->by);
		json_out_end_object(out);
	} else {
		json_out_null(out);
	}
	json_out_member_bool(out, "minor", words->is_minor);
	json_out_end_object(out);
}
