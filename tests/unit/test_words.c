/* What people read (chapters 1.12 and 7.4): the words of every state, with and without the facts they name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "policy/words.h"

static int setup(void **state)
{
	static struct arena arena;

	arena_init(&arena, 1024 * 1024);
	*state = &arena;
	return 0;
}

static int teardown(void **state)
{
	arena_release(*state);
	return 0;
}

static void assert_text(struct str text, const char *expected)
{
	assert_non_null(text.bytes);
	assert_string_equal(text.bytes, expected);
	assert_int_equal(text.len, strlen(expected));
}

static void assert_words(void **state, enum operator_key key, enum hold_arm arm, const struct words_facts *facts,
	const char *headline, const char *body)
{
	struct words words;

	assert_int_equal(words_state(*state, key, arm, facts, &words), 0);
	assert_text(words.headline, headline);
	assert_text(words.body, body);
	assert_non_null(words.sign);
}

static void assert_arm(
	void **state, enum hold_arm arm, const struct words_facts *facts, const char *headline, const char *body)
{
	assert_words(state, OPERATOR_NEEDS_PROJECT_CONTEXT, arm, facts, headline, body);
}

/* Every fact there is. */
static struct words_facts whole_facts(void)
{
	return (struct words_facts){
		.package = STR("backend"),
		.project = STR("tracker"),
		.capabilities = STR("filesystem.project.read, filesystem.project.list"),
		.who = STR("marek"),
		.when = STR("09:04"),
		.reason = STR("not this week"),
		.until = STR("7 Dec"),
		.left = STR("filesystem.project.list"),
		.missing = STR("filesystem.project.read"),
		.server = STR("Filesystem"),
		.error = STR("connection refused"),
		.age = STR("12 s"),
		.next_check = STR("40 s"),
		.observed = true,
		.install_state = HEALTH_INSTALLED,
		.health = HEALTH_UNHEALTHY,
		.attempt = 1,
		.root_revision_then = 3,
		.root_revision_now = 4,
	};
}

static void every_arm_reads_as_the_table_says(void **state)
{
	struct words_facts facts = whole_facts();

	assert_arm(state, ARM_NEVER_APPROVED, &facts, "Waiting for read access",
		"backend asks to read filesystem.project.read, filesystem.project.list in tracker; nobody has "
		"decided.");
	assert_arm(state, ARM_DENIED, &facts, "Read access was denied", "marek denied it at 09:04: \"not this week\".");
	assert_arm(state, ARM_USED_UP, &facts, "One-time access is used up",
		"The approval of 09:04 was for one attempt; attempt 1 used it.");
	assert_arm(state, ARM_REMOVED, &facts, "Project access was removed",
		"marek removed tracker's read access at 09:04: \"not this week\".");
	assert_arm(state, ARM_NARROWED, &facts, "Project access no longer covers this",
		"Since 09:04 tracker allows only filesystem.project.list; this also needs filesystem.project.read.");
	assert_arm(state, ARM_ROOT_CHANGED, &facts, "Project folder has changed",
		"Decisions for the folder before (revision 3, now 4) don't carry over.");
	assert_arm(state, ARM_EXPIRED, &facts, "Read access has ended", "marek approved it until 7 Dec.");
	assert_arm(state, ARM_INSUFFICIENT, &facts, "Read access is too narrow",
		"The approval of 09:04 covers filesystem.project.list; this also needs filesystem.project.read.");
	assert_arm(state, ARM_TAKEN_BACK, &facts, "The approval was taken back",
		"marek took it back at 09:04: \"not this week\".");
	assert_arm(state, ARM_NO_ROOT, &facts, "Project has no folder yet",
		"Reads in tracker can't be approved before it has one.");
}

static void arms_without_facts_leave_no_holes(void **state)
{
	struct words_facts none = {.root_revision_then = -1};

	assert_arm(state, ARM_NEVER_APPROVED, &none, "Waiting for read access",
		"This package asks to read this project; nobody has decided.");
	assert_arm(state, ARM_DENIED, &none, "Read access was denied", "It was denied.");
	assert_arm(state, ARM_USED_UP, &none, "One-time access is used up",
		"The approval was for one attempt; an earlier attempt used it.");
	assert_arm(state, ARM_REMOVED, &none, "Project access was removed", "This project's read access was removed.");
	assert_arm(state, ARM_NARROWED, &none, "Project access no longer covers this",
		"This project allows less than before.");
	assert_arm(state, ARM_ROOT_CHANGED, &none, "Project folder has changed",
		"Decisions for the folder before don't carry over.");
	assert_arm(state, ARM_EXPIRED, &none, "Read access has ended", "The approval has ended.");
	assert_arm(state, ARM_INSUFFICIENT, &none, "Read access is too narrow",
		"The approval covers less than is asked for.");
	assert_arm(state, ARM_TAKEN_BACK, &none, "The approval was taken back", "It was taken back.");
	assert_arm(state, ARM_NO_ROOT, &none, "Project has no folder yet",
		"Reads in this project can't be approved before it has one.");
}

