/* admitctl test: decision tests kept beside a catalog (chapters 2.7, 4.3). */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/decision_test.h"
#include "cli/document.h"
#include "policy/cleanup.h"
#include "policy/evaluate.h"
#include "policy/json_out.h"
#include "policy/json_parse.h"

enum { FILES_MOST = 10000, RESULT_LIMIT = 64 * 1024 * 1024, VALUE_SHOWN = 200 };

struct testing {
	struct cli *cli;
	const struct catalog *catalog;
	struct coverage coverage;
	struct json_out out; /* with --json */
	const char *file;
	const char *name; /* of the test at hand */
	const json_t *input;
	struct buf result;
	size_t tests;
	size_t failed;
	size_t untouched;
	int error;
};

/* ---- one test */

static const char *shown(struct testing *testing, const json_t *value)
{
	CLEANUP(cli_buf_drop) struct buf text = {0};
	struct json_out out;

	if (value == NULL)
		return "nothing";
	buf_init(&text, RESULT_LIMIT);
	json_out_init(&out, &text);
	json_out_canonical(&out, value);
	return cli_printf(testing->cli, "%.*s%s", VALUE_SHOWN, buf_error(&text) == 0 ? text.bytes : "?",
		text.len > VALUE_SHOWN ? "…" : "");
}

static void print_difference(struct testing *testing, const char *text)
{
	table_text(&testing->cli->out, (struct str){text, strlen(text)});
	buf_putc(&testing->cli->out, '\n');
}

static void differs(void *arg, const char *pointer, const json_t *wanted, const json_t *found)
{
	struct testing *testing = arg;

	if (testing->cli->json) {
		json_out_begin_object(&testing->out);
		json_out_member_text(&testing->out, "pointer", pointer);
		json_out_key(&testing->out, "wanted");
		json_out_canonical(&testing->out, wanted);
		json_out_key(&testing->out, "found");
		if (found == NULL)
			json_out_null(&testing->out);
		else
			json_out_canonical(&testing->out, found);
		json_out_end_object(&testing->out);
		return;
	}
	print_difference(testing,
		cli_printf(testing->cli, "      %s: wanted %s, found %s", *pointer == '\0' ? "/" : pointer,
			shown(testing, wanted), shown(testing, found)));
}

static void take_decision(const struct admission *admission, void *arg)
{
	struct testing *testing = arg;
	struct arena scratch;
	struct json_out out;

	buf_reset(&testing->result);
	json_out_init(&out, &testing->result);
	admission_write(admission, false, &out);
	arena_init(&scratch, RESULT_LIMIT);
	testing->error = coverage_add(&testing->coverage, &scratch, admission, testing->input);
	arena_release(&scratch);
}

static int decide(struct testing *testing, json_t **ret_result)
{
	int error = evaluate_with(testing->catalog, testing->input, take_decision, testing);

	if (error == 0)
		error = testing->error;
	if (error == 0)
		error = buf_error(&testing->result);
	return error == 0 ? json_parse(buf_str(&testing->result), ret_result, NULL) : error;
}

static void begin_test(struct testing *testing)
{
	if (!testing->cli->json)
		return;
	json_out_begin_object(&testing->out);
	json_out_member_text(&testing->out, "file", testing->file);
	json_out_member_text(&testing->out, "name", testing->name);
	json_out_key(&testing->out, "differences");
	json_out_begin_array(&testing->out);
}

/* What differs stands behind its head, so the head comes first and is taken back when nothing did. */
static void end_test(struct testing *testing, size_t head, size_t count)
{
	struct cli *cli = testing->cli;

	testing->tests++;
	testing->failed += count > 0;
	if (cli->json) {
		json_out_end_array(&testing->out);
		json_out_member_bool(&testing->out, "passed", count == 0);
		json_out_end_object(&testing->out);
	} else if (count == 0) {
		cli->out.len = head;
	}
}

static void write_head(struct testing *testing)
{
	struct cli *cli = testing->cli;

	if (cli->json)
		return;
	table_paint(&cli->out, &cli->style, TABLE_RED);
	buf_puts(&cli->out, "FAIL");
	table_paint_end(&cli->out, &cli->style, TABLE_RED);
	print_difference(testing, cli_printf(cli, "  %s: %s", testing->file, testing->name));
}

static int run_test(struct testing *testing, const json_t *test, size_t position)
{
	CLEANUP(json_drop) json_t *result = NULL;
	const json_t *expect = json_object_get(test, "expect");
	const char *name = document_text(test, "name");
	size_t head = testing->cli->out.len;
	int error;

	testing->name = name != NULL ? name : cli_printf(testing->cli, "test %zu", position + 1);
	testing->input = json_object_get(test, "input");
	if (testing->input == NULL || !json_is_object(expect)) {
		cli_say("%s: %s: a test is {name, input, expect}, and expect is an object", testing->file,
			testing->name);
		return CLI_USAGE;
	}
	error = decide(testing, &result);
	if (error != 0)
		return cli_say_error(testing->file, error);
	begin_test(testing);
	write_head(testing);
	end_test(testing, head, decision_test_compare(expect, result, differs, testing));
	return 0;
}

