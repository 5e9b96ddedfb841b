/* A plan from its beginning to its end, and what of it people see. */
#include <stdlib.h>
#include <unistd.h>

#include "cli/materialize.h"
#include "cli/show.h"
#include "policy/cleanup.h"

enum { LINE_CEILING = 16 * 1024 * 1024 };

struct materialize *materialize_new(struct cli *cli)
{
	struct materialize *plan = ARENA_NEW(&cli->arena, struct materialize);

	if (plan == NULL)
		return NULL;
	plan->cli = cli;
	plan->home = plan->checkout = plan->folder.base = plan->folder.descriptor = -1;
	return plan;
}

void materialize_drop(struct materialize **plan)
{
	struct materialize *it = *plan;

	if (it == NULL)
		return;
	client_reply_release(&it->reply);
	job_release(&it->job);
	json_decref(it->body);
	run_folder_close(&it->folder);
	if (it->home >= 0)
		close(it->home);
	if (it->checkout >= 0)
		close(it->checkout);
}

const char *materialize_base(struct cli *cli)
{
	const char *base = args_text(&cli->args, "base");
	const char *runtime = getenv("XDG_RUNTIME_DIR");

	if (base != NULL)
		return base;
	if (runtime != NULL && *runtime == '/')
		return cli_printf(cli, "%s/admitd", runtime);
	return cli_printf(cli, "/tmp/admitd-%ld", (long)geteuid());
}

/* ---- what was written, for people */

static const char *quoted(struct cli *cli, struct str word)
{
	CLEANUP(cli_buf_drop) struct buf buf = {0};

	buf_init(&buf, LINE_CEILING);
	buf_putc(&buf, '\'');
	for (size_t i = 0; i < word.len; i++) {
		if (word.bytes[i] == '\'')
			buf_puts(&buf, "'\\'");
		buf_putc(&buf, word.bytes[i]);
	}
	buf_putc(&buf, '\'');
	return buf_error(&buf) == 0 ? cli_printf(cli, "%s", buf.bytes) : "";
}

static const char *command_line(const struct materialize *plan)
{
	const char *variable = materialize_environment(plan);
	const char *line = variable != NULL ? quoted(plan->cli, (struct str){variable, strlen(variable)}) : "";

	for (size_t i = 0; i < plan->arguments.count; i++)
		line = cli_printf(plan->cli, "%s%s%s", line, *line == '\0' ? "" : " ",
			quoted(plan->cli, plan->arguments.items[i]));
	return line;
}

void materialize_say_left_out(const struct materialize *plan)
{
	for (size_t i = 0; i < plan->job.drop_count; i++)
		cli_say("%s at %s: %s", plan->job.drops[i].is_whole ? "dropped" : "left out",
			plan->job.drops[i].pointer.bytes, plan->job.drops[i].reason.bytes);
	for (size_t i = 0; i < plan->withheld_count; i++) {
		const struct materialize_withheld *withheld = &plan->withheld[i];

		cli_say("withheld %s %.*s: %s%s%.*s", withheld->kind, (int)withheld->name.len, withheld->name.bytes,
			withheld->reason.bytes, withheld->detail.bytes != NULL ? ": " : "", (int)withheld->detail.len,
			withheld->detail.bytes != NULL ? withheld->detail.bytes : "");
	}
	if (plan->run == NULL)
		cli_say("UNGOVERNED: no decision admits what is written here: %zu tool server%s, as the body gives "
			"them",
			plan->server_count, plan->server_count == 1 ? "" : "s");
}

void materialize_show(const struct materialize *plan)
{
	struct cli *cli = plan->cli;

	if (cli->json) {
		struct json_out out;

		json_out_init(&out, &cli->out);
		json_out_begin_object(&out);
		materialize_write_summary(plan, &out);
		json_out_end_object(&out);
		buf_putc(&cli->out, '\n');
		return;
	}
	show_head(cli, plan->run != NULL ? "written" : "ungoverned", plan->directory, agent_kind_name(plan->agent));
	show_line(cli, "decision", plan->decision_id.bytes);
	for (size_t i = 0; i < plan->server_count; i++)
		show_line(cli, i == 0 ? "servers" : "", plan->servers[i].id.bytes);
	for (size_t i = 0; i < plan->skill_count; i++)
		show_line(cli, i == 0 ? "skills" : "", plan->skills[i]->name.bytes);
	show_line(cli, "run it with", command_line(plan));
	show_command(cli, "at the end", cli_printf(cli, "admitctl materialize --remove %s", plan->directory));
}
