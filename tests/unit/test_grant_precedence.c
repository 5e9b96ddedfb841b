/* Which record of the ledger counts: rows P1 to P13 of chapter 2.4, and that every combination lands on exactly one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "daemon/lifecycle/grant_precedence.h"
#include "policy/cleanup.h"

enum { ROOT = 3 };

/* Two capabilities that a requirement needs, and one that it doesn't. */
static const struct catalog_capability read_it = {.name = {"filesystem.project.read", 23}, .index = 0};
static const struct catalog_capability list_it = {.name = {"filesystem.project.list", 23}, .index = 1};
static const struct catalog_capability search_it = {.name = {"filesystem.project.search", 25}, .index = 2};

static const struct catalog_capability *const none[] = {NULL};
static const struct catalog_capability *const only_read[] = {&read_it};
static const struct catalog_capability *const both[] = {&read_it, &list_it};
static const struct catalog_capability *const all[] = {&read_it, &list_it, &search_it};
static const struct catalog_capability *const only_search[] = {&search_it};

#define SET(items) ((struct precedence_set){(items), sizeof(items) / sizeof((items)[0])})
#define NOTHING ((struct precedence_set){none, 0})

static struct precedence_input base(void)
{
	return (struct precedence_input){.needs = SET(both), .root_revision = ROOT};
}

static struct precedence_record record(enum precedence_decision decision, int64_t revision)
{
	return (struct precedence_record){.decision = decision,
		.revision = revision,
		.root_revision = ROOT,
		.id = STR("grt_x"),
		.capabilities = SET(both)};
}

static void expect(const struct precedence_input *input, enum precedence_row row, enum grant_phase phase,
	enum grant_source source, enum revocation_reason reason)
{
	struct grant_state state = {0};

	assert_int_equal(grant_precedence(input, &state), row);
	assert_int_equal(state.phase, phase);
	assert_int_equal(state.source, source);
	assert_int_equal(state.reason, reason);
	assert_false(state.is_incoherent);
}

static void expect_denied(const struct precedence_input *input)
{
	expect(input, PRECEDENCE_P2, GRANT_PHASE_DENIED, GRANT_SOURCE_PACKAGE_LOCAL, REVOCATION_NONE);
}

static void expect_project(const struct precedence_input *input, enum precedence_row row)
{
	expect(input, row, GRANT_PHASE_APPROVED, GRANT_SOURCE_PROJECT_LEVEL, REVOCATION_NONE);
}

static void expect_package(const struct precedence_input *input, enum precedence_row row, bool consumed)
{
	struct grant_state state = {0};

	expect(input, row, GRANT_PHASE_APPROVED, GRANT_SOURCE_PACKAGE_LOCAL, REVOCATION_NONE);
	(void)grant_precedence(input, &state);
	assert_true(state.has_consumed);
	assert_int_equal(state.consumed, consumed);
}

static void p1_a_later_project_grant_beats_a_package_denial(void **state)
{
	struct precedence_input input = base();

	(void)state;
	input.package = record(PRECEDENCE_DENIED, 4);
	input.project = record(PRECEDENCE_APPROVED, 5);
	expect_project(&input, PRECEDENCE_P1);
}

static void p2_an_earlier_or_narrower_project_grant_does_not_beat_a_denial(void **state)
{
	struct precedence_input input = base();

	(void)state;
	input.package = record(PRECEDENCE_DENIED, 4);
	expect_denied(&input);
	input.project = record(PRECEDENCE_APPROVED, 3);
	expect_denied(&input);
	input.project.revision = 5;
	input.project.capabilities = SET(only_read);
	expect_denied(&input);
	input.project.capabilities = SET(both);
	input.project.is_expired = true;
	expect_denied(&input);
}

