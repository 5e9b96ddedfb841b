/* agent_config.h - what coding agents read, as bytes (chapter 5.7).
 *
 * Claude Code gets a JSON file of tool servers and arguments that make it the only one; Codex a TOML file that is its home's
 * config.toml. Values of credentials stand in these files and nowhere else: never in an argument. Where the files go, and with
 * which modes, is run_folder.h. May use policy only. Pure, any thread.
 */
#ifndef ADMITD_AGENTS_AGENT_CONFIG_H
#define ADMITD_AGENTS_AGENT_CONFIG_H

#include "agents/spec.h"

enum agent_kind { AGENT_CLAUDE_CODE = 0, AGENT_CODEX, AGENT_KINDS };

#define AGENT_CLAUDE_FILE "mcp-servers.json"
#define AGENT_CODEX_FILE "config.toml"
/* The id of our own reading tools in an agent's config, as registering declares it (5.8). */
#define AGENT_READER_ID "admitd"

/* "claude-code", "codex". */
const char *agent_kind_name(enum agent_kind kind);
/* 0, or 1: no such agent. */
int agent_kind_find(struct str name, enum agent_kind *ret) MUST_USE;

/* Why a server can't be written for this agent; NULL: it can. Codex gets http servers only when `with_http`. */
const char *agent_config_refusal(enum agent_kind kind, const struct spec *spec, bool with_http);

/* The whole file; errors are those of `out`. Every server can be written. */
void agent_config_write_claude(const struct spec *servers, size_t count, struct buf *out);
void agent_config_write_codex(const struct spec *servers, size_t count, struct buf *out);

struct agent_arguments {
	struct str items[5];
	size_t count;
};

/* The arguments for Claude Code. `path` is that of its file, absent where there are no servers; no other config is read in either
 * case. Where a server narrows its tools, the list of allowed ones covers the whole session, so it names the rest of the servers and
 * the client's own tools too. 0 or -ENOMEM. */
int agent_config_claude_arguments(struct arena *arena, struct str path, const struct spec *servers, size_t count,
	struct agent_arguments *ret) MUST_USE;

/* Our own reader below `root`, narrowed to these capabilities: the one server that a decision admits today. 0 or -ENOMEM. */
int agent_config_reader(struct arena *arena, struct str command, struct str root, const struct str *capabilities,
	size_t count, struct spec *ret) MUST_USE;

#endif
