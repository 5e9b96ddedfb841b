/* Projects, tool servers, health, tasks, packages, catalogs and tokens, through the store's headers alone (chapters 2.1, 2.2).
 * Each test is one writing operation, so that what it reads is what it wrote.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/store/catalog.h"
#include "daemon/store/grant.h"
#include "daemon/store/health.h"
#include "daemon/store/package.h"
#include "daemon/store/project.h"
#include "daemon/store/run.h"
#include "daemon/store/task.h"
#include "daemon/store/token.h"
#include "tests/lib/store_fixture.h"

static int use_roots(struct store_tx *tx, void *arg)
{
	struct store_project row = {
		.id = STR("p"), .root_path = STR("/srv/p"), .root_device = UINT64_MAX, .root_inode = 7};
	struct store_project none = {.id = STR("p")};
	struct store_project nobody = {.id = STR("nobody")};
	struct store_project found;

	(void)arg;
	row.root_ref = STR("ref");
	STORE_EXPECT(store_project_find(tx, STR("p"), &found) == 0 && found.root_revision == 0);
	STORE_EXPECT(store_project_set_root(tx, &row) == 0 && row.root_revision == 1);
	STORE_EXPECT(store_project_find(tx, STR("p"), &found) == 0);
	STORE_EXPECT(str_is(found.root_path, "/srv/p") && found.root_device == UINT64_MAX && found.root_revision == 1);
	STORE_EXPECT(store_project_set_root(tx, &none) == 0 && none.root_revision == 0);
	STORE_EXPECT(
		store_project_find(tx, STR("p"), &found) == 0 && !found.root_path.bytes && found.root_revision == 0);
	STORE_EXPECT(store_project_set_root(tx, &row) == 0 && row.root_revision == 2);
	STORE_EXPECT(store_project_set_root(tx, &nobody) == STORE_ABSENT);
	STORE_EXPECT(store_project_find(tx, STR("nobody"), &found) == STORE_ABSENT);
	return 0;
}

static void a_root_taken_away_and_set_again_has_a_new_revision(void **state)
{
	store_fixture_run(state, use_roots);
}

static int list_projects(struct store_tx *tx, void *arg)
{
	struct store_project_list list;

	(void)arg;
	STORE_EXPECT(store_fixture_insert_project(tx, (void *)(uintptr_t) "a") == 0);
	STORE_EXPECT(store_fixture_insert_project(tx, (void *)(uintptr_t) "z") == 0);
	STORE_EXPECT(store_fixture_insert_project(tx, (void *)(uintptr_t) "z") == STORE_CONFLICT);
	STORE_EXPECT(store_project_list(tx, (struct str){0}, (struct str){0}, 2, &list) == 0 && list.count == 2);
	STORE_EXPECT(str_is(list.items[0].id, "a") && str_is(list.items[1].id, "p"));
	STORE_EXPECT(store_project_list(tx, (struct str){0}, list.items[1].id, 2, &list) == 0 && list.count == 1);
	STORE_EXPECT(str_is(list.items[0].id, "z"));
	STORE_EXPECT(store_project_list(tx, STR("[\"z\",\"p\"]"), (struct str){0}, 9, &list) == 0 && list.count == 2);
	STORE_EXPECT(store_project_list(tx, STR("[]"), (struct str){0}, 9, &list) == 0 && list.count == 0);
	return 0;
}

static void lists_go_on_after_a_key_and_show_permitted_projects_only(void **state)
{
	store_fixture_run(state, list_projects);
}

static int use_servers(struct store_tx *tx, void *arg)
{
	struct store_server row = {.project = STR("p"), .mcp_id = STR("github"), .enabled = true, .changed_at = 5};
	struct store_server found;
	struct store_server_list list;
	struct store_health health = {.project = STR("p"), .mcp_id = STR("github"), .install_state = STR("installed")};
	int64_t first;

	(void)arg;
	health.status = STR("healthy");
	row.kind = STORE_SERVER_BUILTIN;
	STORE_EXPECT(store_server_put(tx, &row) == 0);
	first = row.revision;
	STORE_EXPECT(store_health_put(tx, &health) == 0);
	STORE_EXPECT(store_server_find(tx, STR("p"), STR("github"), &found) == 0 && found.kind == STORE_SERVER_BUILTIN);
	STORE_EXPECT(store_server_delete(tx, STR("p"), STR("github")) == 0);
	STORE_EXPECT(store_server_delete(tx, STR("p"), STR("github")) == STORE_ABSENT);
	STORE_EXPECT(store_health_find(tx, STR("p"), STR("github"), &health) == STORE_ABSENT);
	row.kind = STORE_SERVER_SPEC;
	STORE_EXPECT(store_server_put(tx, &row) == -EINVAL); /* a spec without its spec */
	row.spec_json = STR("{}");
	STORE_EXPECT(store_server_put(tx, &row) == 0 && row.revision > first);
	STORE_EXPECT(store_server_list(tx, STR("p"), &list) == 0 && list.count == 1 &&
		str_is(list.items[0].spec_json, "{}"));
	row.project = STR("nobody");
	STORE_EXPECT(store_server_put(tx, &row) == STORE_ABSENT);
	return 0;
}

