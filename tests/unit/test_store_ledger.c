/* The ledger of grants, due records, runs, decisions and events, through the store's headers alone (chapters 2.1, 2.4, 2.5).
 * Each test is one writing operation, so that what it reads is what it wrote.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/store/decision.h"
#include "daemon/store/event.h"
#include "daemon/store/grant.h"
#include "daemon/store/package.h"
#include "daemon/store/project.h"
#include "daemon/store/run.h"
#include "tests/lib/store_fixture.h"

static struct store_grant grant(const char *id, const char *package, enum store_grant_decision decision)
{
	return (struct store_grant){.id = store_fixture_str(id),
		.project = STR("p"),
		.package = store_fixture_str(package),
		.decision = decision,
		.capabilities_json = STR("[\"filesystem.project.read\"]"),
		.dropped_json = STR("[]"),
		.root_revision = 1,
		.actor = {STR("tok_a"), STR("approver")},
		.at = 50};
}

static int use_ledger(struct store_tx *tx, void *arg)
{
	struct store_grant denied = grant("grt_1", "pkg_a", STORE_GRANT_DENIED);
	struct store_grant once = grant("grt_2", "pkg_a", STORE_GRANT_APPROVED);
	struct store_grant always = grant("grt_3", NULL, STORE_GRANT_APPROVED);
	struct store_grant revoked = grant("grt_4", NULL, STORE_GRANT_REVOKED);
	struct store_grant other = grant("grt_5", "pkg_b", STORE_GRANT_DENIED);
	struct store_project project;
	struct store_grant found;

	(void)arg;
	STORE_EXPECT(store_grant_latest_of_package(tx, STR("pkg_a"), &found) == STORE_ABSENT);
	STORE_EXPECT(store_grant_append(tx, &denied, 1) == STORE_STALE);
	STORE_EXPECT(store_grant_append(tx, &denied, 0) == 0 && denied.revision == 1 && !denied.replaces.bytes);
	STORE_EXPECT(store_grant_append(tx, &once, 0) == STORE_STALE);
	STORE_EXPECT(
		store_grant_append(tx, &once, 1) == 0 && once.revision == 2 && once.mode == STORE_GRANT_ALLOW_ONCE);
	STORE_EXPECT(str_is(once.replaces, "grt_1"));
	STORE_EXPECT(store_grant_append(tx, &always, 0) == STORE_STALE); /* it must have seen the packages' records */
	STORE_EXPECT(store_grant_append(tx, &always, 2) == 0 && always.revision == 3);
	STORE_EXPECT(always.mode == STORE_GRANT_ALWAYS_ALLOW && !always.replaces.bytes);
	STORE_EXPECT(store_grant_append(tx, &other, 0) == 0 && other.revision == 4);
	STORE_EXPECT(store_grant_append(tx, &revoked, 4) == STORE_STALE); /* the project's own record is meant */
	STORE_EXPECT(store_grant_append(tx, &revoked, 3) == 0 && str_is(revoked.replaces, "grt_3"));
	STORE_EXPECT(store_project_find(tx, STR("p"), &project) == 0 && project.decision_revision == 5);
	STORE_EXPECT(store_grant_latest_of_package(tx, STR("pkg_a"), &found) == 0 && str_is(found.id, "grt_2"));
	STORE_EXPECT(store_grant_latest_of_project(tx, STR("p"), &found) == 0 && found.decision == STORE_GRANT_REVOKED);
	other.package = STR("nobody");
	STORE_EXPECT(store_grant_append(tx, &other, 0) == STORE_ABSENT);
	STORE_EXPECT(store_grant_append(tx, &once, 2) == STORE_CONFLICT); /* the id */
	revoked.id = STR("grt_6");
	revoked.expires_at = 99;
	STORE_EXPECT(store_grant_append(tx, &revoked, 5) == -EINVAL); /* only an approval has an end */
	return 0;
}

static void the_ledger_takes_a_record_only_from_who_saw_the_latest(void **state)
{
	store_fixture_run(state, use_ledger);
}