static void a_part_of_the_facts_is_worded_around(void **state)
{
	struct words_facts facts = {.reason = STR("too wide"), .root_revision_then = 3};

	assert_arm(state, ARM_DENIED, &facts, "Read access was denied", "It was denied: \"too wide\".");
	assert_arm(state, ARM_ROOT_CHANGED, &facts, "Project folder has changed",
		"Decisions for the folder before don't carry over.");
	facts = (struct words_facts){.who = STR("ana"), .when = STR("7 Dec 09:04")};
	assert_arm(state, ARM_DENIED, &facts, "Read access was denied", "ana denied it on 7 Dec 09:04.");
	assert_arm(state, ARM_EXPIRED, &facts, "Read access has ended", "The approval by ana has ended.");
	facts = (struct words_facts){.project = STR("tracker"), .missing = STR("filesystem.project.read")};
	assert_arm(state, ARM_NARROWED, &facts, "Project access no longer covers this",
		"tracker allows less than before; this also needs filesystem.project.read.");
}

static void an_empty_fact_counts_as_absent(void **state)
{
	struct words_facts facts = {.who = STR(""), .reason = STR(""), .when = STR("")};

	assert_arm(state, ARM_DENIED, &facts, "Read access was denied", "It was denied.");
}

static void a_missing_grant_without_an_arm_reads_as_undecided(void **state)
{
	struct words_facts facts = whole_facts();

	assert_arm(state, ARM_NONE, &facts, "Waiting for read access",
		"backend asks to read filesystem.project.read, filesystem.project.list in tracker; nobody has "
		"decided.");
}

static void assert_need(void **state, const struct words_facts *facts, const char *headline)
{
	struct words words;

	assert_int_equal(words_state(*state, OPERATOR_MCP_NEEDS_SETUP, ARM_NONE, facts, &words), 0);
	assert_text(words.headline, headline);
}

static void a_server_says_what_it_needs_most(void **state)
{
	struct words_facts facts = whole_facts();

	assert_need(state, &facts, "Filesystem needs attention");
	facts.health = HEALTH_AUTH_REQUIRED;
	assert_need(state, &facts, "Filesystem needs a sign-in");
	facts.health = HEALTH_CONFIGURATION_REQUIRED;
	assert_need(state, &facts, "Filesystem needs settings");
	facts.health = HEALTH_DISABLED;
	assert_need(state, &facts, "Filesystem needs switching on");
	facts.health = HEALTH_UNKNOWN;
	assert_need(state, &facts, "Filesystem needs a first check");
	facts.health = HEALTH_HEALTHY;
	facts.is_switched_off = true;
	assert_need(state, &facts, "Filesystem needs switching on");
	facts.install_state = HEALTH_MISSING;
	assert_need(state, &facts, "Filesystem needs installing");
	facts.observed = false;
	assert_need(state, &facts, "Filesystem needs a first check");
	facts.server = (struct str){0};
	assert_need(state, &facts, "This tool server needs a first check");
}

static void a_server_says_what_was_seen_last(void **state)
{
	struct words_facts facts = whole_facts();
	struct words_facts none = {0};

	assert_words(state, OPERATOR_MCP_NEEDS_SETUP, ARM_NONE, &facts, "Filesystem needs attention",
		"Last seen 12 s ago: connection refused. Checked again in 40 s.");
	facts.error = STR("Connection refused.");
	facts.next_check = (struct str){0};
	assert_words(state, OPERATOR_MCP_NEEDS_SETUP, ARM_NONE, &facts, "Filesystem needs attention",
		"Last seen 12 s ago: Connection refused.");
	facts.error = (struct str){0};
	assert_words(
		state, OPERATOR_MCP_NEEDS_SETUP, ARM_NONE, &facts, "Filesystem needs attention", "Last seen 12 s ago.");
	assert_words(state, OPERATOR_MCP_NEEDS_SETUP, ARM_NONE, &none, "This tool server needs a first check",
		"Nothing has been seen of it yet.");
}