static void p3_an_unused_approval_counts_unless_a_later_project_grant_covers(void **state)
{
	struct precedence_input input = base();

	(void)state;
	input.package = record(PRECEDENCE_APPROVED, 4);
	expect_package(&input, PRECEDENCE_P3, false);
	input.project = record(PRECEDENCE_APPROVED, 3);
	expect_package(&input, PRECEDENCE_P3, false);
	input.project = record(PRECEDENCE_REVOKED, 9);
	expect_package(&input, PRECEDENCE_P3, false);
	input.project = record(PRECEDENCE_APPROVED, 9);
	input.project.capabilities = SET(only_read);
	expect_package(&input, PRECEDENCE_P3, false);
}

static void p4_a_usable_project_grant_counts_where_nothing_denies(void **state)
{
	struct precedence_input input = base();

	(void)state;
	input.project = record(PRECEDENCE_APPROVED, 1);
	expect_project(&input, PRECEDENCE_P4);
	input.package = record(PRECEDENCE_APPROVED, 4);
	input.project.revision = 5;
	expect_project(&input, PRECEDENCE_P4);
	input.project.revision = 3;
	input.is_consumed = true;
	expect_project(&input, PRECEDENCE_P4);
	input.package = record(PRECEDENCE_REVOKED, 4);
	expect_project(&input, PRECEDENCE_P4);
	input.package = record(PRECEDENCE_DENIED, 4);
	input.package.root_revision = ROOT - 1;
	expect_project(&input, PRECEDENCE_P4);
}

static void p5_a_used_or_narrow_approval_shows_what_it_is(void **state)
{
	struct precedence_input input = base();
	struct grant_state effective = {0};

	(void)state;
	input.package = record(PRECEDENCE_APPROVED, 4);
	input.is_consumed = true;
	expect_package(&input, PRECEDENCE_P5, true);
	input.is_consumed = false;
	input.package.capabilities = SET(only_read);
	expect_package(&input, PRECEDENCE_P5, false);
	(void)grant_precedence(&input, &effective);
	assert_int_equal(effective.covered_count, 1);
	assert_ptr_equal(effective.covered[0], &read_it);
}

static void p6_a_record_for_another_root_is_a_repoint_whatever_it_said(void **state)
{
	static const enum precedence_decision decisions[] = {
		PRECEDENCE_APPROVED, PRECEDENCE_DENIED, PRECEDENCE_REVOKED};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct precedence_input input = base();

		input.package = record(decisions[i], 4);
		input.package.root_revision = ROOT - 1;
		expect(&input, PRECEDENCE_P6, GRANT_PHASE_REVOKED, GRANT_SOURCE_PACKAGE_LOCAL,
			REVOCATION_PROJECT_ROOT_REPOINT);
	}
}

static void p7_an_approval_whose_end_is_recorded_has_expired(void **state)
{
	struct precedence_input input = base();

	(void)state;
	input.package = record(PRECEDENCE_APPROVED, 4);
	input.package.is_expired = true;
	expect(&input, PRECEDENCE_P7, GRANT_PHASE_REVOKED, GRANT_SOURCE_PACKAGE_LOCAL, REVOCATION_GRANT_EXPIRED);
	input.is_consumed = true;
	expect(&input, PRECEDENCE_P7, GRANT_PHASE_REVOKED, GRANT_SOURCE_PACKAGE_LOCAL, REVOCATION_GRANT_EXPIRED);
}

static void p8_what_was_taken_back_is_removed(void **state)
{
	struct precedence_input input = base();

	(void)state;
	input.package = record(PRECEDENCE_REVOKED, 4);
	expect(&input, PRECEDENCE_P8, GRANT_PHASE_REVOKED, GRANT_SOURCE_PACKAGE_LOCAL,
		REVOCATION_PACKAGE_GRANT_REMOVED);
}

static void p9_a_removed_project_grant_reads_as_removed(void **state)
{
	struct precedence_input input = base();

	(void)state;
	input.project = record(PRECEDENCE_REVOKED, 4);
	expect(&input, PRECEDENCE_P9, GRANT_PHASE_REVOKED, GRANT_SOURCE_PROJECT_LEVEL,
		REVOCATION_PROJECT_GRANT_REMOVED);
}

