/* admitctl search: literal text in the files below a folder (chapter 5.3). */
#include <string.h>

#include "cli/commands.h"
#include "cli/document.h"
#include "cli/reading.h"
#include "policy/cleanup.h"
#include "policy/json_out.h"
#include "reader/search.h"

/* FILE:LINE: and the snippet on one line, without what it is indented by. */
static const char *one_line(struct cli *cli, const char *snippet)
{
	char *line = arena_copy(&cli->arena, snippet, strlen(snippet));
	char *start = line;

	for (char *at = line; at != NULL && *at != '\0'; at++)
		if (*at == '\t' || *at == '\n' || *at == '\r')
			*at = ' ';
	while (start != NULL && *start == ' ')
		start++;
	return start != NULL ? start : "";
}

static void show_match(struct cli *cli, const json_t *match)
{
	const char *file = document_text_or_empty(match, "file");
	const char *snippet = one_line(cli, document_text_or_empty(match, "snippet"));

	table_paint(&cli->out, &cli->style, TABLE_SLATE);
	table_text(&cli->out, (struct str){file, strlen(file)});
	table_paint_end(&cli->out, &cli->style, TABLE_SLATE);
	buf_printf(&cli->out, ":%lld: ", (long long)json_integer_value(json_object_get(match, "line")));
	table_text(&cli->out, (struct str){snippet, strlen(snippet)});
	buf_putc(&cli->out, '\n');
}

static void show_skipped(struct cli *cli, const json_t *skipped)
{
	const char *kind;
	const json_t *count;
	bool is_first = true;

	json_object_foreach((json_t *)(uintptr_t)skipped, kind, count)
	{
		if (json_integer_value(count) == 0)
			continue;
		buf_printf(&cli->out, "%s %lld %s", is_first ? "skipped" : ",", (long long)json_integer_value(count),
			strcmp(kind, "credentialFile") == 0 ? "with credentials" : kind);
		is_first = false;
	}
	if (!is_first)
		buf_putc(&cli->out, '\n');
}

static void show_left_out(struct cli *cli, const json_t *left_out)
{
	const json_t *target;
	size_t index;

	json_array_foreach(left_out, index, target)
	{
		const char *path = document_text_or_empty(target, "path");

		buf_puts(&cli->out, "not searched: ");
		table_text(&cli->out, (struct str){path, strlen(path)});
		buf_printf(&cli->out, ": %s\n", document_text_or_empty(target, "message"));
	}
}

static void show(struct cli *cli, const json_t *answer)
{
	const json_t *matches = json_object_get(answer, "matches");
	json_int_t files = json_integer_value(json_object_get(answer, "filesSearched"));
	const json_t *match;
	size_t index;

	json_array_foreach(matches, index, match) show_match(cli, match);
	buf_printf(&cli->out, "%s%zu %s, %lld %s searched\n", index > 0 ? "\n" : "", index,
		index == 1 ? "match" : "matches", (long long)files, files == 1 ? "file" : "files");
	show_skipped(cli, json_object_get(answer, "skipped"));
	show_left_out(cli, json_object_get(answer, "notSearched"));
	reading_show_bounds(cli, answer);
}

static int read_request(struct cli *cli, struct search_request *request)
{
	const char *pattern = args_word(&cli->args, 0);
	int result = reading_names(cli, 1, SEARCH_PATHS_LIMIT, &request->paths);

	request->pattern = (struct str){pattern, strlen(pattern)};
	if (request->pattern.len == 0 || request->pattern.len > SEARCH_PATTERN_LIMIT)
		return cli_say_usage(cli, "a pattern has from 1 to 65536 bytes");
	if (result == 0)
		result = reading_limit(cli, "max-results", SEARCH_MATCHES_LIMIT, &request->max);
	if (result == 0)
		result = reading_limit(cli, "max-bytes", SEARCH_BYTES_LIMIT, &request->max_bytes);
	if (result == 0)
		result = reading_limit(cli, "max-total-bytes", SEARCH_TOTAL_BYTES_LIMIT, &request->max_total_bytes);
	if (result == 0)
		result = reading_limit(cli, "max-entries", SEARCH_ENTRIES_LIMIT, &request->max_entries);
	return result;
}

static int say_refusal(struct cli *cli, const struct tools_refusal *refusal)
{
	struct json_out out;

	if (!cli->json) {
		cli_say("%s: %s", refusal->code, refusal->message);
		return CLI_REFUSED;
	}
	json_out_init(&out, &cli->out);
	json_out_begin_object(&out);
	json_out_member_text(&out, "code", refusal->code);
	json_out_member_text(&out, "message", refusal->message);
	json_out_end_object(&out);
	buf_putc(&cli->out, '\n');
	return CLI_REFUSED;
}

static int run(struct cli *cli)
{
	CLEANUP(contained_root_close) struct contained_root root = {0};
	CLEANUP(cli_buf_drop) struct buf answer = {0};
	CLEANUP(json_drop) json_t *parsed = NULL;
	struct tools_refusal refusal;
	struct search_request request;
	int result = 0;
	int r = 0;

	buf_init(&answer, TOOLS_ANSWER_BYTES);
	search_request_init(&request);
	result = read_request(cli, &request);
	if (result == 0)
		result = reading_root(cli, &root);
	if (result != 0)
		return result;
	r = search_run(&root, &request, &answer, &refusal);
	if (r != 0)
		return r > 0 ? say_refusal(cli, &refusal) : cli_say_error("the answer", r);
	result = reading_answer(cli, buf_str(&answer), &parsed);
	if (result == 0 && parsed != NULL)
		show(cli, parsed);
	return result;
}

static const struct args_option options[] = {
	{"root", 0, ARGS_TEXT, "DIR", "the folder that paths are below; else the current one"},
	{"max-results", 0, ARGS_TEXT, "COUNT", "matches (200, up to 100000)"},
	{"max-bytes", 0, ARGS_TEXT, "BYTES", "of one file; larger ones are counted (2097152, up to 67108864)"},
	{"max-total-bytes", 0, ARGS_TEXT, "BYTES", "read in all (268435456, up to 4294967296)"},
	{"max-entries", 0, ARGS_TEXT, "COUNT", "files and directories walked (20000)"},
	{0},
};

const struct cli_command cmd_search = {
	.name = "search",
	.synopsis = "[--root DIR] PATTERN [PATH...]",
	.summary = "Find literal text below a folder, as agents do",
	.text = "The pattern is bytes, and nothing in it is special. Links are not followed, .git and node_modules are "
		"left out\n"
		"unless named, files that hold credentials are never quoted, and what was skipped is counted by kind. "
		"A path\n"
		"that is refused or leads out of the folder is exit 1, and nothing was read.",
	.examples = "admitctl search 'retry(' src\n"
		    "admitctl search --root /srv/tracker --max-results 20 'a|b'\n"
		    "admitctl search needle --json | jq -r '.matches[].file'",
	.options = options,
	.min_words = 1,
	.max_words = SIZE_MAX,
	.is_local = true,
	.run = run,
};
