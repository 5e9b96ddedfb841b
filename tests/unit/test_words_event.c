/* What an event of the log says to people (chapters 2.1 and 7.4): every type has words, and none says in ours what somebody else wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "policy/projection.h"
#include "policy/words_event.h"

#define FOREIGN "WRITTEN-BY-SOMEBODY"

/* Every type that is in the log, with each value that tells one from another (docs/openapi.json lists the same types). */
static const struct {
	const char *type;
	const char *member;
	const char *values[8];
} types[] = {
	{"audit.trimmed", NULL, {NULL}},
	{"catalog.replaced", NULL, {NULL}},
	{"due.recorded", "kind", {"grant", "lease", "health"}},
	{"grant.recorded", "decision", {"approved", "denied", "revoked"}},
	{"health.changed", "status",
		{"healthy", "unhealthy", "disabled", "auth_required", "configuration_required", "unknown"}},
	{"hold.changed", "kind", {"needs_grant"}},
	{"hold.cleared", NULL, {NULL}},
	{"hold.opened", "kind", {"needs_grant"}},
	{"package.status", "after",
		{"draft", "pending", "ready", "blocked", "running", "completed", "failed", "cancelled"}},
	{"package.status", "after", {"superseded"}},
	{"project.changed", "change",
		{"created", "renamed", "root", "archived", "unarchived", "server", "server_removed"}},
	{"run.claimed", NULL, {NULL}},
	{"run.ended", "outcome", {"succeeded", "failed", "released", "expired", "cancelled"}},
	{"store.restored", NULL, {NULL}},
	{"surface.approval", "status", {"allowed", "warning", "blocked"}},
	{"surface.handoff", "status", {"allowed", "warning", "blocked"}},
	{"surface.preview", "status", {"allowed", "warning", "blocked"}},
	{"task.status", "after",
		{"proposed", "approved", "rejected", "changes_requested", "completed", "failed", "cancelled"}},
	{"token.issued", NULL, {NULL}},
	{"token.revoked", NULL, {NULL}},
};

static int setup(void **state)
{
	static struct arena arena;

	arena_init(&arena, 4 * 1024 * 1024);
	*state = &arena;
	return 0;
}

static int teardown(void **state)
{
	arena_release(*state);
	return 0;
}

static struct str text(const char *bytes)
{
	return (struct str){bytes, strlen(bytes)};
}

static struct event_words say(void **state, struct event_facts facts, const char *payload)
{
	struct event_words words = {0};
	json_t *json = json_loads(payload, 0, NULL);

	assert_non_null(json);
	facts.payload = json;
	assert_int_equal(event_words(*state, &facts, &words), 0);
	/* What is quoted points into the payload. */
	words.quote = words.quote.bytes != NULL ? arena_str(*state, words.quote) : words.quote;
	words.by = words.by.bytes != NULL ? arena_str(*state, words.by) : words.by;
	json_decref(json);
	return words;
}

static struct event_facts facts_of(const char *type)
{
	return (struct event_facts){.type = text(type), .who = STR("marek"), .project = STR("atlas")};
}

static void assert_said(struct event_words words, const char *headline, const char *detail)
{
	assert_string_equal(words.headline.bytes, headline);
	if (detail == NULL)
		assert_null(words.detail.bytes);
	else
		assert_string_equal(words.detail.bytes, detail);
}

static bool is_tone(const char *tone)
{
	static const char *const tones[] = {"neutral", "amber", "red", "slate", "green"};

	for (size_t i = 0; i < sizeof(tones) / sizeof(tones[0]); i++)
		if (strcmp(tone, tones[i]) == 0)
			return true;
	return false;
}

static void assert_ours(struct event_words words)
{
	assert_true(words.headline.len > 0);
	assert_non_null(words.sign);
	assert_true(strlen(words.sign) > 0);
	assert_true(is_tone(words.tone));
	assert_null(strstr(words.headline.bytes, FOREIGN));
	assert_null(strchr(words.headline.bytes, '{'));
	assert_null(strchr(words.headline.bytes, '['));
	if (words.detail.bytes != NULL) {
		assert_true(words.detail.len > 0);
		assert_null(strstr(words.detail.bytes, FOREIGN));
		assert_null(strchr(words.detail.bytes, '['));
	}
}