static void p10_a_project_grant_for_another_root_is_a_repoint(void **state)
{
	struct precedence_input input = base();

	(void)state;
	input.project = record(PRECEDENCE_APPROVED, 4);
	input.project.root_revision = ROOT + 1;
	expect(&input, PRECEDENCE_P10, GRANT_PHASE_REVOKED, GRANT_SOURCE_PROJECT_LEVEL,
		REVOCATION_PROJECT_ROOT_REPOINT);
}

static void p11_what_a_project_dropped_reads_as_narrowed(void **state)
{
	struct precedence_input input = base();

	(void)state;
	input.project = record(PRECEDENCE_APPROVED, 4);
	input.project.capabilities = SET(only_read);
	input.project.dropped = SET(both);
	expect(&input, PRECEDENCE_P11, GRANT_PHASE_REVOKED, GRANT_SOURCE_PROJECT_LEVEL,
		REVOCATION_PROJECT_GRANT_NARROWED);
	input.project.is_expired = true;
	expect(&input, PRECEDENCE_P11, GRANT_PHASE_REVOKED, GRANT_SOURCE_PROJECT_LEVEL,
		REVOCATION_PROJECT_GRANT_NARROWED);
	input.project.dropped = SET(only_search);
	expect(&input, PRECEDENCE_P12, GRANT_PHASE_REVOKED, GRANT_SOURCE_PROJECT_LEVEL, REVOCATION_GRANT_EXPIRED);
}

static void p12_an_expired_project_grant_that_covered_some_of_it_has_expired(void **state)
{
	struct precedence_input input = base();

	(void)state;
	input.project = record(PRECEDENCE_APPROVED, 4);
	input.project.is_expired = true;
	input.project.capabilities = SET(only_read);
	expect(&input, PRECEDENCE_P12, GRANT_PHASE_REVOKED, GRANT_SOURCE_PROJECT_LEVEL, REVOCATION_GRANT_EXPIRED);
}

static void p13_what_nobody_decided_in_full_is_proposed(void **state)
{
	struct precedence_input input = base();

	(void)state;
	expect(&input, PRECEDENCE_P13, GRANT_PHASE_PROPOSED, GRANT_SOURCE_NONE, REVOCATION_NONE);
	input.project = record(PRECEDENCE_APPROVED, 4);
	input.project.capabilities = SET(only_read);
	expect(&input, PRECEDENCE_P13, GRANT_PHASE_PROPOSED, GRANT_SOURCE_NONE, REVOCATION_NONE);
	input.project.capabilities = SET(only_search);
	input.project.is_expired = true;
	expect(&input, PRECEDENCE_P13, GRANT_PHASE_PROPOSED, GRANT_SOURCE_NONE, REVOCATION_NONE);
}

/* ---- the table again, each row as its own sentence, for the brute force */

struct facts {
	const struct precedence_input *in;
	bool usable, later, has_package, current, denied, once, covering, taken_back;
	bool project_approved, project_current, needs_dropped, covers_some;
};

static bool meets(const struct precedence_set *set, const struct precedence_set *needs)
{
	for (size_t i = 0; i < needs->count; i++)
		for (size_t k = 0; k < set->count; k++)
			if (set->items[k] == needs->items[i])
				return true;
	return false;
}

static struct facts facts_of(const struct precedence_input *in)
{
	return (struct facts){
		.in = in,
		.usable = in->project.decision == PRECEDENCE_APPROVED && in->project.root_revision == ROOT &&
			!in->project.is_expired && precedence_set_covers(&in->project.capabilities, &in->needs),
		.later = in->project.revision > in->package.revision,
		.has_package = in->package.decision != PRECEDENCE_NO_RECORD,
		.current = in->package.root_revision == ROOT,
		.denied = in->package.decision == PRECEDENCE_DENIED,
		.once = in->package.decision == PRECEDENCE_APPROVED,
		.covering = precedence_set_covers(&in->package.capabilities, &in->needs),
		.taken_back = in->package.decision == PRECEDENCE_REVOKED,
		.project_approved = in->project.decision == PRECEDENCE_APPROVED,
		.project_current = in->project.root_revision == ROOT,
		.needs_dropped = meets(&in->project.dropped, &in->needs),
		.covers_some = meets(&in->project.capabilities, &in->needs),
	};
}

