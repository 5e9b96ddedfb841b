/* admitctl explain: how one capability is read, and by which rule (chapters 1.4 and 1.5). */
#include <errno.h>
#include <string.h>

#include "cli/commands.h"
#include "policy/capability.h"
#include "policy/cleanup.h"
#include "policy/json_out.h"
#include "policy/text.h"

/* Everything that is said of a capability. */
struct explanation {
	struct str mcp_id; /* under which it is read; absent: under none */
	struct capability capability;
	enum delivery_kind delivery;
	const struct catalog_mcp *owner;
	struct str resource; /* both absent: no address */
	struct str operation;
	int rule; /* of 1.5 */
	const struct catalog_capability *nearest;
};

/* What decided, in the words of 1.5. */
static const char *const rules[] = {
	[1] = "the MCP isn't in the catalog, or the text is unsafe",
	[2] = "it isn't owned by the MCP under which it is asked",
	[3] = "it is listed as planning only",
	[4] = "its address is in the registry of deferred operations",
	[5] = "it is listed as a safe read",
	[6] = "nothing lists it",
};

static int rule_of(const struct explanation *explanation, const struct catalog_mcp *declared)
{
	if (declared == NULL || explanation->capability.canonical.bytes == NULL)
		return 1;
	if (explanation->owner != declared)
		return 2;
	switch (explanation->capability.class) {
	case CLASS_PLANNING_ONLY:
		return 3;
	case CLASS_DEFERRED_LIVE_MCP:
		return 4;
	case CLASS_BOUNDED_READ_ONLY:
		return 5;
	case CLASS_UNKNOWN:
		break;
	}
	return 6;
}

/* <mcp>.<resource>.<operation>, or <mcp>.<operation> where the MCP has a resource for the short form (1.4). */
static void address_of(struct explanation *explanation)
{
	struct str name = explanation->capability.canonical;
	struct str root = explanation->owner->root_resource;
	struct str rest;
	const char *dot;

	rest.bytes = name.bytes + explanation->owner->id.len + 1;
	rest.len = name.len - explanation->owner->id.len - 1;
	dot = memchr(rest.bytes, '.', rest.len);
	if (dot == NULL) {
		if (root.bytes == NULL || rest.len == 0)
			return;
		explanation->resource = root;
		explanation->operation = rest;
		return;
	}
	explanation->resource = (struct str){rest.bytes, (size_t)(dot - rest.bytes)};
	explanation->operation = (struct str){dot + 1, rest.len - explanation->resource.len - 1};
	if (explanation->resource.len == 0 || explanation->operation.len == 0 ||
		memchr(dot + 1, '.', explanation->operation.len) != NULL ||
		(root.bytes != NULL && str_equal(explanation->resource, root)))
		explanation->resource = explanation->operation = (struct str){0};
}

/* Without --mcp it is read under the MCP that its own name says. */
static int explain(struct cli *cli, const struct catalog *catalog, struct explanation *ret)
{
	struct str text = {args_word(&cli->args, 0), strlen(args_word(&cli->args, 0))};
	const char *mcp_id = args_text(&cli->args, "mcp");
	struct str normalized = text_normalize(&cli->arena, text);
	const struct catalog_mcp *declared;
	int error;

	if (normalized.bytes == NULL)
		return -ENOMEM;
	declared = capability_owner(catalog, normalized);
	if (mcp_id != NULL)
		declared = catalog_find_mcp(catalog, (struct str){mcp_id, strlen(mcp_id)});
	ret->mcp_id = mcp_id != NULL ? (struct str){mcp_id, strlen(mcp_id)} : (struct str){0};
	if (declared != NULL)
		ret->mcp_id = declared->id;
	error = capability_explain(&cli->arena, catalog, ret->mcp_id.bytes == NULL ? STR("") : ret->mcp_id, text,
		&ret->capability, &ret->delivery);
	if (error != 0)
		return error;
	if (ret->capability.canonical.bytes != NULL)
		ret->owner = capability_owner(catalog, ret->capability.canonical);
	if (ret->owner != NULL)
		address_of(ret);
	ret->rule = rule_of(ret, declared);
	if (ret->capability.class == CLASS_UNKNOWN && text_is_safe(text))
		ret->nearest = capability_nearest(catalog, normalized);
	return 0;
}

static void member_name(struct json_out *out, const char *key, const char *name)
{
	if (name == NULL)
		json_out_member_null(out, key);
	else
		json_out_member_text(out, key, name);
}

static void write_json(const struct explanation *explanation, struct buf *buf)
{
	struct json_out out;

	json_out_init(&out, buf);
	json_out_begin_object(&out);
	json_out_member_str(&out, "requested", explanation->capability.requested);
	json_out_member_str(&out, "capability", explanation->capability.canonical);
	json_out_member_str(&out, "mcpId", explanation->mcp_id);
	json_out_member_str(&out, "owner", explanation->owner == NULL ? (struct str){0} : explanation->owner->id);
	json_out_key(&out, "address");
	if (explanation->resource.bytes == NULL) {
		json_out_null(&out);
	} else {
		json_out_begin_object(&out);
		json_out_member_str(&out, "resource", explanation->resource);
		json_out_member_str(&out, "operation", explanation->operation);
		json_out_end_object(&out);
	}
	json_out_member_text(&out, "class", capability_class_name(explanation->capability.class));
	member_name(&out, "deliveryKind", delivery_kind_name(explanation->delivery));
	json_out_member_int(&out, "rule", explanation->rule);
	json_out_member_str(
		&out, "nearest", explanation->nearest == NULL ? (struct str){0} : explanation->nearest->name);
	json_out_end_object(&out);
	buf_putc(buf, '\n');
}

static void line(struct cli *cli, const char *label, struct str text)
{
	table_paint(&cli->out, &cli->style, TABLE_DIM);
	buf_printf(&cli->out, "%-12s", label);
	table_paint_end(&cli->out, &cli->style, TABLE_DIM);
	table_text(&cli->out, text.bytes == NULL ? STR("none") : text);
	buf_putc(&cli->out, '\n');
}

static struct str literal(const char *text)
{
	return text == NULL ? (struct str){0} : (struct str){text, strlen(text)};
}

static void write_lines(struct cli *cli, const struct explanation *explanation)
{
	struct str address = {0};

	if (explanation->resource.bytes != NULL)
		address = literal(cli_printf(cli, "resource %.*s, operation %.*s", (int)explanation->resource.len,
			explanation->resource.bytes, (int)explanation->operation.len, explanation->operation.bytes));
	line(cli, "read as", explanation->capability.canonical);
	line(cli, "under", explanation->mcp_id);
	line(cli, "owner", explanation->owner == NULL ? (struct str){0} : explanation->owner->id);
	line(cli, "address", address);
	line(cli, "class", literal(capability_class_name(explanation->capability.class)));
	line(cli, "delivery", literal(delivery_kind_name(explanation->delivery)));
	line(cli, "decided by", literal(cli_printf(cli, "rule %d: %s", explanation->rule, rules[explanation->rule])));
	if (explanation->nearest != NULL)
		line(cli, "closest", explanation->nearest->name);
}

static int run(struct cli *cli)
{
	CLEANUP(catalog_drop) struct catalog *catalog = NULL;
	struct explanation explanation = {0};
	int result = cli_catalog(cli, &catalog);

	if (result != 0)
		return result;
	result = explain(cli, catalog, &explanation);
	if (result < 0)
		return cli_say_error("explain", result);
	if (cli->json)
		write_json(&explanation, &cli->out);
	else
		write_lines(cli, &explanation);
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
