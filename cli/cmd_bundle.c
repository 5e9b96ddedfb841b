/* admitctl bundle: what an agent's okf_* tools answer, byte for byte, for a person or a script (chapter 5.4). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "policy/cleanup.h"
#include "policy/json_out.h"
#include "reader/bundle.h"
#include "reader/bundle_tools.h"

enum { LIST, CARD, ASK, FETCH };

struct opened {
	struct bundle_service service;
	struct contained_root *roots;
};

static void opened_release(struct opened *opened)
{
	size_t i;

	for (i = 0; i < opened->service.place.root_count; i++)
		contained_root_close(&opened->roots[i]);
	free(opened->roots);
}

static int open_root(struct opened *opened, const char *path)
{
	size_t count = opened->service.place.root_count;
	int result = contained_root_open(&opened->roots[count], path);

	if (result != 0) {
		cli_say("%s: %s", path, strerror(-result));
		return CLI_USAGE;
	}
	opened->service.place.root_count = count + 1;
	return 0;
}

/* --bundle serves one; --root, as often as it is given, or else the folder one is in. */
static int open_place(struct cli *cli, struct opened *opened)
{
	const char *bundle = args_text(&cli->args, "bundle"), *path;
	size_t at = 0;
	int result = 0;

	if (bundle != NULL && args_has(&cli->args, "root"))
		return cli_say_usage(cli, "--bundle and --root exclude each other");
	opened->roots = calloc(ARGS_GIVEN, sizeof(*opened->roots));
	if (opened->roots == NULL)
		return cli_say_error("bundle", -ENOMEM);
	opened->service.place.roots = opened->roots;
	opened->service.place.is_bundle = bundle != NULL;
	if (bundle != NULL)
		return open_root(opened, bundle);
	while (result == 0 && (path = args_next(&cli->args, "root", &at)) != NULL)
		result = open_root(opened, path);
	return result == 0 && at == 0 ? open_root(opened, ".") : result;
}

static int read_limit(const struct cli *cli, struct bundle_service *service)
{
	long kib = BUNDLE_CONCEPT_BYTES / 1024;
	int result = cli_number(cli, "max-concept-kib", 1, BUNDLE_CONCEPT_BYTES_LIMIT / 1024, &kib);

	service->concept_bytes = (size_t)kib * 1024;
	return result;
}

/* What can't be a JSON text is passed on as one that no tool takes. */
static void put_text(json_t *arguments, const char *name, const char *text)
{
	json_t *value = json_string(text);

	(void)json_object_set_new(arguments, name, value != NULL ? value : json_null());
}

static void write_refusal(struct cli *cli, const struct tools_refusal *refusal)
{
	struct json_out out;

	json_out_init(&out, &cli->out);
	json_out_begin_object(&out);
	json_out_member_text(&out, "code", refusal->code);
	json_out_member_text(&out, "message", refusal->message);
	json_out_end_object(&out);
}

static int call(struct cli *cli, int tool, json_t *arguments)
{
	struct opened opened CLEANUP(opened_release) = {0};
	struct tools_refusal refusal = {0};
	int result = read_limit(cli, &opened.service);

	if (result == 0)
		result = open_place(cli, &opened);
	if (result != 0)
		return result;
	result =
		bundle_tools(opened.service.place.is_bundle)[tool].run(&opened.service, arguments, &cli->out, &refusal);
	if (result < 0)
		return cli_say_error("bundle", result);
	if (result == TOOLS_REFUSED)
		write_refusal(cli, &refusal);
	buf_putc(&cli->out, '\n');
	return result == 0 ? CLI_DONE : CLI_REFUSED;
}

static int run_list(struct cli *cli)
{
	CLEANUP(json_drop) json_t *arguments = json_object();

	return call(cli, LIST, arguments);
}

static int run_card(struct cli *cli)
{
	CLEANUP(json_drop) json_t *arguments = json_object();

	if (args_word(&cli->args, 0) != NULL)
		put_text(arguments, "bundle_id", args_word(&cli->args, 0));
	return call(cli, CARD, arguments);
}

static int run_ask(struct cli *cli)
{
	CLEANUP(json_drop) json_t *arguments = json_object();
	long limit = BUNDLE_ASK_USUAL;
	int result = cli_number(cli, "limit", 1, BUNDLE_ASK_LIMIT, &limit);

	if (result != 0)
		return result;
	put_text(arguments, "question", args_word(&cli->args, 0));
	(void)json_object_set_new(arguments, "limit", json_integer(limit));
	if (args_text(&cli->args, "in") != NULL)
		put_text(arguments, "bundle_id", args_text(&cli->args, "in"));
	return call(cli, ASK, arguments);
}