static int list_ledger(struct store_tx *tx, void *arg)
{
	struct store_grant rows[] = {grant("grt_1", "pkg_a", STORE_GRANT_DENIED),
		grant("grt_2", "pkg_a", STORE_GRANT_APPROVED), grant("grt_3", NULL, STORE_GRANT_APPROVED),
		grant("grt_4", "pkg_b", STORE_GRANT_DENIED)};
	static const int64_t expected[] = {0, 1, 2, 0};
	struct store_grant_filter filter = {.project = STR("p")};
	struct store_package package;
	struct store_grant_list list;

	(void)arg;
	for (unsigned i = 0; i < 4; i++)
		STORE_EXPECT(store_grant_append(tx, &rows[i], expected[i]) == 0);
	STORE_EXPECT(store_grant_latest_of_packages(tx, STR("p"), &list) == 0 && list.count == 2);
	STORE_EXPECT(str_is(list.items[0].id, "grt_2") && str_is(list.items[1].id, "grt_4"));
	STORE_EXPECT(store_grant_list(tx, &filter, 0, 3, &list) == 0 && list.count == 3 &&
		str_is(list.items[0].id, "grt_4"));
	STORE_EXPECT(store_grant_list(tx, &filter, list.items[2].sequence, 3, &list) == 0 && list.count == 1);
	filter.latest_only = true;
	STORE_EXPECT(store_grant_list(tx, &filter, 0, 9, &list) == 0 && list.count == 3 &&
		str_is(list.items[2].id, "grt_2"));
	filter = (struct store_grant_filter){.package = STR("pkg_a")};
	STORE_EXPECT(store_grant_list(tx, &filter, 0, 9, &list) == 0 && list.count == 2);
	STORE_EXPECT(store_package_find(tx, STR("pkg_b"), &package) == 0);
	package.end = STORE_PACKAGE_CANCELLED;
	package.ended_at = 9;
	STORE_EXPECT(store_package_update(tx, &package) == 0);
	STORE_EXPECT(store_grant_latest_of_packages(tx, STR("p"), &list) == 0 && list.count == 1);
	return 0;
}

static void one_query_gives_the_latest_record_of_every_unfinished_package(void **state)
{
	store_fixture_run(state, list_ledger);
}

static int use_due(struct store_tx *tx, void *arg)
{
	struct store_grant late = grant("grt_1", "pkg_a", STORE_GRANT_APPROVED);
	struct store_grant early = grant("grt_2", "pkg_b", STORE_GRANT_APPROVED);
	struct store_due_list list;
	struct store_due due;
	struct store_grant found;

	(void)arg;
	late.expires_at = 2000;
	early.expires_at = 1000;
	STORE_EXPECT(store_grant_append(tx, &late, 0) == 0 && store_grant_append(tx, &early, 0) == 0);
	STORE_EXPECT(store_due_next(tx, 0, &due) == 0 && str_is(due.subject, "grt_2") && due.due_at == 1000);
	STORE_EXPECT(store_due_list(tx, STR("p"), 1999, 9, &list) == 0 && list.count == 1);
	STORE_EXPECT(store_due_list(tx, (struct str){0}, 2000, 9, &list) == 0 && list.count == 2);
	STORE_EXPECT(store_due_list(tx, STR("other"), 2000, 9, &list) == 0 && list.count == 0);
	STORE_EXPECT(store_due_next(tx, 1000, &due) == 0 && due.due_at == 2000);
	STORE_EXPECT(store_due_next(tx, 2000, &due) == STORE_ABSENT);
	STORE_EXPECT(store_due_list_projects(tx, (struct str){0}, 999, 9, &list) == 0 && list.count == 0);
	STORE_EXPECT(store_due_list_projects(tx, STR("p"), 2000, 9, &list) == 0 && list.count == 0);
	STORE_EXPECT(store_due_list_projects(tx, (struct str){0}, 2000, 9, &list) == 0 && list.count == 1);
	STORE_EXPECT(str_is(list.items[0].project, "p") && list.items[0].due_at == 1000);
	due = list.items[0];
	STORE_EXPECT(store_grant_find(tx, STR("grt_2"), &found) == 0 && !found.expired);
	due.at = 1003;
	STORE_EXPECT(store_due_append(tx, &due) == 0);
	STORE_EXPECT(store_grant_find(tx, STR("grt_2"), &found) == 0 && found.expired);
	STORE_EXPECT(store_grant_find(tx, STR("grt_1"), &found) == 0 && !found.expired);
	STORE_EXPECT(store_due_next(tx, 0, &due) == 0 && str_is(due.subject, "grt_1"));
	return 0;
}

