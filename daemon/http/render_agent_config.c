/* What a run's agent may have, as the files that its client reads (chapters 4.2, 5.7). */
#include "daemon/http/render.h"
#include "daemon/lifecycle/run_config.h"
#include "policy/cleanup.h"

enum { FILE_CEILING = 1024 * 1024 };

/* The command is found by the agent's own PATH; admitctl materialize writes its own address instead. */
static const char reader_command[] = "admitctl";
#define DIRECTORY "{directory}"

struct given {
	const struct lifecycle_run_config *config;
	enum agent_kind agent;
	struct spec server;
	size_t server_count; /* 0 or 1 */
	struct agent_arguments arguments;
	struct buf file;
};

static void write_strs(const char *key, const struct str *items, size_t count, struct json_out *out)
{
	json_out_key(out, key);
	json_out_begin_array(out);
	for (size_t i = 0; i < count; i++)
		json_out_str(out, items[i]);
	json_out_end_array(out);
}

static void write_reader(const struct lifecycle_run_config *config, struct json_out *out)
{
	json_out_key(out, "reader");
	if (config->capability_count == 0) {
		json_out_null(out);
		return;
	}
	json_out_begin_object(out);
	json_out_member_text(out, "id", AGENT_READER_ID);
	json_out_member_str(out, "root", config->root);
	write_strs("capabilities", config->capabilities, config->capability_count, out);
	json_out_end_object(out);
}

static void write_withheld(const struct lifecycle_run_config *config, struct json_out *out)
{
	json_out_key(out, "withheld");
	json_out_begin_array(out);
	for (size_t i = 0; i < config->withheld_count; i++) {
		json_out_begin_object(out);
		json_out_member_text(out, "kind", config->withheld[i].kind);
		json_out_member_str(out, "name", config->withheld[i].name);
		json_out_member_str(out, "reason", config->withheld[i].reason);
		json_out_member_str(out, "detail", config->withheld[i].detail);
		json_out_end_object(out);
	}
	json_out_end_array(out);
}

static void write_files(const struct given *given, struct json_out *out)
{
	json_out_key(out, "files");
	json_out_begin_array(out);
	if (given->file.len > 0) {
		json_out_begin_object(out);
		json_out_member_text(out, "name", given->agent == AGENT_CODEX ? AGENT_CODEX_FILE : AGENT_CLAUDE_FILE);
		json_out_member_text(out, "mode", "0600");
		json_out_member_str(out, "content", buf_str(&given->file));
		json_out_end_object(out);
	}
	json_out_end_array(out);
	json_out_key(out, "environment");
	json_out_begin_object(out);
	if (given->agent == AGENT_CODEX)
		json_out_member_text(out, "CODEX_HOME", DIRECTORY);
	json_out_end_object(out);
}

static void write_given(const struct given *given, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_member_text(out, "agent", agent_kind_name(given->agent));
	json_out_member_str(out, "runId", given->config->run.id);
	json_out_member_str(out, "decisionId", given->config->run.decision);
	write_reader(given->config, out);
	write_withheld(given->config, out);
	write_files(given, out);
	write_strs("arguments", given->arguments.items, given->arguments.count, out);
	json_out_end_object(out);
}

/* The files as they are; where they will lie only the caller knows. */
static int make(struct given *given, struct arena *arena)
{
	const struct lifecycle_run_config *config = given->config;
	struct str path = {0};
	int r = 0;

	given->server_count = config->capability_count > 0;
	if (given->server_count > 0) {
		path = STR(DIRECTORY "/" AGENT_CLAUDE_FILE);
		r = agent_config_reader(arena, (struct str){reader_command, sizeof(reader_command) - 1}, config->root,
			config->capabilities, config->capability_count, &given->server);
	}
	if (r != 0)
		return r;
	if (given->agent == AGENT_CODEX)
		agent_config_write_codex(&given->server, given->server_count, &given->file);
	else if (given->server_count > 0)
		agent_config_write_claude(&given->server, given->server_count, &given->file);
	if (given->agent == AGENT_CLAUDE_CODE)
		r = agent_config_claude_arguments(arena, path, &given->server, given->server_count, &given->arguments);
	return r != 0 ? r : buf_error(&given->file);
}

static void given_drop(struct given *given)
{
	buf_release(&given->file);
}

void render_agent_config(
	const struct lifecycle_run_config *config, enum agent_kind agent, struct arena *arena, struct json_out *out)
{
	CLEANUP(given_drop) struct given given = {.config = config, .agent = agent};
	int r = 0;

	buf_init(&given.file, FILE_CEILING);
	r = make(&given, arena);
	if (r != 0)
		buf_fail(out->buf, r);
	else
		write_given(&given, out);
}
