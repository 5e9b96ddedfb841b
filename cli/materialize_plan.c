/* What shall be written for a run. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli/body.h"
#include "cli/document.h"
#include "cli/materialize.h"
#include "policy/cleanup.h"

void materialize_withhold(
	struct materialize *plan, const char *kind, struct str name, const char *reason, struct str detail)
{
	if (plan->withheld_count == MATERIALIZE_WITHHELD_MOST)
		return;
	plan->withheld[plan->withheld_count++] =
		(struct materialize_withheld){kind, name, {reason, strlen(reason)}, detail};
}

static int read_body(struct materialize *plan)
{
	const char *path = args_text(&plan->cli->args, "body");
	int result = path != NULL ? body_read_file(path, &plan->body) : 0;
	int r = 0;

	if (result != 0)
		return result;
	if (path == NULL)
		plan->body = json_object();
	r = job_read(&plan->cli->arena, plan->body, &plan->job);
	return r == 0 ? 0 : cli_say_error("the body", r);
}

/* A server that this agent can have. */
static void take_server(struct materialize *plan, const struct spec *spec)
{
	const char *refusal = agent_config_refusal(plan->agent, spec, plan->with_http);

	if (refusal != NULL)
		materialize_withhold(plan, "server", spec->id, refusal, (struct str){0});
	else
		plan->servers[plan->server_count++] = *spec;
}

/* ---- under a decision */

static struct str text_of(const json_t *value, const char *key)
{
	const char *text = document_text(value, key);

	return (struct str){text, text != NULL ? strlen(text) : 0};
}

/* This program, by the name that the agent can run it under, wherever it is started. */
static struct str own_path(struct cli *cli)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path));

	if (len <= 0 || (size_t)len == sizeof(path))
		return STR("admitctl");
	return arena_str(&cli->arena, (struct str){path, (size_t)len});
}

static int take_reader(struct materialize *plan, const json_t *reader)
{
	const json_t *given = json_object_get(reader, "capabilities");
	struct str *capabilities = ARENA_ARRAY(&plan->cli->arena, json_array_size(given), struct str);
	struct str root = text_of(reader, "root");
	size_t index;
	const json_t *item;
	int r = 0;

	if (capabilities == NULL)
		return cli_say_error("the answer", -ENOMEM);
	json_array_foreach(given, index, item) capabilities[index] =
		(struct str){json_string_value(item), json_string_length(item)};
	if (root.bytes == NULL || json_array_size(given) == 0)
		return 0;
	r = agent_config_reader(&plan->cli->arena, own_path(plan->cli), root, capabilities, json_array_size(given),
		&plan->servers[plan->server_count]);
	plan->server_count += r == 0;
	return r == 0 ? 0 : cli_say_error("the reader", r);
}

int materialize_take(struct materialize *plan, const json_t *config)
{
	const json_t *item;
	size_t index;

	plan->decision_id = text_of(config, "decisionId");
	json_array_foreach(json_object_get(config, "withheld"), index, item)
		materialize_withhold(plan, document_text_or_empty(item, "kind"), text_of(item, "name"),
			document_text_or_empty(item, "reason"), text_of(item, "detail"));
	return take_reader(plan, json_object_get(config, "reader"));
}

static int ask(struct materialize *plan)
{
	struct cli *cli = plan->cli;
	int result = cli_call(cli, "GET",
		cli_printf(cli, "/v1/runs/%s/agent-config?agent=%s", cli_segment(cli, plan->run),
			agent_kind_name(plan->agent)),
		(struct str){0}, &plan->reply);

	return result != 0 ? result : materialize_take(plan, plan->reply.json);
}

int materialize_plan(struct materialize *plan)
{
	int result = read_body(plan);

	if (result == 0 && plan->run != NULL)
		result = ask(plan);
	for (size_t i = 0; result == 0 && i < plan->job.server_count; i++) {
		if (plan->run == NULL)
			take_server(plan, &plan->job.servers[i]);
		else
			materialize_withhold(plan, "server", plan->job.servers[i].id, "not_admitted",
				STR("no decision admits a live tool server"));
	}
	return result;
}