static void a_grant_is_expired_when_its_due_record_exists(void **state)
{
	store_fixture_run(state, use_due);
}

static int use_runs(struct store_tx *tx, void *arg)
{
	struct store_run run;
	struct store_run end = {.id = STR("run_1"), .outcome = STORE_RUN_FAILED, .ended_at = 30};
	struct store_run_list list;
	struct store_run_filter filter = {.claimed_by_principal = STR("executor")};

	(void)arg;
	end.summary = STR("did not apply");
	STORE_EXPECT(store_fixture_insert_run(tx, "run_1", "nobody") == STORE_ABSENT);
	STORE_EXPECT(store_fixture_insert_run(tx, "run_1", "pkg_a") == 0);
	STORE_EXPECT(store_fixture_insert_run(tx, "run_2", "pkg_a") == STORE_CONFLICT); /* one live run a package */
	STORE_EXPECT(
		store_run_find_live(tx, STR("pkg_a"), &run) == 0 && str_is(run.id, "run_1") && str_is(run.task, "t"));
	STORE_EXPECT(store_run_find_by_token_hash(tx, STR("run_1"), &run) == 0 && run.outcome == STORE_RUN_LIVE);
	STORE_EXPECT(store_run_renew(tx, STR("run_1"), 90) == 0);
	STORE_EXPECT(store_run_set_packet(tx, STR("run_1"), STR("{\"bytes\":3}")) == 0);
	STORE_EXPECT(store_run_list_live(tx, STR("p"), &list) == 0 && list.count == 1 &&
		list.items[0].lease_expires_at == 90);
	STORE_EXPECT(store_run_end(tx, &end) == 0);
	STORE_EXPECT(store_run_end(tx, &end) == STORE_CONFLICT);
	STORE_EXPECT(store_run_renew(tx, STR("run_1"), 99) == STORE_CONFLICT);
	STORE_EXPECT(store_run_renew(tx, STR("run_9"), 99) == STORE_ABSENT);
	STORE_EXPECT(store_run_find(tx, STR("run_1"), &run) == 0 && run.outcome == STORE_RUN_FAILED);
	STORE_EXPECT(
		str_is(run.summary, "did not apply") && str_is(run.packet_json, "{\"bytes\":3}") && run.ended_at == 30);
	STORE_EXPECT(store_run_find_live(tx, STR("pkg_a"), &run) == STORE_ABSENT);
	STORE_EXPECT(store_fixture_insert_run(tx, "run_2", "pkg_a") == 0);
	STORE_EXPECT(
		store_run_list(tx, &filter, 0, 9, &list) == 0 && list.count == 2 && str_is(list.items[0].id, "run_2"));
	filter.live_only = true;
	filter.package = STR("pkg_a");
	STORE_EXPECT(store_run_list(tx, &filter, 0, 9, &list) == 0 && list.count == 1);
	return 0;
}

static void a_package_has_one_live_run_and_a_run_one_outcome(void **state)
{
	store_fixture_run(state, use_runs);
}

