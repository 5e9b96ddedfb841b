/* admitctl explain: how one capability is read, and by which rule (chapters 1.4 and 1.5). */
#include <string.h>

#include "cli/commands.h"
#include "policy/cleanup.h"
#include "policy/explain.h"

static struct str word(const char *text)
{
	return text == NULL ? (struct str){0} : (struct str){text, strlen(text)};
}

static void line(struct cli *cli, const char *label, struct str text)
{
	table_paint(&cli->out, &cli->style, TABLE_DIM);
	buf_printf(&cli->out, "%-12s", label);
	table_paint_end(&cli->out, &cli->style, TABLE_DIM);
	table_text(&cli->out, text.bytes == NULL ? STR("none") : text);
	buf_putc(&cli->out, '\n');
}

static void write_lines(struct cli *cli, const struct explanation *explanation)
{
	struct str address = {0};

	if (explanation->resource.bytes != NULL)
		address = word(cli_printf(cli, "resource %.*s, operation %.*s", (int)explanation->resource.len,
			explanation->resource.bytes, (int)explanation->operation.len, explanation->operation.bytes));
	line(cli, "read as", explanation->capability.canonical);
	line(cli, "under", explanation->mcp_id);
	line(cli, "owner", explanation->owner == NULL ? (struct str){0} : explanation->owner->id);
	line(cli, "address", address);
	line(cli, "class", word(capability_class_name(explanation->capability.class)));
	line(cli, "delivery", word(delivery_kind_name(explanation->delivery)));
	line(cli, "decided by",
		word(cli_printf(cli, "rule %d: %s", explanation->rule, explain_rule_text(explanation->rule))));
	if (explanation->nearest != NULL)
		line(cli, "closest", explanation->nearest->name);
}

static int run(struct cli *cli)
{
	CLEANUP(catalog_drop) struct catalog *catalog = NULL;
	struct explanation explanation = {0};
	struct json_out out;
	int result = cli_catalog(cli, &catalog);

	if (result != 0)
		return result;
	result = explain_capability(
		&cli->arena, catalog, word(args_text(&cli->args, "mcp")), word(args_word(&cli->args, 0)), &explanation);
	if (result < 0)
		return cli_say_error("explain", result);
	json_out_init(&out, &cli->out);
	if (cli->json) {
		explain_write(&explanation, &out);
		buf_putc(&cli->out, '\n');
	} else {
		write_lines(cli, &explanation);
	}
	return explanation.capability.class == CLASS_UNKNOWN ? CLI_REFUSED : CLI_DONE;
}

static const struct args_option options[] = {
	{"mcp", 0, ARGS_TEXT, "ID", "read it under this MCP, as a requirement of that mcpId would"},
	{"catalog", 0, ARGS_TEXT, "FILE", "explain by this catalog, not by the one that is built in"},
	{0},
};

const struct cli_command cmd_explain = {
	.name = "explain",
	.synopsis = "CAPABILITY [--mcp ID] [--catalog FILE]",
	.summary = "Say how a capability is read, and by which rule",
	.text = "Prints the canonical form, the MCP that owns it, its address, its class, how it is delivered, which "
		"rule decided,\n"
		"and for an unknown one the closest name that is known. The exit status is 1 for an unknown "
		"capability.",
	.examples = "admitctl explain filesystem.read\n"
		    "admitctl explain github.secerts.write\n"
		    "admitctl explain filesystem.project.read --mcp github --json",
	.options = options,
	.min_words = 1,
	.max_words = 1,
	.is_local = true,
	.run = run,
};
