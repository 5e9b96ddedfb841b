/* admitctl health: what is known of a project's tool servers, and what an outside checker saw (chapters 1.6, 4.2). */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "cli/body.h"
#include "cli/commands.h"
#include "cli/document.h"
#include "cli/show.h"
#include "policy/cleanup.h"

enum { VALID_LONGEST_S = 7 * 24 * 3600 };

static void body_drop(struct body *body)
{
	body_release(body);
}

static void table_drop(struct table *table)
{
	table_release(table);
}

static const char *path_of(struct cli *cli)
{
	return cli_printf(cli, "/v1/projects/%s/health", cli_segment(cli, args_word(&cli->args, 0)));
}

static const char *state_of(struct cli *cli, const json_t *row)
{
	return cli_printf(cli, "%s%s%s", document_text_or_empty(row, "status"),
		json_is_true(json_object_get(row, "enabled")) ? "" : ", off",
		json_is_true(json_object_get(row, "expired")) ? ", expired" : "");
}

static int show_list(struct cli *cli, const json_t *rows)
{
	static const char *const headings[] = {"SERVER", "STATUS", "SOURCE", "AGE", "ERROR"};
	CLEANUP(table_drop) struct table table = {0};
	const json_t *row;
	size_t index;
	int error;

	table_init(&table, headings, sizeof(headings) / sizeof(headings[0]));
	json_array_foreach(rows, index, row)
	{
		long long age = json_integer_value(json_object_get(row, "ageSeconds"));

		table_cell(&table, TABLE_BOLD, document_text(row, "mcpId"));
		table_cell(&table, TABLE_PLAIN, state_of(cli, row));
		table_cell(&table, TABLE_PLAIN, document_text(row, "source"));
		table_cell(&table, TABLE_PLAIN, cli_printf(cli, "%lld s", age));
		table_cell(&table, TABLE_PLAIN, document_text(row, "error"));
	}
	error = table_write(&table, &cli->style, &cli->out);
	return error < 0 ? cli_say_error("the table", error) : CLI_DONE;
}

static int run_list(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	int result = cli_call(cli, "GET", path_of(cli), (struct str){0}, &reply);

	if (result != 0)
		return result;
	if (cli->json) {
		cli_show_raw(cli, &reply);
		return CLI_DONE;
	}
	return show_list(cli, json_object_get(reply.json, "items"));
}

/* ---- reporting */

static const char *now_text(struct cli *cli)
{
	struct timespec now;
	struct tm parts;
	char text[32] = "";

	(void)clock_gettime(CLOCK_REALTIME, &now);
	if (gmtime_r(&now.tv_sec, &parts) != NULL)
		(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
	return cli_printf(cli, "%s.%03ldZ", text, now.tv_nsec / 1000000);
}

static void write_row(struct cli *cli, struct body *body, const char *status)
{
	const char *checked_at = args_text(&cli->args, "checked-at");
	const char *error = args_text(&cli->args, "error");

	json_out_member_text(&body->out, "mcpId", args_word(&cli->args, 1));
	json_out_member_text(&body->out, "installState", args_has(&cli->args, "missing") ? "missing" : "installed");
	json_out_member_text(&body->out, "status", status);
	json_out_member_bool(&body->out, "enabled", !args_has(&cli->args, "off"));
	if (error != NULL)
		json_out_member_text(&body->out, "error", error);
	else
		json_out_member_null(&body->out, "error");
	json_out_member_text(&body->out, "checkedAt", checked_at != NULL ? checked_at : now_text(cli));
}

static int run_report(struct cli *cli)
{
	CLEANUP(cli_reply_drop) struct client_reply reply = {0};
	CLEANUP(body_drop) struct body body = {0};
	long valid = 0;
	int result = cli_number(cli, "valid-seconds", 1, VALID_LONGEST_S, &valid);

	body_begin(&body);
	write_row(cli, &body, args_word(&cli->args, 2));
	if (valid != 0)
		json_out_member_int(&body.out, "validSeconds", valid);
	if (result == 0)
		result = cli_call(cli, "PUT",
			cli_printf(cli, "%s/%s", path_of(cli), cli_segment(cli, args_word(&cli->args, 1))),
			body_end(&body), &reply);
	if (result != 0)
		return result;
	if (cli->json)
		cli_show_raw(cli, &reply);
	else
		show_head(cli, document_text_or_empty(reply.json, "status"), document_text(reply.json, "mcpId"),
			show_time(cli, document_text(reply.json, "checkedAt")));
	return CLI_DONE;
}

static const struct args_option report_options[] = {
	{"error", 0, ARGS_TEXT, "TEXT", "what is wrong with it"},
	{"missing", 0, ARGS_FLAG, NULL, "it isn't installed"},
	{"off", 0, ARGS_FLAG, NULL, "it is switched off"},
	{"valid-seconds", 0, ARGS_TEXT, "N", "after so long this word counts no more; else it counts until the next"},
	{"checked-at", 0, ARGS_TEXT, "TIME", "when it was looked at, as RFC 3339; else now"},
	{0},
};

const struct cli_command cmd_health_list = {
	.name = "health list",
	.synopsis = "PROJECT",
	.summary = "List what is known of a project's tool servers",
	.examples = "admitctl health list tracker",
	.min_words = 1,
	.max_words = 1,
	.run = run_list,
};

const struct cli_command cmd_health_report = {
	.name = "health report",
	.synopsis = "PROJECT SERVER STATUS [--error TEXT] [--valid-seconds N]",
	.summary = "Report how a tool server is, as an outside checker",
	.text = "STATUS is healthy, unhealthy, disabled, auth_required, configuration_required or unknown.\n"
		"Servers that the daemon asks itself are not reported.",
	.examples = "admitctl health report tracker github healthy --valid-seconds 600",
	.options = report_options,
	.min_words = 3,
	.max_words = 3,
	.run = run_report,
};