static bool row_applies(int row, const struct facts *f)
{
	bool expired = f->in->package.is_expired;
	bool used = f->in->is_consumed;
	bool unusable = !f->usable;

	switch (row) {
	case 1:
		return f->denied && f->current && f->usable && f->later;
	case 2:
		return f->denied && f->current;
	case 3:
		return f->once && f->current && !expired && !used && f->covering && !(f->usable && f->later);
	case 4:
		return f->usable;
	case 5:
		return f->once && f->current && !expired && (used || !f->covering) && unusable;
	case 6:
		return f->has_package && !f->current && unusable;
	case 7:
		return f->once && expired && unusable;
	case 8:
		return f->taken_back && unusable;
	case 9:
		return !f->has_package && f->in->project.decision == PRECEDENCE_REVOKED;
	case 10:
		return !f->has_package && f->project_approved && !f->project_current;
	case 11:
		return !f->has_package && f->project_approved && f->project_current && f->needs_dropped;
	case 12:
		return !f->has_package && f->project_approved && f->project_current && f->covers_some &&
			f->in->project.is_expired;
	default:
		return !f->has_package;
	}
}

static int expected_row(const struct precedence_input *input)
{
	struct facts facts = facts_of(input);

	for (int row = 1; row <= 13; row++)
		if (row_applies(row, &facts))
			return row;
	return 0;
}

/* Chapter 1.6: grant_state_write() and _read() give a coherent state back as it was, and mark any other one. */
static void expect_coherent(const struct catalog *catalog, const struct grant_state *state)
{
	struct buf buf;
	struct json_out out;
	struct arena arena;
	struct grant_state again = {0};

	buf_init(&buf, 65536);
	arena_init(&arena, 65536);
	json_out_init(&out, &buf);
	grant_state_write(state, &out);
	assert_int_equal(buf_error(&buf), 0);
	{
		CLEANUP(json_drop) json_t *value = json_loadb(buf.bytes, buf.len, 0, NULL);

		assert_non_null(value);
		assert_int_equal(grant_state_read(&arena, catalog, value, &again), 0);
	}
	assert_false(again.is_incoherent);
	assert_int_equal(again.phase, state->phase);
	assert_int_equal(again.source, state->source);
	assert_int_equal(again.reason, state->reason);
	assert_int_equal(again.covered_count, state->covered_count);
	arena_release(&arena);
	buf_release(&buf);
}

static unsigned take(unsigned *rest, unsigned count)
{
	unsigned value = *rest % count;

	*rest /= count;
	return value;
}

/* Every combination: decision × root × end × use × coverage × order of the package's record, and the same of the project's. */
static struct precedence_input combination(unsigned index)
{
	static const enum precedence_decision decisions[] = {
		PRECEDENCE_NO_RECORD, PRECEDENCE_DENIED, PRECEDENCE_REVOKED, PRECEDENCE_APPROVED};
	static const enum precedence_decision project_decisions[] = {
		PRECEDENCE_NO_RECORD, PRECEDENCE_REVOKED, PRECEDENCE_APPROVED};
	const struct precedence_set sets[] = {NOTHING, SET(only_read), SET(both), SET(all)};
	struct precedence_input input = base();
	unsigned rest = index;
	unsigned decision = take(&rest, 4);
	unsigned root = take(&rest, 2);
	unsigned expired = take(&rest, 2);
	unsigned used = take(&rest, 2);
	unsigned set = take(&rest, 4);
	unsigned order = take(&rest, 3);
	unsigned project_decision = take(&rest, 3);
	unsigned project_root = take(&rest, 2);
	unsigned project_expired = take(&rest, 2);
	unsigned project_set = take(&rest, 4);
	unsigned dropped = take(&rest, 4);