/* ---- files */

static int run_tests(struct testing *testing, const json_t *value)
{
	int result = 0;

	if (!json_is_array(value))
		return run_test(testing, value, 0);
	for (size_t i = 0; i < json_array_size(value) && result == 0; i++)
		result = run_test(testing, json_array_get(value, i), i);
	return result;
}

static int say_fault(const struct testing *testing, size_t line, const struct json_parse_fault *fault)
{
	cli_say("%s, line %zu: not JSON near byte %zu of it", testing->file, line, fault->offset);
	return CLI_USAGE;
}

static int run_lines(struct testing *testing, struct str text)
{
	size_t position = 0;

	for (size_t line = 1; text.len > 0; line++) {
		CLEANUP(json_drop) json_t *value = NULL;
		const char *end = memchr(text.bytes, '\n', text.len);
		struct str one = {text.bytes, end == NULL ? text.len : (size_t)(end - text.bytes)};
		struct json_parse_fault fault = {0};
		int result = 0;

		text.bytes += one.len + (end != NULL);
		text.len -= one.len + (end != NULL);
		if (one.len == 0)
			continue;
		result = json_parse(one, &value, &fault);
		if (result != 0)
			return result < 0 ? cli_say_error(testing->file, result) : say_fault(testing, line, &fault);
		result = run_test(testing, value, position++);
		if (result != 0)
			return result;
	}
	return 0;
}

static bool ends_in(const char *name, const char *end)
{
	size_t len = strlen(name);
	size_t end_len = strlen(end);

	return len > end_len && strcmp(name + len - end_len, end) == 0;
}

static int run_file(struct testing *testing, const char *folder, const char *name)
{
	CLEANUP(cli_buf_drop) struct buf bytes = {0};
	CLEANUP(json_drop) json_t *value = NULL;
	struct json_parse_fault fault = {0};
	const char *path = cli_printf(testing->cli, "%s/%s", folder, name);
	int result;

	testing->file = name;
	buf_init(&bytes, DOCUMENT_STREAM_LIMIT);
	result = document_read(path, &bytes);
	if (result < 0)
		return cli_say_error(path, result);
	if (ends_in(name, ".jsonl"))
		return run_lines(testing, buf_str(&bytes));
	result = json_parse(buf_str(&bytes), &value, &fault);
	if (result != 0)
		return result < 0 ? cli_say_error(path, result) : say_fault(testing, (size_t)fault.line, &fault);
	return run_tests(testing, value);
}

