/* admitctl catalog: check a catalog of tool servers, and show one (chapter 1.3). */
#include <errno.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/document.h"
#include "policy/capability.h"
#include "policy/cleanup.h"
#include "policy/json_out.h"

/* How many capabilities of each class an MCP lists, and how many pairs it defers. */
struct counts {
	size_t reads;
	size_t planning;
	size_t deferred;
	size_t aliases;
};

static struct counts count(const struct catalog_mcp *mcp)
{
	struct counts counts = {.aliases = mcp->alias_count};

	for (size_t i = 0; i < mcp->capability_count; i++) {
		counts.reads += mcp->capabilities[i].class == CLASS_BOUNDED_READ_ONLY;
		counts.planning += mcp->capabilities[i].class == CLASS_PLANNING_ONLY;
	}
	for (size_t i = 0; i < mcp->deferred_count; i++)
		counts.deferred += mcp->deferred[i].operation_count;
	return counts;
}

static void write_fault(struct cli *cli, const char *path, const struct catalog_fault *fault)
{
	struct json_out out;

	cli_say("%s: %s: %s", path, *fault->pointer == '\0' ? "/" : fault->pointer, fault->text);
	if (!cli->json)
		return;
	json_out_init(&out, &cli->out);
	json_out_begin_object(&out);
	json_out_key(&out, "fault");
	json_out_begin_object(&out);
	json_out_member_text(&out, "pointer", fault->pointer);
	json_out_member_text(&out, "detail", fault->text);
	json_out_end_object(&out);
	json_out_end_object(&out);
	buf_putc(&cli->out, '\n');
}

static void write_counts_json(struct cli *cli, const struct catalog *catalog)
{
	struct json_out out;

	json_out_init(&out, &cli->out);
	json_out_begin_object(&out);
	json_out_member_str(&out, "digest", catalog->digest);
	json_out_key(&out, "mcps");
	json_out_begin_array(&out);
	for (size_t i = 0; i < catalog->mcp_count; i++) {
		struct counts counts = count(&catalog->mcps[i]);

		json_out_begin_object(&out);
		json_out_member_str(&out, "mcpId", catalog->mcps[i].id);
		json_out_member_int(&out, "safeReads", (int64_t)counts.reads);
		json_out_member_int(&out, "planningOnly", (int64_t)counts.planning);
		json_out_member_int(&out, "deferred", (int64_t)counts.deferred);
		json_out_member_int(&out, "aliases", (int64_t)counts.aliases);
		json_out_end_object(&out);
	}
	json_out_end_array(&out);
	json_out_end_object(&out);
	buf_putc(&cli->out, '\n');
}

static void table_drop(struct table *table)
{
	table_release(table);
}

static void number_cell(struct cli *cli, struct table *table, size_t number)
{
	table_cell(table, TABLE_PLAIN, cli_printf(cli, "%zu", number));
}

static const char *text_of(struct cli *cli, struct str text)
{
	return cli_printf(cli, "%.*s", (int)text.len, text.len == 0 ? "" : text.bytes);
}

static int write_counts(struct cli *cli, const struct catalog *catalog)
{
	static const char *const headings[] = {
		"MCP", "NAME", "DELIVERY", "HEALTH", "SAFE READS", "PLANNING ONLY", "DEFERRED", "ALIASES"};
	CLEANUP(table_drop) struct table table = {0};

	table_init(&table, headings, sizeof(headings) / sizeof(headings[0]));
	for (size_t i = 0; i < catalog->mcp_count; i++) {
		const struct catalog_mcp *mcp = &catalog->mcps[i];
		struct counts counts = count(mcp);

		table_cell(&table, TABLE_BOLD, text_of(cli, mcp->id));
		table_cell(&table, TABLE_PLAIN, text_of(cli, mcp->display_name));
		table_cell(&table, TABLE_PLAIN, delivery_kind_name(mcp->delivery));
		table_cell(&table, TABLE_PLAIN, mcp->health_gated ? "asked" : "not asked");
		number_cell(cli, &table, counts.reads);
		number_cell(cli, &table, counts.planning);
		number_cell(cli, &table, counts.deferred);
		number_cell(cli, &table, counts.aliases);
	}
	buf_printf(&cli->out, "%s\n\n", text_of(cli, catalog->digest));
	return table_write(&table, &cli->style, &cli->out) < 0 ? cli_say_error("the table", -ENOMEM) : 0;
}