static int use_run_grants(struct store_tx *tx, void *arg)
{
	struct store_grant once = grant("grt_1", "pkg_a", STORE_GRANT_APPROVED);
	struct store_grant always = grant("grt_2", NULL, STORE_GRANT_APPROVED);
	struct store_run_grant row = {STR("run_1"), STR("fs-1"), STR("grt_1"), STORE_GRANT_ALLOW_ONCE};
	struct store_run_grant_list list;
	struct store_run run;
	struct store_grant found;

	(void)arg;
	STORE_EXPECT(store_grant_append(tx, &once, 0) == 0 && store_grant_append(tx, &always, 1) == 0);
	STORE_EXPECT(store_fixture_insert_run(tx, "run_1", "pkg_a") == 0 &&
		store_fixture_insert_run(tx, "run_2", "pkg_b") == 0);
	STORE_EXPECT(store_run_find(tx, STR("run_1"), &run) == 0 && !run.has_grants);
	STORE_EXPECT(store_run_grant_append(tx, &row) == 0);
	STORE_EXPECT(store_run_grant_append(tx, &row) == STORE_CONFLICT);
	row.requirement_key = STR("fs-2"); /* two requirements of one run */
	STORE_EXPECT(store_run_grant_append(tx, &row) == 0);
	row.run = STR("run_2"); /* but not two runs */
	STORE_EXPECT(store_run_grant_append(tx, &row) == STORE_CONFLICT);
	row.mode = STORE_GRANT_ALWAYS_ALLOW;
	STORE_EXPECT(store_run_grant_append(tx, &row) == STORE_ABSENT); /* grt_1 isn't of that mode */
	row.grant = STR("grt_2");
	STORE_EXPECT(store_run_grant_append(tx, &row) == 0);
	row.mode = STORE_GRANT_ALLOW_ONCE;
	row.requirement_key = STR("fs-3");
	STORE_EXPECT(store_run_grant_append(tx, &row) == STORE_ABSENT);
	STORE_EXPECT(store_grant_find(tx, STR("grt_1"), &found) == 0 && str_is(found.used_by, "run_1"));
	STORE_EXPECT(store_grant_find(tx, STR("grt_2"), &found) == 0 && !found.used_by.bytes);
	STORE_EXPECT(store_run_find(tx, STR("run_1"), &run) == 0 && run.has_grants);
	STORE_EXPECT(store_run_grant_list(tx, STR("run_1"), &list) == 0 && list.count == 2);
	STORE_EXPECT(str_is(list.items[0].requirement_key, "fs-1") && str_is(list.items[1].grant, "grt_1"));
	return 0;
}

static void a_one_time_grant_is_used_by_one_run_only(void **state)
{
	store_fixture_run(state, use_run_grants);
}

static int use_decisions(struct store_tx *tx, void *arg)
{
	struct store_decision row = {.id = STR("sha256:d"),
		.inputs_json = STR("{\"a\":1}"),
		.result_json = STR("{}"),
		.result_digest = STR("sha256:r"),
		.catalog_digest = STR("sha256:catalog"),
		.package_digest = STR("sha256:doc")};
	struct store_event event = {
		.type = STR("package.status"), .subject_kind = STR("package"), .subject_id = STR("pkg_a")};
	struct store_decision found;
	struct store_decision_list list;
	struct store_decision_filter filter = {.projects_json = STR("[\"p\"]"), .package = STR("pkg_a")};

	(void)arg;
	STORE_EXPECT(store_decision_put(tx, &row) == 0 && store_decision_put(tx, &row) == 0);
	STORE_EXPECT(store_decision_find(tx, STR("sha256:d"), &found) == 0 && str_is(found.inputs_json, "{\"a\":1}"));
	row.result_digest = STR("sha256:other");
	STORE_EXPECT(store_decision_put(tx, &row) == STORE_CONFLICT);
	STORE_EXPECT(store_decision_find(tx, STR("sha256:none"), &found) == STORE_ABSENT);
	row.id = STR("sha256:e");
	row.catalog_digest = STR("sha256:none");
	STORE_EXPECT(store_decision_put(tx, &row) == STORE_ABSENT);
	STORE_EXPECT(store_decision_list(tx, &filter, 0, 9, &list) == 0 && list.count == 0); /* no event names it */
	STORE_EXPECT(store_decision_is_seen(tx, STR("sha256:d"), (struct str){0}) == STORE_ABSENT);
	event.project = STR("p");
	event.package = STR("pkg_a");
	event.payload_json = STR("{}");
	event.surface = STORE_SURFACE_PREVIEW;
	event.decision = STR("sha256:d");
	STORE_EXPECT(store_event_append(tx, &event) == 0);
	STORE_EXPECT(store_decision_list(tx, &filter, 0, 9, &list) == 0 && list.count == 1 &&
		!list.items[0].inputs_json.bytes);
	STORE_EXPECT(store_decision_is_seen(tx, STR("sha256:d"), STR("[\"p\"]")) == 0);
	STORE_EXPECT(store_decision_is_seen(tx, STR("sha256:d"), STR("[\"q\"]")) == STORE_ABSENT);
	filter = (struct store_decision_filter){.project = STR("q")};
	STORE_EXPECT(store_decision_list(tx, &filter, 0, 9, &list) == 0 && list.count == 0);
	return 0;
}

