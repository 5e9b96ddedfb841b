/* admitctl evaluate: the engine alone, over documents from files or standard input. */
#include <errno.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/document.h"
#include "policy/admission.h"
#include "policy/cleanup.h"
#include "policy/evaluate.h"
#include "policy/json_out.h"
#include "policy/json_parse.h"
#include "policy/projection.h"

enum { FLUSH_AT = 1024 * 1024 };

/* What one run over many documents keeps. */
struct evaluator {
	struct cli *cli;
	const struct catalog *catalog;
	void (*project)(const struct admission *admission, struct json_out *out);
	const char *source; /* for messages */
	size_t documents;
	size_t malformed;
	size_t blocked;
};

static void write_result(const struct admission *admission, struct json_out *out)
{
	admission_write(admission, false, out);
}

/* Without a project there is no folder to miss: the arms are those of the grants that the document gives. */
static void write_gate(const struct admission *admission, struct json_out *out)
{
	projection_write_filesystem_gate(admission, true, out);
}

static void write_operator_state(const struct admission *admission, struct json_out *out)
{
	projection_write_operator_state(admission, true, out);
}

static const struct {
	const char *name;
	void (*write)(const struct admission *admission, struct json_out *out);
} projections[] = {
	{"result", write_result},
	{"validation", projection_write_validation},
	{"grantPreview", projection_write_grant_preview},
	{"brokerCheck", projection_write_broker_check},
	{"filesystemGate", write_gate},
	{"operatorState", write_operator_state},
};

static int find_projection(struct evaluator *evaluator, const char *name)
{
	for (size_t i = 0; i < sizeof(projections) / sizeof(projections[0]); i++) {
		if (strcmp(projections[i].name, name) == 0) {
			evaluator->project = projections[i].write;
			return 0;
		}
	}
	return cli_say_usage(evaluator->cli,
		"--projection takes result, validation, grantPreview, brokerCheck, filesystemGate or operatorState");
}

static void write_view(const struct admission *admission, void *arg)
{
	struct evaluator *evaluator = arg;
	struct json_out out;

	json_out_init(&out, &evaluator->cli->out);
	evaluator->project(admission, &out);
	evaluator->blocked += admission->status == ADMISSION_BLOCKED;
}

/* One document in, one line out. 0 or -errno. */
static int decide(struct evaluator *evaluator, const json_t *document)
{
	int error = evaluate_with(evaluator->catalog, document, write_view, evaluator);

	if (error != 0)
		return error;
	buf_putc(&evaluator->cli->out, '\n');
	return buf_error(&evaluator->cli->out);
}

/* The line that takes the place of a result. */
static int write_error(struct evaluator *evaluator, const char *code, size_t offset, size_t line)
{
	struct json_out out;

	json_out_init(&out, &evaluator->cli->out);
	json_out_begin_object(&out);
	json_out_key(&out, "error");
	json_out_begin_object(&out);
	json_out_member_text(&out, "code", code);
	json_out_member_int(&out, "offset", (int64_t)offset);
	json_out_end_object(&out);
	json_out_end_object(&out);
	buf_putc(&evaluator->cli->out, '\n');
	evaluator->malformed++;
	cli_say("%s, line %zu: %s at byte %zu of the document", evaluator->source, line, code, offset);
	return buf_error(&evaluator->cli->out);
}

