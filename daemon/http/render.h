/* render.h - what the entities of chapter 2 look like in answers (chapter 4.2, examples).
 *
 * From typed views and outcomes to JSON, and nothing else: no reading, no deciding. A `key` of NULL writes the value alone. Any
 * thread; errors are the buffer's.
 */
#ifndef ADMITD_DAEMON_HTTP_RENDER_H
#define ADMITD_DAEMON_HTTP_RENDER_H

#include "agents/agent_config.h"
#include "daemon/http/auth.h"
#include "daemon/http/reply.h"
#include "daemon/lifecycle/grant.h"
#include "daemon/lifecycle/heartbeat.h"
#include "daemon/lifecycle/move.h"
#include "daemon/lifecycle/outcome.h"
#include "daemon/lifecycle/project.h"
#include "daemon/lifecycle/recovery.h"
#include "daemon/lifecycle/surface.h"
#include "daemon/lifecycle/view.h"
#include "daemon/store/decision.h"
#include "daemon/store/token.h"
#include "policy/json_out.h"

/* ---- render.c: pieces */

/* {token, principal}; null for nobody. */
void render_actor(const char *key, const struct store_actor *actor, struct json_out *out);
void render_names(const char *key, const struct str *names, size_t count, struct json_out *out);
/* Null for an absent one. */
void render_json(const char *key, struct str json, struct json_out *out);
/* `operatorState`. */
void render_state(const struct lifecycle_state *state, struct json_out *out);

/* `opens`. */
void render_opens(const struct lifecycle_opens *opens, struct json_out *out);

/* ---- render_task.c */

enum render_task_part {
	RENDER_TASK_SUPERSEDED = 1 << 0, /* what left the plan with this change */
	RENDER_TASK_ACTIONS = 1 << 1,    /* what may be done with it and its packages, and how they are */
	RENDER_TASK_CANCELLED = 1 << 2,  /* what was cancelled with this change */
	RENDER_TASK_STORY = 1 << 3,      /* who set the status, when and why */
};

/* A task with its packages; `ended` (ids of packages) with RENDER_TASK_SUPERSEDED or RENDER_TASK_CANCELLED. */
void render_task(const struct lifecycle_task *task, unsigned parts, const struct str *ended, size_t ended_count,
	const struct auth_token *token, struct json_out *out);
/* One line of a list. */
void render_task_line(const struct store_task *task, struct json_out *out);

/* Members of a package beside id, label and status. */
enum render_package_part {
	RENDER_PACKAGE_AGENT = 1 << 0,
	RENDER_PACKAGE_ATTEMPTS = 1 << 1,
	RENDER_PACKAGE_LEFT = 1 << 2,
	RENDER_PACKAGE_PLAN = 1 << 3, /* dependsOn, documentDigest */
	RENDER_PACKAGE_HOLD = 1 << 4,
};

/* A package within another answer. */
void render_package_part(
	const char *key, const struct lifecycle_package *package, unsigned parts, struct json_out *out);
/* A package by itself. */
void render_package(const struct lifecycle_package *package, const struct auth_token *token, struct json_out *out);

/* What cancelling, retrying or reworking a package answers. */
void render_package_move(const struct lifecycle_package_move *move, struct json_out *out);

/* ---- render_judged.c: decisions as the surfaces answer them */

/* Members of an open object: comparedWith, changedInputs. */
void render_compared(const struct lifecycle_judged *judged, struct json_out *out);
/* primaryMode, primaryRecoveryAction; nothing when nothing blocks. */
void render_primary(const struct lifecycle_judged *judged, struct json_out *out);
/* What a preview answers. */
void render_preview(const struct lifecycle_preview *preview, const struct auth_token *token, struct json_out *out);
/* A package of a preview. */
void render_previewed(const struct lifecycle_judged *judged, const struct auth_token *token, struct json_out *out);
/* A package of `blocked` in the 409 of an approval. */
void render_blocked(const struct lifecycle_judged *judged, const struct auth_token *token, struct json_out *out);
/* One of its `warnings`. */
void render_warning(const struct lifecycle_judged *judged, struct json_out *out);
/* The members that the 409 of a handoff adds to its problem. */
void render_held(const struct lifecycle_judged *judged, const struct auth_token *token, struct json_out *out);