static void a_decision_is_compared_and_belongs_to_who_an_event_names(void **state)
{
	store_fixture_run(state, use_decisions);
}

static int use_events(struct store_tx *tx, void *arg)
{
	struct store_event row = {
		.type = STR("package.status"), .subject_kind = STR("package"), .subject_id = STR("pkg_a")};
	struct store_event found;
	struct store_event_list list;
	struct store_event_filter filter = {.package = STR("pkg_a")};
	int64_t head;

	(void)arg;
	row.project = STR("p");
	row.package = STR("pkg_a");
	row.payload_json = STR("{}");
	STORE_EXPECT(store_event_head(tx, &head) == 0 && head == 0);
	STORE_EXPECT(store_event_append(tx, &row) == 0 && row.sequence == 1);
	row.surface = STORE_SURFACE_APPROVAL;
	STORE_EXPECT(store_event_append(tx, &row) == 0 && row.sequence == 2);
	STORE_EXPECT(store_fixture_append_event(tx, (void *)(uintptr_t) "x") == 0);
	row.decision = STR("sha256:none");
	STORE_EXPECT(store_event_append(tx, &row) == STORE_ABSENT);
	STORE_EXPECT(store_event_head(tx, &head) == 0 && head == 3);
	STORE_EXPECT(
		store_event_find_last(tx, STR("pkg_a"), STORE_SURFACE_APPROVAL, &found) == 0 && found.sequence == 2);
	STORE_EXPECT(store_event_find_last(tx, STR("pkg_a"), STORE_SURFACE_HANDOFF, &found) == STORE_ABSENT);
	STORE_EXPECT(store_event_list(tx, &filter, 1, 9, &list) == 0 && list.count == 1 && list.items[0].sequence == 2);
	filter.newest_first = true;
	STORE_EXPECT(store_event_list(tx, &filter, 0, 1, &list) == 0 && list.count == 1 && list.items[0].sequence == 2);
	STORE_EXPECT(store_event_list(tx, &filter, 2, 9, &list) == 0 && list.count == 1 && list.items[0].sequence == 1);
	filter = (struct store_event_filter){.projects_json = STR("[\"p\"]")};
	STORE_EXPECT(
		store_event_list(tx, &filter, 0, 9, &list) == 0 && list.count == 2); /* not the one of no project */
	filter = (struct store_event_filter){.type = STR("test.event")};
	STORE_EXPECT(store_event_list(tx, &filter, 0, 9, &list) == 0 && list.count == 1);
	STORE_EXPECT(str_is(list.items[0].actor.principal, "somebody") && list.items[0].at == 7);
	return 0;
}

static void events_have_no_gaps_and_are_listed_both_ways(void **state)
{
	store_fixture_run(state, use_events);
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, store_fixture_setup, store_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_STORE(the_ledger_takes_a_record_only_from_who_saw_the_latest),
		WITH_STORE(one_query_gives_the_latest_record_of_every_unfinished_package),
		WITH_STORE(a_grant_is_expired_when_its_due_record_exists),
		WITH_STORE(a_package_has_one_live_run_and_a_run_one_outcome),
		WITH_STORE(a_one_time_grant_is_used_by_one_run_only),
		WITH_STORE(a_decision_is_compared_and_belongs_to_who_an_event_names),
		WITH_STORE(events_have_no_gaps_and_are_listed_both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