static void a_server_made_again_is_another_one(void **state)
{
	store_fixture_run(state, use_servers);
}

static int use_health(struct store_tx *tx, void *arg)
{
	struct store_health row = {.project = STR("p"), .mcp_id = STR("github"), .install_state = STR("installed")};
	struct store_health found;
	struct store_due due;

	(void)arg;
	row.status = STR("healthy");
	row.checked_at = 1000;
	row.valid_seconds = 60;
	STORE_EXPECT(store_health_put(tx, &row) == 0);
	STORE_EXPECT(store_due_next(tx, 0, &due) == 0 && due.due_at == 61000 && due.kind == STORE_DUE_HEALTH);
	row.checked_at = 999;
	STORE_EXPECT(store_health_put(tx, &row) == STORE_STALE);
	due.at = 61001;
	STORE_EXPECT(store_due_append(tx, &due) == 0);
	STORE_EXPECT(store_due_append(tx, &due) == STORE_CONFLICT);
	STORE_EXPECT(store_due_next(tx, 0, &due) == STORE_ABSENT);
	STORE_EXPECT(store_health_find(tx, STR("p"), STR("github"), &found) == 0 && found.expired &&
		found.checked_at == 1000);
	row.checked_at = 70000;
	STORE_EXPECT(store_health_put(tx, &row) == 0);
	STORE_EXPECT(store_health_find(tx, STR("p"), STR("github"), &found) == 0 && !found.expired);
	row.source = STORE_HEALTH_PROBED; /* asked by ourselves: no end, and no order but ours */
	row.checked_at = 5;
	STORE_EXPECT(store_health_put(tx, &row) == 0);
	STORE_EXPECT(store_due_next(tx, 0, &due) == STORE_ABSENT);
	row.source = STORE_HEALTH_REPORTED;
	row.valid_seconds = INT64_MAX;
	STORE_EXPECT(store_health_put(tx, &row) == -EINVAL);
	return 0;
}

static void a_reported_row_expires_by_its_record_and_an_older_report_is_stale(void **state)
{
	store_fixture_run(state, use_health);
}

static int use_tasks(struct store_tx *tx, void *arg)
{
	struct store_task task;
	struct store_task_list list;
	struct store_task_filter filter = {.project = STR("p")};

	(void)arg;
	STORE_EXPECT(store_task_find(tx, STR("t"), &task) == 0 && task.status == STORE_TASK_PROPOSED);
	STORE_EXPECT(
		str_is(task.submitted_by.principal, "planner") && !task.approval_json.bytes && task.approved_at == 0);
	STORE_EXPECT(store_task_insert(tx, &task) == STORE_CONFLICT);
	task.status = STORE_TASK_APPROVED;
	task.approved_at = 9;
	task.approval_json = STR("{\"health\":[]}");
	STORE_EXPECT(store_task_update(tx, &task) == 0);
	STORE_EXPECT(store_task_find(tx, STR("t"), &task) == 0 && str_is(task.approval_json, "{\"health\":[]}"));
	task.id = STR("t2");
	task.status = STORE_TASK_PROPOSED;
	STORE_EXPECT(store_task_update(tx, &task) == STORE_ABSENT);
	STORE_EXPECT(store_task_insert(tx, &task) == 0);
	STORE_EXPECT(
		store_task_list(tx, &filter, 0, 1, &list) == 0 && list.count == 1 && str_is(list.items[0].id, "t2"));
	STORE_EXPECT(store_task_list(tx, &filter, list.items[0].sequence, 9, &list) == 0 && list.count == 1);
	STORE_EXPECT(str_is(list.items[0].id, "t") && !list.items[0].approval_json.bytes);
	filter.has_status = true;
	filter.status = STORE_TASK_APPROVED;
	filter.submitted_by = STR("planner");
	STORE_EXPECT(
		store_task_list(tx, &filter, 0, 9, &list) == 0 && list.count == 1 && str_is(list.items[0].id, "t"));
	filter.projects_json = STR("[\"other\"]");
	STORE_EXPECT(store_task_list(tx, &filter, 0, 9, &list) == 0 && list.count == 0);
	task.id = STR("t3");
	task.project = STR("nobody");
	STORE_EXPECT(store_task_insert(tx, &task) == STORE_ABSENT);
	return 0;
}