/* A payload in which whatever a person or a program could have written says so. */
static json_t *payload_of(const char *member, const char *value)
{
	json_t *payload = json_pack("{s:s, s:s, s:s, s:s, s:s, s:{s:s, s:s, s:s, s:{s:s}}}", "reason", FOREIGN,
		"summary", FOREIGN, "error", FOREIGN, "name", FOREIGN, "title", FOREIGN, "hold", "kind", "needs_grant",
		"arm", "removed", "reason", "it reads what access doesn't cover", "facts", "reason", FOREIGN);

	assert_non_null(payload);
	if (member != NULL)
		assert_int_equal(json_object_set_new(payload, member, json_string(value)), 0);
	return payload;
}

static void every_type_has_words_and_keeps_those_of_others_apart(void **state)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		for (size_t k = 0; k == 0 || (k < 8 && types[i].values[k] != NULL); k++) {
			struct event_words words = {0};
			struct event_facts facts = facts_of(types[i].type);
			json_t *payload = payload_of(types[i].member, types[i].values[k]);

			facts.payload = payload;
			assert_int_equal(event_words(*state, &facts, &words), 0);
			assert_ours(words);
			assert_string_not_equal(words.headline.bytes, types[i].type);
			if (words.quote.bytes != NULL)
				assert_string_equal(words.quote.bytes, FOREIGN);
			json_decref(payload);
		}
	}
}

static void every_type_has_words_without_its_payload_and_its_actor(void **state)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct event_words words = {0};
		struct event_facts facts = {.type = text(types[i].type)};

		assert_int_equal(event_words(*state, &facts, &words), 0);
		assert_ours(words);
		assert_string_not_equal(words.headline.bytes, types[i].type);
		assert_null(words.quote.bytes);
	}
}

static void a_type_of_a_later_version_is_told_by_its_name(void **state)
{
	assert_said(say(state, facts_of("moon.landed"), "{}"), "moon.landed", NULL);
	assert_said(say(state, (struct event_facts){0}, "{}"), "Something happened", NULL);
}

static void surfaces_say_what_came_of_them(void **state)
{
	struct event_words words;

	assert_said(say(state, facts_of("surface.preview"), "{\"status\":\"allowed\"}"),
		"Preview by marek: nothing blocked", NULL);
	assert_said(say(state, facts_of("surface.handoff"), "{\"status\":\"blocked\"}"), "Handoff refused for marek",
		"No run made, no attempt counted");
	words = say(state, facts_of("surface.approval"),
		"{\"status\":\"allowed\",\"planRevision\":\"2\",\"health\":[{\"mcpId\":\"filesystem\",\"observed\":"
		"true,"
		"\"status\":\"healthy\",\"checkedAt\":\"2026-11-30T08:29:41.000Z\"},{\"mcpId\":\"github\",\"observed\":"
		"false,"
		"\"status\":\"unknown\",\"checkedAt\":null}]}");
	assert_said(words, "marek approved the plan, revision 2", "filesystem seen healthy at 08:29 UTC");
	assert_string_equal(words.sign, "check");
	assert_string_equal(words.tone, "green");
}

static void a_grant_says_for_whom_and_what_it_did(void **state)
{
	static const char removed[] =
		"{\"decision\":\"revoked\",\"revision\":\"17\",\"capabilities\":[],\"reason\":\"moving to "
		"a new checkout\"}";
	struct event_facts facts = facts_of("grant.recorded");
	struct event_words words;

	facts.held = 4;
	words = say(state, facts, removed);
	assert_said(words, "marek removed access in atlas, revision 17", "Held 4 packages");
	assert_string_equal(words.quote.bytes, "moving to a new checkout");
	assert_string_equal(words.by.bytes, "marek");
	facts.held = 1;
	facts.is_of_package = true;
	assert_said(say(state, facts, removed), "marek took the approval back", "Held 1 package");
	facts.held = 0;
	assert_said(say(state, facts,
			    "{\"decision\":\"approved\",\"capabilities\":[\"filesystem.project.read\","
			    "\"filesystem.project.list\"],\"expiresAt\":\"2026-12-07T09:41:00.000Z\"}"),
		"marek approved read access, once",
		"filesystem.project.read, filesystem.project.list, until 2026-12-07 09:41 UTC");
	assert_said(say(state, facts, "{\"decision\":\"denied\"}"), "marek denied read access", NULL);
}

