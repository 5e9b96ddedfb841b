/* Why a decision is what it is, and the same decision made again (chapters 1.8, 2.7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "policy/cleanup.h"
#include "policy/json_parse.h"
#include "policy/replay.h"
#include "policy/trace.h"
#include "tests/lib/decided.h"

/* ---- a decision's record, its trace, its replay */

static json_t *record_of(const struct decided *decided)
{
	struct json_out out;
	struct buf buf;
	json_t *record = NULL;

	buf_init(&buf, 1 << 24);
	json_out_init(&out, &buf);
	decision_inputs_write(&decided->admission, &out);
	assert_int_equal(buf_error(&buf), 0);
	assert_int_equal(json_parse(buf_str(&buf), &record, NULL), 0);
	buf_release(&buf);
	return record;
}

static json_t *trace_of(struct decided *decided)
{
	struct json_out out;
	struct buf buf;
	json_t *trace = NULL;

	buf_init(&buf, 1 << 26);
	json_out_init(&out, &buf);
	json_out_begin_object(&out);
	assert_int_equal(trace_write(&decided->arena, &decided->admission, decided->document, &out), 0);
	json_out_end_object(&out);
	assert_int_equal(buf_error(&buf), 0);
	assert_int_equal(json_parse(buf_str(&buf), &trace, NULL), 0);
	buf_release(&buf);
	return trace;
}

static const json_t *follow(const json_t *document, const char *pointer)
{
	char token[64];

	while (document && *pointer == '/') {
		size_t len = strcspn(pointer + 1, "/");

		assert_true(len < sizeof(token));
		memcpy(token, pointer + 1, len);
		token[len] = '\0';
		document = json_is_array(document) ? json_array_get(document, strtoul(token, NULL, 10))
						   : json_object_get(document, token);
		pointer += 1 + len;
	}
	return document;
}