static void the_other_states_read_as_the_table_says(void **state)
{
	struct words_facts facts = whole_facts();
	struct words_facts none = {0};

	facts.capabilities = STR("github.issues.create");
	assert_words(state, OPERATOR_DEFERRED_BOUNDARY, ARM_NONE, &facts, "Not offered yet",
		"github.issues.create needs a live tool, which agents aren't given yet; nothing is broken.");
	assert_words(state, OPERATOR_DEFERRED_BOUNDARY, ARM_NONE, &none, "Not offered yet",
		"It needs a live tool, which agents aren't given yet; nothing is broken.");
	facts.capabilities = STR("github.issues.read, github.contents.read");
	assert_words(state, OPERATOR_PLANNING_CONTEXT, ARM_NONE, &facts, "Text only",
		"github.issues.read, github.contents.read reach the agent as text in its prompt and open nothing.");
	assert_words(state, OPERATOR_PLANNING_CONTEXT, ARM_NONE, &none, "Text only",
		"What it asks for reaches the agent as text in its prompt and opens nothing.");
	facts.reason = STR("github.issues.reed isn't known");
	assert_words(state, OPERATOR_PLAN_NEEDS_CHANGES, ARM_NONE, &facts, "Plan needs a change",
		"github.issues.reed isn't known");
	assert_words(state, OPERATOR_PLAN_NEEDS_CHANGES, ARM_NONE, &none, "Plan needs a change",
		"The plan asks for something that can't be given.");
	assert_words(state, OPERATOR_RECOMPUTE, ARM_NONE, &facts, "Needs to be decided again",
		"An older record without requirements; nothing is assumed.");
}

static void an_approval_says_for_what_and_by_whom(void **state)
{
	struct words_facts facts = whole_facts();
	struct words_facts none = {0};

	assert_words(state, OPERATOR_CONTEXT_APPROVED, ARM_NONE, &facts, "Read access approved",
		"Once, for this package, by marek at 09:04.");
	assert_words(
		state, OPERATOR_CONTEXT_APPROVED, ARM_NONE, &none, "Read access approved", "Once, for this package.");
	facts.is_project_grant = none.is_project_grant = true;
	assert_words(state, OPERATOR_CONTEXT_APPROVED, ARM_NONE, &facts, "Read access approved",
		"For tracker until 7 Dec, by marek at 09:04.");
	assert_words(state, OPERATOR_CONTEXT_APPROVED, ARM_NONE, &none, "Read access approved", "For this project.");
}

static void an_optional_requirement_says_that_the_package_goes_on(void **state)
{
	struct words_facts facts = {.capabilities = STR("github.issues.create"), .goes_on_without = true};

	assert_words(state, OPERATOR_DEFERRED_BOUNDARY, ARM_NONE, &facts, "Not offered yet",
		"github.issues.create needs a live tool, which agents aren't given yet; nothing is broken. The package "
		"goes "
		"on without it.");
	assert_arm(
		state, ARM_DENIED, &facts, "Read access was denied", "It was denied. The package goes on without it.");
	assert_words(
		state, OPERATOR_CONTEXT_APPROVED, ARM_NONE, &facts, "Read access approved", "Once, for this package.");
}

static void facts_are_shown_as_they_are(void **state)
{
	struct words_facts facts = {
		.who = STR("{reason} [x|y]"), .reason = STR("100% {who}"), .when = STR("09:04"), .package = STR("]}")};

	assert_arm(state, ARM_DENIED, &facts, "Read access was denied",
		"{reason} [x|y] denied it at 09:04: \"100% {who}\".");
}

static void assert_label(void **state, enum action_id action, enum hold_arm arm, const char *expected)
{
	struct str label;

	assert_int_equal(words_action_label(*state, action, arm, STR("tracker"), &label), 0);
	assert_text(label, expected);
}