static void tasks_are_found_changed_and_listed_newest_first(void **state)
{
	store_fixture_run(state, use_tasks);
}

static int approve_task(struct store_tx *tx)
{
	struct store_task task;
	int r = store_task_find(tx, STR("t"), &task);

	task.status = STORE_TASK_APPROVED;
	task.approved_at = 9;
	return r ? r : store_task_update(tx, &task);
}

static int use_packages(struct store_tx *tx, void *arg)
{
	struct store_package package;
	struct store_package_list list;
	struct str document;

	(void)arg;
	STORE_EXPECT(store_package_find(tx, STR("pkg_b"), &package) == 0);
	STORE_EXPECT(package.open_dependencies == 1 && package.task_status == STORE_TASK_PROPOSED &&
		!package.live_run.bytes);
	STORE_EXPECT(
		str_is(package.project, "p") && package.end == STORE_PACKAGE_UNFINISHED && !package.hold_json.bytes);
	STORE_EXPECT(store_document_find(tx, package.document_digest, &document) == 0 && str_is(document, "{}"));
	STORE_EXPECT(store_document_find(tx, STR("sha256:none"), &document) == STORE_ABSENT);
	STORE_EXPECT(store_package_insert(tx, &package, STR("{}")) == STORE_CONFLICT);
	package.id = STR("pkg_c");
	STORE_EXPECT(store_package_insert(tx, &package, STR("{}")) == STORE_CONFLICT); /* the label */
	package.task = STR("nobody");
	STORE_EXPECT(store_package_insert(tx, &package, STR("{}")) == STORE_ABSENT);

	STORE_EXPECT(store_package_find(tx, STR("pkg_b"), &package) == 0);
	package.hold_json = STR("{\"kind\":\"needs_grant\"}");
	package.hold_fingerprint = STR("f");
	package.hold_since = 77;
	STORE_EXPECT(store_package_update(tx, &package) == 0);
	STORE_EXPECT(store_package_list_held(tx, STR("[\"p\"]"), 0, 0, 9, &list) == 0 && list.count == 1);
	STORE_EXPECT(list.items[0].hold_since == 77 && str_is(list.items[0].hold_json, "{\"kind\":\"needs_grant\"}"));
	STORE_EXPECT(
		store_package_list_held(tx, (struct str){0}, 77, package.sequence, 9, &list) == 0 && list.count == 0);

	STORE_EXPECT(store_package_find(tx, STR("pkg_a"), &package) == 0);
	package.end = STORE_PACKAGE_SUPERSEDED;
	STORE_EXPECT(store_package_update(tx, &package) == -EINVAL); /* an end without its time */
	package.ended_at = 80;
	STORE_EXPECT(store_package_update(tx, &package) == 0);
	STORE_EXPECT(store_package_list_of_task(tx, STR("t"), false, &list) == 0 && list.count == 1);
	STORE_EXPECT(store_package_list_of_task(tx, STR("t"), true, &list) == 0 && list.count == 2);
	STORE_EXPECT(str_is(list.items[1].id, "pkg_a") && list.items[1].end == STORE_PACKAGE_SUPERSEDED);
	STORE_EXPECT(store_package_list_unfinished(tx, STR("p"), &list) == 0 && list.count == 1);
	return 0;
}

static void packages_show_their_facts_and_leave_the_lists_they_ended_for(void **state)
{
	store_fixture_run(state, use_packages);
}