	input.package = record(decisions[decision], 10);
	input.package.root_revision = ROOT - (int64_t)root;
	input.package.is_expired = expired != 0;
	input.package.capabilities = sets[set];
	input.is_consumed = used != 0;
	input.project = record(project_decisions[project_decision], 9 + (int64_t)order);
	input.project.root_revision = ROOT - (int64_t)project_root;
	input.project.is_expired = project_expired != 0;
	input.project.capabilities = sets[project_set];
	input.project.dropped = sets[dropped];
	return input;
}

enum { COMBINATIONS = 4 * 2 * 2 * 2 * 4 * 3 * 3 * 2 * 2 * 4 * 4 };

static void every_combination_lands_on_the_first_row_that_applies(void **state)
{
	size_t seen[14] = {0};

	(void)state;
	for (unsigned i = 0; i < COMBINATIONS; i++) {
		struct precedence_input input = combination(i);
		struct grant_state effective = {0};
		int row = (int)grant_precedence(&input, &effective);

		assert_int_not_equal(row, 0);
		assert_int_equal(row, expected_row(&input));
		seen[row]++;
	}
	for (int row = 1; row <= 13; row++)
		assert_int_not_equal(seen[row], 0);
}

static void every_combination_gives_a_coherent_state(void **state)
{
	struct catalog *catalog = NULL;
	struct catalog_fault fault;

	(void)state;
	assert_int_equal(catalog_new(catalog_default_bytes(), &catalog, &fault), 0);
	for (unsigned i = 0; i < COMBINATIONS; i += 7) {
		struct precedence_input input = combination(i);
		struct grant_state effective = {0};

		(void)grant_precedence(&input, &effective);
		expect_coherent(catalog, &effective);
	}
	catalog_free(catalog);
}

static void a_record_longer_than_a_state_may_be_shows_what_is_needed(void **state)
{
	static struct catalog_capability many[GRANT_COVERED_LIMIT + 5];
	const struct catalog_capability *items[GRANT_COVERED_LIMIT + 5];
	const struct catalog_capability *needed[] = {NULL};
	struct precedence_input input = base();
	struct grant_state effective = {0};

	(void)state;
	for (size_t i = 0; i < GRANT_COVERED_LIMIT + 5; i++)
		items[i] = &many[i];
	needed[0] = items[GRANT_COVERED_LIMIT + 4];
	input.needs = SET(needed);
	input.project = record(PRECEDENCE_APPROVED, 1);
	input.project.capabilities = SET(items);
	expect_project(&input, PRECEDENCE_P4);
	(void)grant_precedence(&input, &effective);
	assert_int_equal(effective.covered_count, 1);
	assert_ptr_equal(effective.covered[0], needed[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(p1_a_later_project_grant_beats_a_package_denial),
		cmocka_unit_test(p2_an_earlier_or_narrower_project_grant_does_not_beat_a_denial),
		cmocka_unit_test(p3_an_unused_approval_counts_unless_a_later_project_grant_covers),
		cmocka_unit_test(p4_a_usable_project_grant_counts_where_nothing_denies),
		cmocka_unit_test(p5_a_used_or_narrow_approval_shows_what_it_is),
		cmocka_unit_test(p6_a_record_for_another_root_is_a_repoint_whatever_it_said),
		cmocka_unit_test(p7_an_approval_whose_end_is_recorded_has_expired),
		cmocka_unit_test(p8_what_was_taken_back_is_removed),
		cmocka_unit_test(p9_a_removed_project_grant_reads_as_removed),
		cmocka_unit_test(p10_a_project_grant_for_another_root_is_a_repoint),
		cmocka_unit_test(p11_what_a_project_dropped_reads_as_narrowed),
		cmocka_unit_test(p12_an_expired_project_grant_that_covered_some_of_it_has_expired),
		cmocka_unit_test(p13_what_nobody_decided_in_full_is_proposed),
		cmocka_unit_test(every_combination_lands_on_the_first_row_that_applies),
		cmocka_unit_test(every_combination_gives_a_coherent_state),
		cmocka_unit_test(a_record_longer_than_a_state_may_be_shows_what_is_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