static const char *member(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* ---- held against the engine */

/* Words for people: whole, and no hole where a fact is absent. */
static void check_said(const json_t *object, const char *const *keys)
{
	for (size_t i = 0; keys[i]; i++) {
		const char *text = member(object, keys[i]);

		assert_non_null(text);
		assert_true(strlen(text) > 0);
		assert_null(strpbrk(text, "{}[]|"));
	}
}

static void check_words(const json_t *traced)
{
	static const char *const own[] = {"classWords", "reaches", "coverage", NULL};
	static const char *const verdict[] = {"sign", "tone", "headline", NULL};

	check_said(traced, own);
	check_said(json_object_get(traced, "verdict"), verdict);
}

static void check_state(const json_t *row)
{
	static const char *const state[] = {"key", "tone", "sign", "headline", NULL};

	check_said(json_object_get(row, "operatorState"), state);
	assert_non_null(member(json_object_get(row, "operatorState"), "body"));
}

static void check_steps(const json_t *requirement, const struct evaluation *evaluation)
{
	const json_t *steps = json_object_get(requirement, "trace");
	size_t count = json_array_size(steps);

	assert_int_equal(trace_row(evaluation), evaluation->row);
	assert_int_equal(count, (size_t)evaluation->row + 1);
	for (size_t i = 0; i < count; i++) {
		const json_t *step = json_array_get(steps, i);

		assert_string_equal(member(step, "row"), trace_row_name((enum table_row)i));
		assert_int_equal(json_is_true(json_object_get(step, "met")), i + 1 == count);
		assert_true(strlen(member(step, "because")) > 0);
		assert_true(strlen(member(step, "asks")) > 0);
		assert_true(strlen(member(step, "answer")) > 0);
	}
	assert_string_equal(member(json_object_get(requirement, "rule"), "row"), trace_row_name(evaluation->row));
}

static void check_written(const struct decided *decided, const json_t *traced)
{
	const char *pointer = member(traced, "pointer");

	assert_non_null(pointer);
	assert_non_null(member(traced, "asWritten"));
	assert_true(json_equal(follow(decided->document, pointer), json_object_get(traced, "asWritten")));
}

static void check_requirement(
	const struct decided *decided, const json_t *requirement, const struct evaluation *evaluation)
{
	const json_t *capabilities = json_object_get(requirement, "capabilities");

	check_steps(requirement, evaluation);
	check_state(requirement);
	assert_string_equal(member(requirement, "level"), requirement_level_name(evaluation->requirement));
	assert_int_equal(json_array_size(capabilities), evaluation->requirement->capability_count);
	for (size_t i = 0; i < json_array_size(capabilities); i++) {
		const struct capability *capability = &evaluation->requirement->capabilities[i];
		const json_t *traced = json_array_get(capabilities, i);

		check_written(decided, traced);
		check_words(traced);
		assert_string_equal(member(traced, "class"), capability_class_name(capability->class));
		assert_int_equal(json_is_string(json_object_get(traced, "prohibitedBy")), capability->is_prohibited);
	}
}

static void check_subtask(const struct decided *decided, const json_t *traced, const struct subtask_decision *decision)
{
	check_state(traced);
	check_words(traced);
	assert_string_equal(member(traced, "status"), admission_status_name(decision->status));
	assert_string_equal(member(traced, "class"), capability_class_name(decision->row->class));
	assert_string_equal(member(traced, "capability"), decision->row->capability.bytes);
	assert_int_equal(json_is_string(json_object_get(traced, "prohibitedBy")), decision->row->is_prohibited);
	if (decision->row->item != PACKAGE_NOWHERE)
		check_written(decided, traced);
}

static void check_trace(struct decided *decided)
{
	CLEANUP(json_drop) json_t *trace = trace_of(decided);
	const json_t *requirements = json_object_get(trace, "requirements");
	const json_t *subtasks = json_object_get(trace, "subtasks");

	check_said(json_object_get(trace, "words"), (const char *const[]){"sign", "tone", "headline", NULL});
	assert_int_equal(json_array_size(requirements), decided->admission.evaluation_count);
	assert_int_equal(json_array_size(subtasks), decided->admission.subtask_count);
	for (size_t i = 0; i < json_array_size(requirements); i++)
		check_requirement(decided, json_array_get(requirements, i), &decided->admission.evaluations[i]);
	for (size_t i = 0; i < json_array_size(subtasks); i++)
		check_subtask(decided, json_array_get(subtasks, i), &decided->admission.subtasks[i]);
	assert_int_equal(json_is_object(json_object_get(trace, "rule")),
		decided->package->whole_fault || decided->admission.evaluation_count ||
			decided->admission.primary_subtask);
}

static void check_replay(const struct decided *decided)
{
	CLEANUP(json_drop) json_t *record = record_of(decided);
	char id[DIGEST_TEXT_SIZE], again_id[DIGEST_TEXT_SIZE];
	char result[DIGEST_TEXT_SIZE], again_result[DIGEST_TEXT_SIZE];
	struct replay original = {.package = decided->package, .admission = decided->admission};
	struct replay replay;

	assert_int_equal(replay_digests(&original, id, result), 0);
	assert_int_equal(replay_decide(decided->catalog, decided->document, record, &replay), 0);
	assert_int_equal(replay_digests(&replay, again_id, again_result), 0);
	assert_string_equal(again_id, id);
	assert_string_equal(again_result, result);
	replay_release(&replay);
}

/* Of `evaluate` alone: a stored package has no such containers, and no envelope of it is believed. */
static bool is_stored_form(const struct decided *decided)
{
	static const char *const containers[] = {"health", "grants", "prompt"};

	for (size_t i = 0; i < 3; i++) {
		const json_t *value = json_object_get(decided->document, containers[i]);

		if (value && !json_is_object(value))
			return false;
	}
	for (size_t i = 0; i < decided->package->requirement_count; i++) {
		if (decided->package->requirements[i].overlay_claimed)
			return false;
	}
	return true;
}

static unsigned each_vector(const char *name, unsigned *ret_replayed)
{
	const char *source = getenv("SRCDIR");
	char path[4096];
	char *line = NULL;
	size_t size = 0;
	unsigned count = 0;
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/tests/vectors/%s", source ? source : ".", name);
	file = fopen(path, "re");
	assert_non_null(file);
	while (getline(&line, &size, file) > 0) {
		CLEANUP(json_drop) json_t *vector = NULL;
		CLEANUP(free_drop) char *input = NULL;
		struct decided decided;

		assert_int_equal(json_parse((struct str){line, strlen(line)}, &vector, NULL), 0);
		input = json_dumps(json_object_get(vector, "input"), JSON_ENCODE_ANY);
		decide(&decided, input);
		check_trace(&decided);
		if (is_stored_form(&decided)) {
			check_replay(&decided);
			++*ret_replayed;
		}
		decided_release(&decided);
		count++;
	}
	free(line);
	(void)fclose(file);
	return count;
}

static void the_trace_of_every_vector_ends_at_the_row_of_the_engine(void **state)
{
	unsigned replayed = 0;

	(void)state;
	assert_int_equal(each_vector("named.jsonl", &replayed), 309);
	assert_int_equal(each_vector("random.jsonl", &replayed), 1500);
	assert_true(replayed > 1000);
}

/* ---- what it says */

static void a_capability_tells_where_it_stands_and_who_decides_it(void **state)
{
	const char *json =
		"{\"mcpRequirements\":["
		"{\"requirementKey\":\"k\",\"sourceRequirementIndex\":0,\"agent\":\"a\",\"mcpId\":"
		"\"filesystem\",\"requirement\":\"required\",\"permissions\":[\"Filesystem.Read\"],"
		"\"capabilities\":[\"filesystem.project.list\",\"filesystem.raed\"],\"fallback\":{\"action\":"
		"\"block\"},\"assignment\":{\"type\":\"agent\",\"targetId\":null}},"
		"{\"requirementKey\":\"z\",\"sourceRequirementIndex\":1,\"agent\":\"a\",\"mcpId\":"
		"\"filesystem\",\"requirement\":\"optional\",\"capabilities\":[],\"prohibitedCapabilities\":["
		"\"filesystem.list\"],\"fallback\":{\"action\":\"continue_without_mcp\"},\"assignment\":{"
		"\"type\":\"agent\",\"targetId\":null}}],\"grants\":{\"k\":" APPROVED("") "}}";
	struct decided decided;
	json_t *trace;
	const json_t *asked;

	(void)state;
	decide(&decided, json);
	trace = trace_of(&decided);
	asked = follow(trace, "/requirements/0/capabilities");
	assert_string_equal(member(json_array_get(asked, 0), "asWritten"), "Filesystem.Read");
	assert_string_equal(member(json_array_get(asked, 0), "pointer"), "/mcpRequirements/0/permissions/0");
	assert_string_equal(member(json_array_get(asked, 0), "capability"), "filesystem.project.read");
	assert_string_equal(member(json_array_get(asked, 0), "coveredBy"), "grt_1");
	assert_null(member(json_array_get(asked, 0), "prohibitedBy"));
	assert_string_equal(member(json_array_get(asked, 1), "prohibitedBy"), "z");
	assert_null(member(json_array_get(asked, 1), "coveredBy"));
	assert_string_equal(member(json_array_get(asked, 2), "nearest"), "filesystem.project.read");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(asked, 2), "rule")), 6);
	assert_string_equal(member(json_object_get(trace, "rule"), "row"), "2");
	assert_string_equal(member(json_object_get(trace, "rule"), "requirementKey"), "k");
	json_decref(trace);
	decided_release(&decided);
}