static int use_claims(struct store_tx *tx, void *arg)
{
	struct store_claim_filter filter = {0};
	struct store_claim_cursor cursor;
	struct store_package_list list;
	struct store_package package;
	struct store_run run = {.id = STR("run_1"), .outcome = STORE_RUN_SUCCEEDED, .ended_at = 20};

	(void)arg;
	STORE_EXPECT(
		store_package_list_claimable(tx, &filter, NULL, 9, &list) == 0 && list.count == 0); /* not approved */
	STORE_EXPECT(approve_task(tx) == 0);
	STORE_EXPECT(store_package_list_claimable(tx, &filter, NULL, 9, &list) == 0 && list.count == 1);
	STORE_EXPECT(str_is(list.items[0].id, "pkg_a") && list.items[0].task_approved_at == 9);
	cursor = store_claim_cursor_after(&list.items[0]);
	STORE_EXPECT(store_package_list_claimable(tx, &filter, &cursor, 9, &list) == 0 && list.count == 0);
	filter.agent = STR("beta");
	STORE_EXPECT(store_package_list_claimable(tx, &filter, NULL, 9, &list) == 0 && list.count == 0);
	filter = (struct store_claim_filter){.project = STR("p"), .task = STR("t"), .projects_json = STR("[\"p\"]")};
	STORE_EXPECT(store_fixture_insert_run(tx, "run_1", "pkg_a") == 0);
	STORE_EXPECT(store_package_list_claimable(tx, &filter, NULL, 9, &list) == 0 && list.count == 0); /* running */
	STORE_EXPECT(store_package_list_to_reconcile(tx, STR("p"), 0, 9, &list) == 0 && list.count == 1);
	STORE_EXPECT(str_is(list.items[0].id, "pkg_b"));
	STORE_EXPECT(store_run_end(tx, &run) == 0);
	STORE_EXPECT(store_package_find(tx, STR("pkg_a"), &package) == 0 && !package.live_run.bytes);
	package.end = STORE_PACKAGE_COMPLETED;
	package.ended_at = 20;
	STORE_EXPECT(store_package_update(tx, &package) == 0);
	STORE_EXPECT(store_package_list_claimable(tx, &filter, NULL, 9, &list) == 0 && list.count == 1);
	STORE_EXPECT(str_is(list.items[0].id, "pkg_b") && list.items[0].open_dependencies == 0);
	return 0;
}

static void claimable_is_what_is_approved_unfinished_idle_and_free_of_dependencies(void **state)
{
	store_fixture_run(state, use_claims);
}

static int use_parts(struct store_tx *tx, void *arg)
{
	struct store_dependency edge = {STR("pkg_b"), STR("nobody")};
	struct store_dependency_list edges;
	struct store_overlay overlay = {STR("pkg_a"), STR("fs"), STR("read this"), STR("sha256:o")};
	struct store_overlay_list overlays;

	(void)arg;
	STORE_EXPECT(store_dependency_list(tx, STR("t"), &edges) == 0 && edges.count == 1);
	STORE_EXPECT(str_is(edges.items[0].package, "pkg_b") && str_is(edges.items[0].depends_on, "pkg_a"));
	STORE_EXPECT(store_dependency_list_of_package(tx, STR("pkg_a"), &edges) == 0 && edges.count == 0);
	STORE_EXPECT(store_dependency_insert(tx, &edge) == STORE_ABSENT);
	edge.depends_on = STR("pkg_b");
	STORE_EXPECT(store_dependency_insert(tx, &edge) == -EINVAL);
	STORE_EXPECT(store_overlay_insert(tx, &overlay) == 0);
	STORE_EXPECT(store_overlay_insert(tx, &overlay) == STORE_CONFLICT);
	STORE_EXPECT(store_overlay_list(tx, STR("pkg_a"), false, &overlays) == 0 && overlays.count == 1);
	STORE_EXPECT(!overlays.items[0].text.bytes && str_is(overlays.items[0].digest, "sha256:o"));
	STORE_EXPECT(store_overlay_list(tx, STR("pkg_a"), true, &overlays) == 0 &&
		str_is(overlays.items[0].text, "read this"));
	return 0;
}

static void dependencies_and_overlays_belong_to_packages_that_exist(void **state)
{
	store_fixture_run(state, use_parts);
}

static int use_catalogs(struct store_tx *tx, void *arg)
{
	struct store_catalog row = {.digest = STR("sha256:catalog"), .at = 4};
	struct store_catalog found;

	(void)arg;
	STORE_EXPECT(store_catalog_current(tx, &found) == STORE_ABSENT);
	STORE_EXPECT(store_catalog_find(tx, STR("sha256:catalog"), &found) == 0 && found.epoch == 0);
	STORE_EXPECT(store_catalog_set_current(tx, &row) == 0 && row.epoch == 1);
	STORE_EXPECT(store_catalog_put(tx, STR("sha256:two"), STR("{\"v\":2}")) == 0);
	row.digest = STR("sha256:two");
	STORE_EXPECT(store_catalog_set_current(tx, &row) == 0 && row.epoch == 2);
	STORE_EXPECT(store_catalog_current(tx, &found) == 0 && str_is(found.bytes, "{\"v\":2}") && found.epoch == 2);
	row.digest = STR("sha256:none");
	STORE_EXPECT(store_catalog_set_current(tx, &row) == STORE_ABSENT);
	return 0;
}

