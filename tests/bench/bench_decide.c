/* bench_decide: deciding a compiled package and writing the result costs a small part of parsing its document, and the cost
 * of one requirement does not grow with their number (chapter 6.1, rows 1 and 6).
 *
 * Peer and figure are measured in one run, alternating; a figure is the median of the rounds, with min and max beside it.
 * Prints one JSON object; exits 1 when a ratio is beyond its failing bound.
 */
#include <jansson.h>
#include <string.h>

#include "policy/admission.h"
#include "policy/cleanup.h"
#include "policy/json_parse.h"
#include "tests/bench/figure.h"

struct subject {
	struct str text;
	json_t *document;
	struct package *package;
	struct admission_inputs inputs;
};

/* Six requirements have 20 capabilities and six subtasks, in about 4 KiB: the document that chapter 6.1 measures. */
static char *make_document(int requirements, size_t *ret_len)
{
	static const char *const reads[] = {
		"\"filesystem.project.read\",\"filesystem.project.list\",\"filesystem.search\"",
		"\"github.issues.read\",\"github.pull_requests.read\",\"github.contents.read\",\"github.repository."
		"search\""};
	struct buf buf;

	buf_init(&buf, 1 << 22);
	buf_puts(&buf, "{\"label\":\"bench\",\"entries\":[");
	for (int i = 0; i < requirements; i++)
		buf_printf(&buf,
			"%s{\"requirementKey\":\"requirement-%d\",\"sourceRequirementIndex\":%d,\"agent\":\"agent-%d\","
			"\"mcpId\":\"%s\","
			"\"requirement\":\"required\",\"capabilities\":[%s],\"prohibitedCapabilities\":[\"%s.%s."
			"delete\"],\"fallback\":"
			"{\"action\":\"block\",\"message\":\"Ask the owner of the plan before the work goes on without "
			"it.\"},"
			"\"assignment\":{\"type\":\"agent\",\"targetId\":\"agent-%d\"},\"evidenceRefs\":[\"src/"
			"module-%d/main.c\"],"
			"\"rationale\":\"The agent reads the sources and the open issues of the module that it is "
			"going to change.\"}",
			i ? "," : "", i, i, i % 3, i % 2 ? "github" : "filesystem", reads[i % 2],
			i % 2 ? "github" : "filesystem", i % 2 ? "issues" : "project", i % 3, i);
	buf_puts(&buf, "],\"subtasks\":[");
	for (int i = 0; i < (requirements < 40 ? requirements : 40); i++)
		buf_printf(&buf,
			"%s{\"id\":\"subtask-%d\",\"agent\":\"agent-%d\",\"mcpCapabilities\":[\"%s\"],"
			"\"capabilityBindings\":[{\"capability\":"
			"\"%s\",\"requirementKey\":\"requirement-%d\"}]}",
			i ? "," : "", i, i % 3, i % 2 ? "github.issues.read" : "filesystem.project.read",
			i % 2 ? "github.issues.read" : "filesystem.project.read", i);
	buf_puts(&buf,
		"],\"grants\":{\"filesystem\":{\"phase\":\"approved\",\"source\":\"project-level\",\"status\":"
		"\"approved\",\"grantMode\":"
		"\"always_allow\",\"coveredCapabilities\":[\"filesystem.project.read\",\"filesystem.project.list\","
		"\"filesystem.search\"]}},"
		"\"health\":{\"filesystem\":{\"mcpId\":\"filesystem\",\"installState\":\"installed\",\"status\":"
		"\"healthy\",\"enabled\":true,"
		"\"error\":null,\"checkedAt\":\"2026-11-30T08:00:00Z\"}}}");
	return buf_take(&buf, ret_len);
}

static void prepare(struct arena *arena, const struct catalog *catalog, int requirements, struct subject *subject)
{
	static const struct package_options options = {.believes_envelopes = true};
	size_t len = 0;
	char *text = make_document(requirements, &len);

	CHECK(text);
	subject->text = (struct str){text, len};
	CHECK(json_parse(subject->text, &subject->document, NULL) == 0);
	CHECK(package_new(catalog, subject->document, &options, &subject->package) == 0);
	CHECK(admission_inputs_read(arena, catalog, subject->document, &subject->inputs) == 0);
}

static void release(struct subject *subject)
{
	free((char *)(uintptr_t)subject->text.bytes);
	json_decref(subject->document);
	package_free(subject->package);
}

static double parse_ms(const struct subject *subject, int count)
{
	double begin = figure_cpu_ms();

	for (int i = 0; i < count; i++) {
		json_t *value = json_loadb(subject->text.bytes, subject->text.len, JSON_REJECT_DUPLICATES, NULL);

		CHECK(value);
		json_decref(value);
	}
	return (figure_cpu_ms() - begin) / count;
}

static double decide_ms(struct arena *arena, struct buf *buf, const struct subject *subject, int count)
{
	double begin = figure_cpu_ms();

	for (int i = 0; i < count; i++) {
		struct admission admission;
		struct json_out out;

		arena_reset(arena);
		buf_reset(buf);
		CHECK(admit_work_package_mcp(arena, subject->package, &subject->inputs, &admission) == 0);
		json_out_init(&out, buf);
		admission_write(&admission, false, &out);
		CHECK(buf_error(buf) == 0);
	}
	return (figure_cpu_ms() - begin) / count;
}

static bool measure(struct arena *arena, struct buf *buf, const struct subject *small, const struct subject *large)
{
	struct figure parse = {"decideAndWriteAgainstParse", {0}, 0.15, 0.3};
	struct figure growth = {"requirementAt80AgainstAt6", {0}, 1.2, 1.5};
	bool is_fast = true;

	for (int i = 0; i < FIGURE_ROUNDS; i++) {
		double peer = parse_ms(small, 1000);
		double six = decide_ms(arena, buf, small, 4000);
		double eighty = decide_ms(arena, buf, large, 300);

		parse.values[i] = six / peer;
		growth.values[i] = eighty / 80 / (six / 6);
	}
	printf("{\n  \"bench\": \"decide\", \"documentBytes\": %zu, \"arenaBytes\": %zu,\n", small->text.len,
		arena->total);
	is_fast = figure_print(&parse, ",");
	is_fast = figure_print(&growth, "") && is_fast;
	puts("}");
	return is_fast;
}

int main(void)
{
	struct catalog *catalog = NULL;
	struct catalog_fault fault;
	struct subject small = {0};
	struct subject large = {0};
	struct arena kept;
	struct arena arena;
	struct buf buf;
	bool is_fast;

	CHECK(catalog_new(catalog_default_bytes(), &catalog, &fault) == 0);
	arena_init(&kept, 1 << 24);
	arena_init(&arena, 1 << 24);
	buf_init(&buf, 1 << 24);
	prepare(&kept, catalog, 6, &small);
	prepare(&kept, catalog, 80, &large);
	is_fast = measure(&arena, &buf, &small, &large);
	buf_release(&buf);
	arena_release(&arena);
	arena_release(&kept);
	release(&small);
	release(&large);
	catalog_free(catalog);
	return !is_fast;
}