struct folder {
	const char **names;
	size_t count;
	bool has_catalog;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void close_folder(DIR **folder)
{
	if (*folder != NULL)
		(void)closedir(*folder);
}

static int list_folder(struct cli *cli, const char *path, struct folder *ret)
{
	CLEANUP(close_folder) DIR *folder = opendir(path);
	const struct dirent *entry;

	if (folder == NULL)
		return cli_say_error(path, -errno);
	ret->names = arena_array(&cli->arena, FILES_MOST, sizeof(*ret->names));
	if (ret->names == NULL)
		return cli_say_error(path, -ENOMEM);
	while (ret->count < FILES_MOST && (entry = readdir(folder)) != NULL) {
		if (strcmp(entry->d_name, "catalog.json") == 0)
			ret->has_catalog = true;
		else if (entry->d_name[0] != '.' &&
			(ends_in(entry->d_name, ".json") || ends_in(entry->d_name, ".jsonl")))
			ret->names[ret->count++] = cli_printf(cli, "%s", entry->d_name);
	}
	if (ret->count > 0)
		qsort(ret->names, ret->count, sizeof(*ret->names), compare_names);
	return 0;
}

/* --catalog; else the folder's own catalog.json; else the one that is built in. */
static int load_catalog(struct cli *cli, const char *path, bool has_own, struct catalog **ret)
{
	CLEANUP(cli_buf_drop) struct buf bytes = {0};
	struct catalog_fault fault = {0};
	const char *own = cli_printf(cli, "%s/catalog.json", path);
	int result;

	if (args_has(&cli->args, "catalog") || !has_own)
		return cli_catalog(cli, ret);
	buf_init(&bytes, DOCUMENT_LIMIT);
	result = document_read(own, &bytes);
	if (result == 0)
		result = catalog_new(buf_str(&bytes), ret, &fault);
	if (result < 0)
		return cli_say_error(own, result);
	if (result == CATALOG_REFUSED) {
		cli_say("%s: %s: %s", own, fault.pointer, fault.text);
		return CLI_USAGE;
	}
	return 0;
}

/* ---- the report */

static void tell_untouched(void *arg, struct str name, const struct catalog_capability *alias_of)
{
	struct testing *testing = arg;
	struct cli *cli = testing->cli;

	testing->untouched++;
	if (cli->json) {
		json_out_begin_object(&testing->out);
		json_out_member_text(&testing->out, "kind", alias_of != NULL ? "alias" : "capability");
		json_out_member_str(&testing->out, "name", name);
		if (alias_of == NULL)
			json_out_member_null(&testing->out, "aliasOf");
		else
			json_out_member_str(&testing->out, "aliasOf", alias_of->name);
		json_out_end_object(&testing->out);
	} else if (args_has(&cli->args, "untouched")) {
		print_difference(testing,
			cli_printf(cli, "  %.*s%s%s", (int)name.len, name.bytes, alias_of != NULL ? " = " : "",
				alias_of != NULL ? alias_of->name.bytes : ""));
	}
}

static void write_untouched(struct testing *testing)
{
	struct cli *cli = testing->cli;

	if (cli->json) {
		json_out_end_array(&testing->out);
		json_out_key(&testing->out, "untouched");
		json_out_begin_array(&testing->out);
	} else if (args_has(&cli->args, "untouched")) {
		buf_puts(&cli->out, "No test touches\n");
	}
	coverage_untouched(&testing->coverage, tell_untouched, testing);
}

static void write_sums(struct testing *testing)
{
	struct cli *cli = testing->cli;
	size_t entries = testing->catalog->capability_count + testing->coverage.alias_count;

	if (cli->json) {
		json_out_end_array(&testing->out);
		json_out_member_str(&testing->out, "catalogDigest", testing->catalog->digest);
		json_out_member_int(&testing->out, "run", (int64_t)testing->tests);
		json_out_member_int(&testing->out, "failed", (int64_t)testing->failed);
		json_out_member_int(&testing->out, "entries", (int64_t)entries);
		json_out_end_object(&testing->out);
		buf_putc(&cli->out, '\n');
		return;
	}
	buf_printf(&cli->out, "%zu tests, %zu failed; %zu of %zu entries of the catalog are touched by none%s\n",
		testing->tests, testing->failed, testing->untouched, entries,
		testing->untouched > 0 && !args_has(&cli->args, "untouched") ? " (--untouched lists them)" : "");
}

static int run_folder(struct testing *testing, const char *path, const struct folder *folder)
{
	struct cli *cli = testing->cli;
	int result = 0;

	json_out_init(&testing->out, &cli->out);
	if (cli->json) {
		json_out_begin_object(&testing->out);
		json_out_key(&testing->out, "tests");
		json_out_begin_array(&testing->out);
	}
	for (size_t i = 0; i < folder->count && result == 0; i++)
		result = run_file(testing, path, folder->names[i]);
	if (result != 0)
		return result;
	write_untouched(testing);
	write_sums(testing);
	if (testing->tests == 0)
		return cli_say_usage(cli, "there is no test in that folder");
	if (args_has(&cli->args, "fail-untouched") && testing->untouched > 0)
		return CLI_REFUSED;
	return testing->failed > 0 ? CLI_REFUSED : CLI_DONE;
}

static int run(struct cli *cli)
{
	CLEANUP(catalog_drop) struct catalog *catalog = NULL;
	struct testing testing = {.cli = cli};
	struct folder folder = {0};
	const char *path = args_word(&cli->args, 0);
	int result = list_folder(cli, path, &folder);

	if (result == 0)
		result = load_catalog(cli, path, folder.has_catalog, &catalog);
	if (result != 0)
		return result;
	testing.catalog = catalog;
	result = coverage_init(&cli->arena, catalog, &testing.coverage);
	if (result < 0)
		return cli_say_error(path, result);
	buf_init(&testing.result, RESULT_LIMIT);
	result = run_folder(&testing, path, &folder);
	buf_release(&testing.result);
	if (result > CLI_REFUSED)
		buf_reset(&cli->out);
	return result;
}

static const struct args_option options[] = {
	{"catalog", 0, ARGS_TEXT, "FILE", "decide by this catalog; else by DIR/catalog.json, else by the one built in"},
	{"untouched", 0, ARGS_FLAG, NULL, "list the entries of the catalog that no test touches"},
	{"fail-untouched", 0, ARGS_FLAG, NULL, "exit 1 also when there are such entries"},
	{0},
};

const struct cli_command cmd_test = {
	.name = "test",
	.synopsis = "DIR [--catalog FILE]",
	.summary = "Run the decision tests that are kept beside a catalog",
	.text = "Runs every *.json (a test, or an array of them) and *.jsonl (a test a line) of the folder. A test is "
		"{name, input,\n"
		"expect}: the input is what evaluate takes, and expect a part of its result, compared member by "
		"member. "
		"What differs is\n"
		"told by its JSON pointer, and the exit status is 1.",
	.examples = "admitctl test examples/decision-tests\n"
		    "admitctl test policy-tests --catalog next.json --fail-untouched\n"
		    "admitctl test policy-tests --json | jq '.tests[] | select(.passed | not)'",
	.options = options,
	.min_words = 1,
	.max_words = 1,
	.is_local = true,
	.run = run,
};