static void a_hold_says_its_state_and_has_its_sign(void **state)
{
	struct event_words words = say(state, facts_of("hold.opened"),
		"{\"hold\":{\"kind\":\"needs_grant\",\"arm\":\"removed\",\"reason\":\"nothing covers it\"}}");

	assert_said(words, "Held: project access was removed", "nothing covers it");
	assert_string_equal(words.sign, "disc, minus");
	assert_string_equal(words.tone, "amber");
	words = say(state, facts_of("hold.changed"), "{\"hold\":{\"kind\":\"needs_setup\",\"mcpId\":\"GH\"}}");
	assert_said(words, "Held for another reason: GH needs attention", NULL);
	assert_string_equal(words.tone, "red");
	words = say(state, facts_of("hold.opened"), "{\"hold\":{\"kind\":\"needs_plan_change\",\"mode\":\"blocked\"}}");
	assert_said(words, "Held: plan needs a change", NULL);
}

static void plans_and_packages_say_who_moved_them(void **state)
{
	struct event_facts facts = facts_of("package.status");
	struct event_words words;

	assert_said(
		say(state, facts_of("task.status"), "{\"before\":null,\"after\":\"proposed\",\"planRevision\":\"2\"}"),
		"Plan revision 2 sent by marek", NULL);
	assert_said(say(state, facts_of("task.status"), "{\"before\":\"failed\",\"after\":\"approved\"}"),
		"marek took the plan up again", NULL);
	words = say(state, facts, "{\"before\":\"running\",\"after\":\"completed\",\"label\":\"read-files\"}");
	assert_said(words, "read-files completed", NULL);
	assert_true(words.is_minor);
	facts.is_of_dependency = true;
	words = say(state, facts, "{\"before\":\"running\",\"after\":\"completed\",\"label\":\"read-files\"}");
	assert_said(words, "read-files completed", "This package was next");
	assert_false(words.is_minor);
}

static void the_words_of_a_server_are_quoted_as_its_own(void **state)
{
	struct event_words words = say(state, facts_of("health.changed"),
		"{\"mcpId\":\"github\",\"installState\":\"installed\",\"status\":\"auth_required\",\"enabled\":true,"
		"\"error\":\"401 from the server\"}");

	assert_said(words, "github needs a sign-in", NULL);
	assert_string_equal(words.quote.bytes, "401 from the server");
	assert_string_equal(words.by.bytes, "github");
	words = say(state, facts_of("health.changed"),
		"{\"mcpId\":\"github\",\"installState\":\"installed\",\"status\":\"healthy\",\"enabled\":false}");
	assert_said(words, "github is switched off", NULL);
}

static void what_a_fact_brings_is_no_template(void **state)
{
	struct event_facts facts = facts_of("token.issued");

	assert_said(say(state, facts, "{\"principal\":\"{who} [x|y]\"}"), "marek made a token for {who} [x|y]", NULL);
}

static void no_memory_is_told_and_nothing_is_written(void **state)
{
	struct event_words words = {.sign = "untouched"};
	struct event_facts facts = facts_of("hold.cleared");
	struct arena tight;

	(void)state;
	arena_init(&tight, 8);
	assert_int_equal(event_words(&tight, &facts, &words), -ENOMEM);
	assert_string_equal(words.sign, "untouched");
	arena_release(&tight);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_has_words_and_keeps_those_of_others_apart),
		cmocka_unit_test(every_type_has_words_without_its_payload_and_its_actor),
		cmocka_unit_test(a_type_of_a_later_version_is_told_by_its_name),
		cmocka_unit_test(surfaces_say_what_came_of_them),
		cmocka_unit_test(a_grant_says_for_whom_and_what_it_did),
		cmocka_unit_test(a_hold_says_its_state_and_has_its_sign),
		cmocka_unit_test(plans_and_packages_say_who_moved_them),
		cmocka_unit_test(the_words_of_a_server_are_quoted_as_its_own),
		cmocka_unit_test(what_a_fact_brings_is_no_template),
		cmocka_unit_test(no_memory_is_told_and_nothing_is_written),
	};

	return cmocka_run_group_tests_name("words_event", tests, setup, teardown);
}
