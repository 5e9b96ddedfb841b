#include "reader/tools.h"

#include <errno.h>
#include <string.h>

#include "policy/cleanup.h"
#include "reader/inventory.h"
#include "reader/name.h"
#include "reader/search.h"
#include "reader/tools_arguments.h"

enum { ARENA_CEILING = 256 * 1024 * 1024, SHOWN_TARGET_BYTES = 300 };

int tools_refuse(struct tools_refusal *refusal, const char *code, const char *message)
{
	size_t len = strlen(message);

	if (len >= sizeof(refusal->message))
		for (len = sizeof(refusal->message) - 1; len > 0 && ((unsigned char)message[len] & 0xC0) == 0x80;)
			len--;
	memcpy(refusal->message, message, len);
	refusal->message[len] = '\0';
	refusal->code = code;
	return TOOLS_REFUSED;
}

int tools_refuse_target(struct tools_refusal *refusal, struct str target, int result)
{
	CLEANUP(buf_release) struct buf message = {0};

	buf_init(&message, 8 * SHOWN_TARGET_BYTES);
	buf_puts(&message, "the target ");
	name_show(&message,
		(struct str){target.bytes, target.len < SHOWN_TARGET_BYTES ? target.len : SHOWN_TARGET_BYTES});
	buf_puts(&message, target.len > 0 ? " is refused: " : "is refused: ");
	buf_puts(&message, contained_result_text(result));
	if (buf_error(&message) != 0)
		return buf_error(&message);
	return tools_refuse(refusal, contained_result_word(result), buf_str(&message).bytes);
}

/* The limits, in one place; the schemas below repeat them for clients, and a test compares the two. */
enum { INVENTORY_PATHS, INVENTORY_CONTENTS, INVENTORY_CONTENT, INVENTORY_ENTRIES, INVENTORY_BYTES, INVENTORY_ALL };

const struct arguments_rule tools_inventory_rules[TOOLS_INVENTORY_RULES] = {
	[INVENTORY_PATHS] = {"paths", ARGUMENTS_NAMES, true, 1, INVENTORY_PATHS_LIMIT, 0},
	[INVENTORY_CONTENTS] = {"contents", ARGUMENTS_BOOL, false, 0, 1, 0},
	[INVENTORY_CONTENT] = {"maxContentBytes", ARGUMENTS_INTEGER, false, 0, INVENTORY_CONTENT_BYTES_LIMIT,
		INVENTORY_CONTENT_BYTES_USUAL},
	[INVENTORY_ENTRIES] = {"maxEntries", ARGUMENTS_INTEGER, false, 0, INVENTORY_ENTRIES_LIMIT,
		INVENTORY_ENTRIES_USUAL},
	[INVENTORY_BYTES] = {"maxTotalBytes", ARGUMENTS_INTEGER, false, 0, INVENTORY_TOTAL_BYTES_LIMIT,
		INVENTORY_TOTAL_BYTES_USUAL},
	[INVENTORY_ALL] = {"maxTotalEntries", ARGUMENTS_INTEGER, false, 0, INVENTORY_TOTAL_ENTRIES_LIMIT,
		INVENTORY_TOTAL_ENTRIES_USUAL},
};

enum { SEARCH_PATTERN, SEARCH_PATHS, SEARCH_MAX, SEARCH_FILE, SEARCH_BYTES };

const struct arguments_rule tools_search_rules[TOOLS_SEARCH_RULES] = {
	[SEARCH_PATTERN] = {"pattern", ARGUMENTS_TEXT, true, 1, SEARCH_PATTERN_LIMIT, 0},
	[SEARCH_PATHS] = {"paths", ARGUMENTS_NAMES, false, 1, SEARCH_PATHS_LIMIT, 0},
	[SEARCH_MAX] = {"max", ARGUMENTS_INTEGER, false, 0, SEARCH_MATCHES_LIMIT, SEARCH_MATCHES_USUAL},
	[SEARCH_FILE] = {"maxBytes", ARGUMENTS_INTEGER, false, 0, SEARCH_BYTES_LIMIT, SEARCH_BYTES_USUAL},
	[SEARCH_BYTES] = {"maxTotalBytes", ARGUMENTS_INTEGER, false, 0, SEARCH_TOTAL_BYTES_LIMIT,
		SEARCH_TOTAL_BYTES_USUAL},
};