static void the_catalog_in_force_is_the_latest_epoch(void **state)
{
	store_fixture_run(state, use_catalogs);
}

static int use_tokens(struct store_tx *tx, void *arg)
{
	struct store_token row = {
		.id = STR("tok_1"), .principal = STR("ann"), .roles = 5, .hash = STR("h1"), .created_at = 3};
	struct store_token found;
	struct store_token_list list;

	(void)arg;
	STORE_EXPECT(store_token_insert(tx, &row) == 0 && store_token_insert(tx, &row) == STORE_CONFLICT);
	row.id = STR("tok_2");
	STORE_EXPECT(store_token_insert(tx, &row) == STORE_CONFLICT); /* the hash */
	row.hash = STR("h2");
	row.projects_json = STR("[\"p\"]");
	STORE_EXPECT(store_token_insert(tx, &row) == 0);
	STORE_EXPECT(
		store_token_find_by_hash(tx, STR("h1"), &found) == 0 && str_is(found.id, "tok_1") && found.roles == 5);
	STORE_EXPECT(!found.projects_json.bytes && found.expires_at == 0 && found.revoked_at == 0);
	STORE_EXPECT(store_token_revoke(tx, STR("tok_1"), 8) == 0 && store_token_revoke(tx, STR("tok_1"), 9) == 0);
	STORE_EXPECT(store_token_touch(tx, STR("tok_1"), 10) == 0 &&
		store_token_touch(tx, STR("tok_9"), 10) == STORE_ABSENT);
	STORE_EXPECT(
		store_token_find(tx, STR("tok_1"), &found) == 0 && found.revoked_at == 8 && found.last_used_at == 10);
	STORE_EXPECT(store_token_list(tx, 0, 9, &list) == 0 && list.count == 2 && str_is(list.items[0].id, "tok_2"));
	return 0;
}

static void tokens_are_found_by_hash_and_revoked_once(void **state)
{
	store_fixture_run(state, use_tokens);
}

static int use_answers(struct store_tx *tx, void *arg)
{
	struct store_answer row = {STR("tok_1"), STR("POST /v1/x"), STR("key"), STR("sha256:b"), 200, STR("{}"), 5};
	struct store_answer found;

	(void)arg;
	STORE_EXPECT(store_answer_insert(tx, &row) == 0 && store_answer_insert(tx, &row) == STORE_CONFLICT);
	STORE_EXPECT(store_answer_find(tx, row.token, row.route, row.key, &found) == 0 && found.status == 200);
	STORE_EXPECT(store_answer_find(tx, STR("tok_2"), row.route, row.key, &found) == STORE_ABSENT);
	STORE_EXPECT(store_answer_prune(tx, 5, 10) == 0);
	STORE_EXPECT(store_answer_find(tx, row.token, row.route, row.key, &found) == 0);
	STORE_EXPECT(store_answer_prune(tx, 6, 10) == 0);
	STORE_EXPECT(store_answer_find(tx, row.token, row.route, row.key, &found) == STORE_ABSENT);
	return 0;
}

static void an_answer_is_remembered_by_token_route_and_key(void **state)
{
	store_fixture_run(state, use_answers);
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, store_fixture_setup, store_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_STORE(a_root_taken_away_and_set_again_has_a_new_revision),
		WITH_STORE(lists_go_on_after_a_key_and_show_permitted_projects_only),
		WITH_STORE(a_server_made_again_is_another_one),
		WITH_STORE(a_reported_row_expires_by_its_record_and_an_older_report_is_stale),
		WITH_STORE(tasks_are_found_changed_and_listed_newest_first),
		WITH_STORE(packages_show_their_facts_and_leave_the_lists_they_ended_for),
		WITH_STORE(claimable_is_what_is_approved_unfinished_idle_and_free_of_dependencies),
		WITH_STORE(dependencies_and_overlays_belong_to_packages_that_exist),
		WITH_STORE(the_catalog_in_force_is_the_latest_epoch),
		WITH_STORE(tokens_are_found_by_hash_and_revoked_once),
		WITH_STORE(an_answer_is_remembered_by_token_route_and_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