static bool is_space(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static struct str trim(struct str text)
{
	while (text.len > 0 && is_space(text.bytes[text.len - 1]))
		text.len--;
	return text;
}

static struct str line_of(struct str text)
{
	const char *end = memchr(text.bytes, '\n', text.len);

	return (struct str){text.bytes, end == NULL ? text.len : (size_t)(end - text.bytes) + 1};
}

static struct str rest_of(struct str text, size_t used)
{
	return (struct str){text.bytes + used, text.len - used};
}

/* What is left of a document that could not be read: the lines that are indented or close something. */
static size_t skip_broken(struct str text)
{
	size_t used = line_of(text).len;

	while (used < text.len && strchr(" \t}]\r\n", text.bytes[used]) != NULL)
		used += line_of(rest_of(text, used)).len;
	return used;
}

/* A document that goes over several lines: it ends where a line ends. False if it is none. */
static bool parse_lines(struct str text, json_t **ret_json, size_t *ret_used)
{
	CLEANUP(json_drop) json_t *json = NULL;
	size_t used = 0;
	struct str behind;

	if (json_parse_first(text, &json, &used, NULL) != 0)
		return false;
	behind = line_of(rest_of(text, used));
	if (trim(behind).len > 0)
		return false;
	*ret_json = TAKE(json);
	*ret_used = used + behind.len;
	return true;
}

/* Reads and decides the document at the beginning of `text`, a line that is not blank. *ret_used: bytes it took. */
static int take_document(struct evaluator *evaluator, struct str text, size_t line_number, size_t *ret_used)
{
	CLEANUP(json_drop) json_t *json = NULL;
	struct str line = line_of(text);
	struct json_parse_fault fault = {0};
	int result;

	evaluator->documents++;
	*ret_used = line.len;
	result = json_parse(trim(line), &json, &fault);
	if (result == JSON_PARSE_NOT_JSON && fault.kind == JSON_PARSE_CUT_OFF && !parse_lines(text, &json, ret_used))
		*ret_used = skip_broken(text);
	if (*ret_used > DOCUMENT_LIMIT)
		return write_error(evaluator, "too_large", DOCUMENT_LIMIT, line_number);
	if (json == NULL)
		return result < 0 ? result : write_error(evaluator, "invalid_json", fault.offset, line_number);
	return decide(evaluator, json);
}

static size_t count_lines(struct str text)
{
	size_t count = 0;

	for (size_t i = 0; i < text.len; i++)
		count += text.bytes[i] == '\n';
	return count;
}

static int take_stream(struct evaluator *evaluator, struct str text)
{
	size_t line = 1;

	while (text.len > 0) {
		size_t used = line_of(text).len;
		int result = 0;

		if (trim(line_of(text)).len > 0)
			result = take_document(evaluator, text, line, &used);
		if (result == 0 && evaluator->cli->out.len >= FLUSH_AT)
			result = cli_flush(evaluator->cli);
		if (result != 0)
			return result < 0 ? cli_say_error(evaluator->source, result) : result;
		line += count_lines((struct str){text.bytes, used});
		text = rest_of(text, used);
	}
	return 0;
}

static int take_file(struct evaluator *evaluator, const char *path)
{
	CLEANUP(cli_buf_drop) struct buf bytes = {0};
	int error;

	evaluator->source = strcmp(path, "-") == 0 ? "standard input" : path;
	buf_init(&bytes, DOCUMENT_STREAM_LIMIT);
	error = document_read(path, &bytes);
	if (error < 0)
		return cli_say_error(evaluator->source, error);
	return take_stream(evaluator, buf_str(&bytes));
}

static int run(struct cli *cli)
{
	CLEANUP(catalog_drop) struct catalog *catalog = NULL;
	struct evaluator evaluator = {.cli = cli, .project = write_result};
	const char *projection = args_text(&cli->args, "projection");
	int result = 0;

	if (projection != NULL)
		result = find_projection(&evaluator, projection);
	if (result == 0)
		result = cli_catalog(cli, &catalog);
	evaluator.catalog = catalog;
	if (result == 0 && cli->args.word_count == 0)
		result = take_file(&evaluator, "-");
	for (size_t i = 0; result == 0 && i < cli->args.word_count; i++)
		result = take_file(&evaluator, cli->args.words[i]);
	if (result == 0 && evaluator.documents == 0)
		return cli_say_usage(cli, "no document was given");
	if (result != 0)
		return result;
	if (args_has(&cli->args, "fail-blocked") && evaluator.blocked > 0)
		return CLI_REFUSED;
	return evaluator.malformed > 0 ? CLI_REFUSED : CLI_DONE;
}

static const struct args_option options[] = {
	{"catalog", 0, ARGS_TEXT, "FILE", "decide by this catalog, not by the one that is built in"},
	{"projection", 0, ARGS_TEXT, "NAME",
		"result (default), validation, grantPreview, brokerCheck, filesystemGate, "
		"operatorState"},
	{"fail-blocked", 0, ARGS_FLAG, NULL, "exit 1 also when a package is blocked"},
	{0},
};

const struct cli_command cmd_evaluate = {
	.name = "evaluate",
	.synopsis = "[--projection NAME] [--catalog FILE] [FILE...]",
	.summary = "Decide package documents without a daemon, a result a line",
	.text = "Reads JSON documents or JSON lines from the files, or from standard input, and prints one line for "
		"each: the\n"
		"result, or a projection of it. A document has label, entries and subtasks (or mcpRequirements, "
		"mcpGrants and\n"
		"mcpAwareSubtasks) and may bring health, grants and prompt. A malformed one gives "
		"{\"error\":{\"code\",\"offset\"}}\n"
		"in its place, the others are decided, and the exit status is 1. A blocked package is a result, not an "
		"error.",
	.examples = "admitctl evaluate package.json\n"
		    "admitctl evaluate < packages.jsonl | jq -r .aggregate.status\n"
		    "admitctl evaluate --projection operatorState package.json\n"
		    "admitctl evaluate --catalog next.json --fail-blocked packages.jsonl",
	.options = options,
	.max_words = ARGS_GIVEN,
	.is_local = true,
	.run = run,
};