static void buttons_are_called_by_what_they_do_there(void **state)
{
	struct str label;

	assert_label(state, ACTION_APPROVE_ONCE, ARM_NEVER_APPROVED, "Approve once…");
	assert_label(state, ACTION_APPROVE_ONCE, ARM_USED_UP, "Approve once more…");
	assert_label(state, ACTION_APPROVE_ALWAYS, ARM_USED_UP, "Always allow in tracker…");
	assert_label(state, ACTION_APPROVE_ALWAYS, ARM_REMOVED, "Always allow again…");
	assert_label(state, ACTION_APPROVE_ALWAYS, ARM_EXPIRED, "Always allow again…");
	assert_label(state, ACTION_APPROVE_ALWAYS, ARM_NARROWED, "Widen project access…");
	assert_label(state, ACTION_DENY, ARM_NEVER_APPROVED, "Deny…");
	assert_label(state, ACTION_SET_ROOT, ARM_NO_ROOT, "Set the folder…");
	assert_label(state, ACTION_SET_ROOT, ARM_ROOT_CHANGED, "Change the folder…");
	assert_label(state, ACTION_CHECK_SERVER, ARM_NONE, "Check now");
	assert_label(state, ACTION_REQUEST_CHANGES, ARM_NONE, "Request changes…");
	assert_label(state, ACTION_CANCEL_PACKAGE, ARM_NONE, "Cancel package…");
	assert_label(state, ACTION_APPROVE_PLAN, ARM_NONE, "Approve plan…");
	assert_label(state, ACTION_REJECT, ARM_NONE, "Reject…");
	assert_label(state, ACTION_RETRY, ARM_NONE, "Retry");
	assert_label(state, ACTION_CANCEL_TASK, ARM_NONE, "Cancel task…");
	assert_int_equal(words_action_label(*state, ACTION_APPROVE_ALWAYS, ARM_NONE, (struct str){0}, &label), 0);
	assert_text(label, "Always allow in this project…");
}

static void what_cant_be_done_now_says_why(void **state)
{
	(void)state;
	for (int off = ACTION_OFF_NOT + 1; off < ACTION_OFF_COUNT; off++) {
		const char *text = action_off_text((enum action_off)off);

		assert_true(strlen(action_off_name((enum action_off)off)) > 0);
		assert_int_equal(text[strlen(text) - 1], '.');
	}
	assert_string_equal(action_off_name(ACTION_OFF_NO_ACCESS), "no_access");
}

static void actions_have_their_wire_names(void **state)
{
	(void)state;
	assert_string_equal(action_id_name(ACTION_APPROVE_ONCE), "approve_once");
	assert_string_equal(action_id_name(ACTION_APPROVE_ALWAYS), "approve_always");
	assert_string_equal(action_id_name(ACTION_SET_ROOT), "set_root");
	assert_string_equal(action_id_name(ACTION_APPROVE_PLAN), "approve");
	assert_string_equal(action_id_name(ACTION_CANCEL_TASK), "cancel_task");
	assert_string_equal(action_id_name(ACTION_NARROW), "narrow");
}

static void no_memory_is_told_and_nothing_is_written(void **state)
{
	struct arena tight;
	struct words_facts facts = whole_facts();
	struct words words = {.sign = "untouched"};

	(void)state;
	arena_init(&tight, 8);
	assert_int_equal(words_state(&tight, OPERATOR_RECOMPUTE, ARM_NONE, &facts, &words), -ENOMEM);
	assert_string_equal(words.sign, "untouched");
	arena_release(&tight);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_arm_reads_as_the_table_says),
		cmocka_unit_test(arms_without_facts_leave_no_holes),
		cmocka_unit_test(a_part_of_the_facts_is_worded_around),
		cmocka_unit_test(an_empty_fact_counts_as_absent),
		cmocka_unit_test(a_missing_grant_without_an_arm_reads_as_undecided),
		cmocka_unit_test(a_server_says_what_it_needs_most),
		cmocka_unit_test(a_server_says_what_was_seen_last),
		cmocka_unit_test(the_other_states_read_as_the_table_says),
		cmocka_unit_test(an_approval_says_for_what_and_by_whom),
		cmocka_unit_test(an_optional_requirement_says_that_the_package_goes_on),
		cmocka_unit_test(facts_are_shown_as_they_are),
		cmocka_unit_test(buttons_are_called_by_what_they_do_there),
		cmocka_unit_test(what_cant_be_done_now_says_why),
		cmocka_unit_test(actions_have_their_wire_names),
		cmocka_unit_test(no_memory_is_told_and_nothing_is_written),
	};

	return cmocka_run_group_tests_name("words", tests, setup, teardown);
}