static void a_blocked_subtask_is_told_where_nothing_else_blocks(void **state)
{
	const char *json = "{\"entries\":[],\"subtasks\":[{\"id\":\"s\",\"agent\":\"a\",\"mcpCapabilities\":["
			   "\"github.secerts.write\"]}]}";
	struct decided decided;
	json_t *trace;

	(void)state;
	decide(&decided, json);
	trace = trace_of(&decided);
	assert_string_equal(member(json_object_get(trace, "rule"), "subtaskId"), "s");
	assert_true(json_is_null(json_object_get(json_object_get(trace, "rule"), "row")));
	assert_string_equal(member(follow(trace, "/subtasks/0"), "nearest"), "github.secrets.write");
	assert_string_equal(member(follow(trace, "/subtasks/0"), "pointer"), "/subtasks/0/mcpCapabilities/0");
	json_decref(trace);
	decided_release(&decided);
}

/* ---- another catalog */

static struct catalog *catalog_without_reading(void)
{
	struct str bytes = catalog_default_bytes();
	json_t *root = NULL;
	json_t *reads;
	char *text;
	struct catalog *catalog = NULL;
	struct catalog_fault fault;

	assert_int_equal(json_parse(bytes, &root, NULL), 0);
	reads = (json_t *)(uintptr_t)follow(root, "/mcps/filesystem/runtime/capabilities");
	for (size_t i = 0; i < json_array_size(reads); i++) {
		if (strcmp(json_string_value(json_array_get(reads, i)), "filesystem.project.list") == 0)
			assert_int_equal(json_array_remove(reads, i), 0);
	}
	(void)json_object_del((json_t *)(uintptr_t)follow(root, "/mcps/filesystem/aliases"), "filesystem.list");
	text = json_dumps(root, 0);
	assert_int_equal(catalog_new((struct str){text, strlen(text)}, &catalog, &fault), 0);
	free(text);
	json_decref(root);
	return catalog;
}