/* ---- render_run.c */

/* What the claim of a handoff answers, without the run's token. `agent` says for whom its config is written, where it was wanted. */
void render_claim(const struct lifecycle_handoff *handoff, enum agent_kind agent, struct json_out *out);
void render_outcome(const struct lifecycle_outcome *outcome, struct json_out *out);
void render_heartbeat(const struct lifecycle_heartbeat *heartbeat, struct json_out *out);
/* The lifecycle says how long a lease is. */
void render_run(const struct lifecycle_run *run, const struct lifecycle *lifecycle, struct json_out *out);
void render_run_line(const struct store_run *run, const struct lifecycle *lifecycle, struct json_out *out);

/* ---- render_agent_config.c */

/* Its files and arguments, and what was withheld. A fault (memory) is one of the text that is written. */
void render_agent_config(
	const struct lifecycle_run_config *config, enum agent_kind agent, struct arena *arena, struct json_out *out);

/* ---- render_grant.c */

void render_grant(const char *key, const struct store_grant *grant, struct json_out *out);
/* The answer of a decision on reads: only `impact` for a dry run. */
void render_granted(const struct lifecycle_grant *granted, const struct auth_token *token, struct json_out *out);

/* ---- render_project.c */

/* `shows_root`: the path itself, for those who may see it (4.2). `age_at`: the time by which ages are told. `token`: who may do what with
 * it and its servers; NULL: without actions. */
void render_project(const struct lifecycle_project *project, bool shows_root, int64_t age_at,
	const struct auth_token *token, struct json_out *out);
/* The same after archiving or the contrary, with the tasks that were cancelled. */
void render_archived(const struct lifecycle_project_move *move, bool shows_root, struct json_out *out);
void render_project_line(const struct store_project *project, bool shows_root, struct json_out *out);
void render_health(const struct store_health *health, int64_t age_at, struct json_out *out);
/* A row of the project's view with its actions, and what was seen before, newest first, as the log has it. */
void render_health_with_history(const struct lifecycle_project *project, size_t row, int64_t age_at,
	const struct store_event_list *history, const struct auth_token *token, struct json_out *out);
/* A server of the project's view with its actions. */
void render_server(
	const struct lifecycle_project *project, size_t row, const struct auth_token *token, struct json_out *out);
/* A server as it was set, with what is known of it now; NULL: nothing. */
void render_server_with_health(
	const struct store_server *server, const struct store_health *health, int64_t age_at, struct json_out *out);
void render_event(const struct store_event *event, struct json_out *out);
/* The same with `words`, for answers to people: the stream goes without. */
void render_told_event(const struct store_event *event, const struct event_words *words, struct json_out *out);

/* ---- render_recovery.c */

void render_recovery_item(
	const struct lifecycle_recovery_item *item, const struct auth_token *token, struct json_out *out);
void render_recovery_counts(const struct store_queue_counts *counts, struct json_out *out);

/* ---- render_text.c: aligned tables; `shown` of the list, of the last page or with a note that there are more */

void render_tasks_text(const struct store_task_list *list, size_t shown, struct arena *arena, struct http_reply *reply);
void render_grants_text(
	const struct store_grant_list *list, size_t shown, struct arena *arena, struct http_reply *reply);

/* ---- render_token.c */

/* Members of an open object; the secret is nowhere. */
void render_token(const struct store_token *token, struct json_out *out);
/* An array of the names of a set of roles. */
void render_roles(const char *key, unsigned roles, struct json_out *out);

#endif