static int write_catalog(struct cli *cli, const struct catalog *catalog)
{
	if (!cli->json)
		return write_counts(cli, catalog);
	write_counts_json(cli, catalog);
	return CLI_DONE;
}

static int run_check(struct cli *cli)
{
	const char *path = args_word(&cli->args, 0);
	CLEANUP(catalog_drop) struct catalog *catalog = NULL;
	CLEANUP(cli_buf_drop) struct buf bytes = {0};
	struct catalog_fault fault = {0};
	int result;

	buf_init(&bytes, DOCUMENT_LIMIT);
	result = document_read(path, &bytes);
	if (result < 0)
		return cli_say_error(path, result);
	result = catalog_new(buf_str(&bytes), &catalog, &fault);
	if (result < 0)
		return cli_say_error(path, result);
	if (result == CATALOG_REFUSED) {
		write_fault(cli, path, &fault);
		return CLI_REFUSED;
	}
	return write_catalog(cli, catalog);
}

const struct cli_command cmd_catalog_check = {
	.name = "catalog check",
	.synopsis = "FILE",
	.summary = "Check a catalog file: its digest and counts, or its fault",
	.text = "A catalog that would be refused is told by its first faulty entry, a JSON pointer, and exit status 1.",
	.examples = "admitctl catalog check catalog.json\n"
		    "admitctl catalog check --json - < catalog.json",
	.min_words = 1,
	.max_words = 1,
	.is_local = true,
	.run = run_check,
};

/* The daemon's own, or with --default or --catalog one that is at hand. 0 or an exit code. */
static int load(struct cli *cli, struct catalog **ret_catalog)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	struct catalog_fault fault = {0};
	int result;

	if (args_has(&cli->args, "default") || args_has(&cli->args, "catalog"))
		return cli_catalog(cli, ret_catalog);
	result = cli_call(cli, "GET", "/v1/catalog", (struct str){0}, &reply);
	if (result != 0)
		return result;
	result = catalog_new((struct str){reply.bytes, reply.len}, ret_catalog, &fault);
	if (result < 0)
		return cli_say_error("the catalog", result);
	if (result == CATALOG_REFUSED) {
		cli_say("the daemon's catalog is of another version than this program: %s: %s", fault.pointer,
			fault.text);
		return CLI_REFUSED;
	}
	return 0;
}

static int run_show(struct cli *cli)
{
	CLEANUP(catalog_drop) struct catalog *catalog = NULL;
	int result = load(cli, &catalog);

	if (result != 0)
		return result;
	if (!cli->json)
		return write_counts(cli, catalog);
	buf_add_str(&cli->out, catalog->bytes);
	buf_putc(&cli->out, '\n');
	return CLI_DONE;
}

static const struct args_option show_options[] = {
	{"default", 0, ARGS_FLAG, NULL, "the catalog that is built in; asks no daemon"},
	{"catalog", 0, ARGS_TEXT, "FILE", "this one; asks no daemon"},
	{0},
};

const struct cli_command cmd_catalog_show = {
	.name = "catalog show",
	.synopsis = "[--default | --catalog FILE]",
	.summary = "Show the catalog in use: digest, MCPs and counts",
	.text = "With --json, the catalog itself in its canonical bytes, of which the digest is the SHA-256.",
	.examples = "admitctl catalog show\n"
		    "admitctl catalog show --default --json > catalog.json",
	.options = show_options,
	.run = run_show,
};