static void another_catalog_judges_the_same_inputs_and_drops_what_it_no_longer_reads(void **state)
{
	const char *json = "{\"entries\":[" POLICY("k", "a", "filesystem", "required", "block",
		READ) "],\"grants\":{\"k\":{\"phase\":\"approved\",\"source\":\"package-local\",\"status\":"
		      "\"approved\","
		      "\"grantMode\":\"allow_once\",\"coveredCapabilities\":[" READ "," LIST
		      "]}}," HEALTH("healthy", "2026-11-30T08:00:00Z") "}";
	struct catalog *other = catalog_without_reading();
	struct decided decided;
	struct replay replay;
	json_t *record;

	(void)state;
	decide(&decided, json);
	assert_int_equal(decided.admission.evaluations[0].row, ROW_5C_ADMITTED);
	record = record_of(&decided);
	assert_int_equal(replay_decide(other, decided.document, record, &replay), 0);
	assert_int_equal(replay.admission.evaluations[0].row, ROW_5C_ADMITTED);
	assert_int_equal(replay.admission.evaluations[0].grant.covered_count, 1);
	replay_release(&replay);
	json_decref(record);
	decided_release(&decided);
	catalog_free(other);
}

static void a_record_that_is_none_is_refused(void **state)
{
	static const char *const records[] = {"{}", "[]", "{\"grants\":{},\"health\":{},\"prompt\":{}}",
		"{\"grants\":{},\"health\":{\"filesystem\":{\"observed\":true}},\"prompt\":[]}",
		"{\"grants\":{},\"health\":{},\"prompt\":[7]}"};
	struct decided decided;

	(void)state;
	decide(&decided, ONE(PROPOSED, HEALTH("healthy", "2026-11-30T08:00:00Z")));
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		CLEANUP(json_drop) json_t *record = NULL;
		struct replay replay;

		assert_int_equal(json_parse((struct str){records[i], strlen(records[i])}, &record, NULL), 0);
		assert_int_equal(replay_decide(decided.catalog, decided.document, record, &replay), REPLAY_UNREADABLE);
		replay_release(&replay);
	}
	decided_release(&decided);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_trace_of_every_vector_ends_at_the_row_of_the_engine),
		cmocka_unit_test(a_capability_tells_where_it_stands_and_who_decides_it),
		cmocka_unit_test(a_blocked_subtask_is_told_where_nothing_else_blocks),
		cmocka_unit_test(another_catalog_judges_the_same_inputs_and_drops_what_it_no_longer_reads),
		cmocka_unit_test(a_record_that_is_none_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