static int run_fetch(struct cli *cli)
{
	CLEANUP(json_drop) json_t *arguments = json_object();
	bool has_bundle = cli->args.word_count == 2;

	if (has_bundle)
		put_text(arguments, "bundle_id", args_word(&cli->args, 0));
	put_text(arguments, "concept_id", args_word(&cli->args, has_bundle ? 1 : 0));
	return call(cli, FETCH, arguments);
}

#define PLACE_OPTIONS                                                                                \
	{"bundle", 0, ARGS_TEXT, "DIR", "this folder is the bundle"},                                \
		{"root", 0, ARGS_LIST, "DIR", "look for bundles below it; may be repeated"},         \
	{                                                                                            \
		"max-concept-kib", 0, ARGS_TEXT, "KIB", "refuse longer concepts; 1024, at most 8192" \
	}

static const struct args_option place_options[] = {PLACE_OPTIONS, {0}};

static const struct args_option ask_options[] = {
	{"in", 0, ARGS_TEXT, "BUNDLE", "ask this one only"},
	{"limit", 0, ARGS_TEXT, "N", "how many hits at most: 1 to 50, else 10"},
	PLACE_OPTIONS,
	{0},
};

const struct cli_command cmd_bundle_list = {
	.name = "bundle list",
	.synopsis = "[--root DIR... | --bundle DIR]",
	.summary = "List the knowledge bundles below a folder",
	.text = "A bundle is a folder with an index.md; four levels below each root are looked through. Without --root "
		"and --bundle\n"
		"the folder one is in is the root. Prints the very answer of the tool okf_list: id, bundle_ref, title, "
		"concepts.\n"
		"Like all of these commands it only reads, keeps nothing, and exits 1 with {code, message} where it "
		"refuses.",
	.examples = "admitctl bundle list --root ~/projects\n"
		    "admitctl bundle list | jq -r '.bundles[].id'",
	.options = place_options,
	.is_local = true,
	.run = run_list,
};

const struct cli_command cmd_bundle_card = {
	.name = "bundle card",
	.synopsis = "[BUNDLE] [--root DIR... | --bundle DIR]",
	.summary = "Describe a knowledge bundle, or all of them",
	.text = "Prints the answer of okf_describe: how many concepts of which types, which keys, what doesn't conform "
		"or can't be\n"
		"read, broken links, and whether asking beats reading it all.",
	.examples = "admitctl bundle card --bundle docs/.okf/shop\n"
		    "admitctl bundle card shop --root ~/projects | jq '.cards[0].tokens'",
	.options = place_options,
	.max_words = 1,
	.is_local = true,
	.run = run_card,
};

const struct cli_command cmd_bundle_ask = {
	.name = "bundle ask",
	.synopsis = "QUESTION [--in BUNDLE] [--limit N] [--root DIR... | --bundle DIR]",
	.summary = "Find the concepts that answer a question best",
	.text = "Prints the answer of okf_ask: ranked passages, each with its bundle, concept and score. Deprecated "
		"and "
		"stale ones\n"
		"are marked.",
	.examples = "admitctl bundle ask \"badges awarded to users\" --root ~/projects\n"
		    "admitctl bundle ask \"gross margin\" --in shop --limit 3 | jq -r '.hits[].concept_id'",
	.options = ask_options,
	.min_words = 1,
	.max_words = 1,
	.is_local = true,
	.run = run_ask,
};

const struct cli_command cmd_bundle_fetch = {
	.name = "bundle fetch",
	.synopsis = "[BUNDLE] CONCEPT [--root DIR... | --bundle DIR]",
	.summary = "Show the exact text of one concept",
	.text = "Prints the answer of okf_fetch. Only what the bundle's own index names and what lies inside the "
		"bundle "
		"is given out.\n"
		"BUNDLE is left out with --bundle.",
	.examples = "admitctl bundle fetch shop metrics/revenue --root ~/projects\n"
		    "admitctl bundle fetch metrics/revenue --bundle docs/.okf/shop | jq -r .text",
	.options = place_options,
	.min_words = 1,
	.max_words = 2,
	.is_local = true,
	.run = run_fetch,
};