/* Into an arena that isn't begun yet. */
static int read_arguments(struct arena *arena, const struct arguments_rule *rules, size_t count,
	const json_t *arguments, struct arguments_value *ret_values, struct tools_refusal *refusal)
{
	char fault[ARGUMENTS_FAULT_MAX];
	int r = 0;

	arena_init(arena, ARENA_CEILING);
	r = arguments_read(arena, rules, count, arguments, ret_values, fault);
	return r > 0 ? tools_refuse(refusal, "argument_invalid", fault) : r;
}

static int run_inventory(
	const struct tools_scope *scope, const json_t *arguments, struct buf *answer, struct tools_refusal *ret_refusal)
{
	CLEANUP(arena_release) struct arena arena = {0};
	struct arguments_value values[TOOLS_INVENTORY_RULES];
	struct inventory_request request;
	int r = read_arguments(&arena, tools_inventory_rules, TOOLS_INVENTORY_RULES, arguments, values, ret_refusal);

	if (r != 0)
		return r;
	request = (struct inventory_request){
		.paths = values[INVENTORY_PATHS].names,
		.contents = values[INVENTORY_CONTENTS].number != 0,
		.max_content_bytes = values[INVENTORY_CONTENT].number,
		.max_entries = values[INVENTORY_ENTRIES].number,
		.max_total_bytes = values[INVENTORY_BYTES].number,
		.max_total_entries = values[INVENTORY_ALL].number,
	};
	return inventory_run(scope->root, &request, answer);
}

static int run_search(
	const struct tools_scope *scope, const json_t *arguments, struct buf *answer, struct tools_refusal *ret_refusal)
{
	CLEANUP(arena_release) struct arena arena = {0};
	struct arguments_value values[TOOLS_SEARCH_RULES];
	struct search_request request;
	int r = read_arguments(&arena, tools_search_rules, TOOLS_SEARCH_RULES, arguments, values, ret_refusal);

	if (r != 0)
		return r;
	request = (struct search_request){
		.pattern = values[SEARCH_PATTERN].text,
		.paths = values[SEARCH_PATHS].names,
		.max = values[SEARCH_MAX].number,
		.max_bytes = values[SEARCH_FILE].number,
		.max_total_bytes = values[SEARCH_BYTES].number,
		.max_entries = scope->search_entries > 0 ? (int64_t)scope->search_entries : SEARCH_ENTRIES_USUAL,
	};
	return search_run(scope->root, &request, answer, ret_refusal);
}

/* Clients cut descriptions at 2048 bytes. */
const struct tools_tool tools_table[TOOLS_COUNT] = {
	{
		.name = "path_inventory",
		.title = "What paths are",
		.description = "Says what each path below the root is: absent, a symlink (told, never followed), a "
			       "directory with its entries "
			       "(one level, sorted), a file with its bytes, lines and whether it is binary, something "
			       "special, or unreadable and "
			       "why. With contents, text files come with what is in them. One bad path is one bad "
			       "entry. What a bound cuts is "
			       "null, with the bound's name. Bytes that can't be shown stand as \\xNN, and such a name "
			       "can be given back. "
			       "Files that hold credentials are named and not opened.",
		.input_schema = TOOLS_INVENTORY_INPUT,
		.output_schema = TOOLS_INVENTORY_OUTPUT,
		.run = run_inventory,
	},
	{
		.name = "repo_search",
		.title = "Find literal text in files",
		.description = "Finds the exact bytes of pattern in files below the root; nothing in it is special, "
			       "and case counts. Each match comes "
			       "with its file, line, offset and a snippet, in the order of paths. Links are not "
			       "followed, .git and node_modules are "
			       "left out unless named in paths, and what was skipped is counted by kind: symlink, "
			       "binary, special, unreadable, "
			       "large, credentialFile. Where complete is false, bounds says which limit was reached.",
		.input_schema = TOOLS_SEARCH_INPUT,
		.output_schema = TOOLS_SEARCH_OUTPUT,
		.run = run_search,
	},
};
