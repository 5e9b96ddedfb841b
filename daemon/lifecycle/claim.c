#include "daemon/lifecycle/claim.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/event_log.h"
#include "daemon/lifecycle/time_text.h"
#include "daemon/lifecycle/view_make.h"
#include "daemon/store/run.h"
#include "policy/cleanup.h"
#include "policy/redact.h"

enum { OVERLAYS_CEILING = 4 * 1024 * 1024, WORKER_LIMIT = 160 };

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

/* The same hash under which http looks tokens up, in hexadecimal. */
static struct str hash_token(struct arena *arena, struct str token)
{
	unsigned char hash[32];
	char hex[2 * sizeof(hash) + 1];

	crypto_generichash(hash, sizeof(hash), (const unsigned char *)token.bytes, token.len, NULL, 0);
	sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));
	return arena_str(arena, (struct str){hex, sizeof(hex) - 1});
}

static int write_run(struct world *world, const struct store_package *row, const struct verdict *verdict,
	struct lifecycle_handoff *handoff)
{
	struct store_run run = {
		.id = store_id_new(world->arena, "run_"),
		.package = row->id,
		.attempt = row->attempts + 1,
		.claimed_by = world->call->actor,
		.lease_expires_at = world->call->now + world->lifecycle->lease_ms,
		.decision = verdict->decision_id,
		.root_revision = world->project.root_revision,
		.claimed_at = world->call->now,
	};
	int r = run.id.bytes != NULL ? redact_copy(world->arena, handoff->worker, WORKER_LIMIT, &run.worker) : -ENOMEM;

	if (r != 0)
		return r;
	handoff->run_token = lifecycle_run_token(world->lifecycle, world->arena, run.id);
	run.token_hash =
		handoff->run_token.bytes != NULL ? hash_token(world->arena, handoff->run_token) : (struct str){0};
	if (run.token_hash.bytes == NULL)
		return -ENOMEM;
	handoff->run.row = run;
	world->call->lease_run = run.id;
	world->call->lease_renewals = 0;
	return call_store_result(store_run_insert(world->tx, &run));
}

/* A keyless requirement's made-up name may be another one's key (1.7). Their grant is looked up by that name, so it is the same
 * one, and written once.
 */
static bool is_named_again(const struct admission *admission, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (admission->evaluations[i].row == ROW_5C_ADMITTED &&
			str_equal(admission->evaluations[i].requirement->key,
				admission->evaluations[at].requirement->key))
			return true;
	return false;
}

/* Consumed is only what row 5c admits through (2.4). */
static int write_run_grants(struct world *world, const struct verdict *verdict, struct str run)
{
	for (size_t i = 0; i < verdict->admission.evaluation_count; i++) {
		const struct evaluation *evaluation = &verdict->admission.evaluations[i];
		struct store_run_grant row = {
			.run = run,
			.requirement_key = evaluation->requirement->key,
			.grant = evaluation->grant.approval_id,
			.mode = evaluation->grant.mode == GRANT_MODE_ALLOW_ONCE ? STORE_GRANT_ALLOW_ONCE
										: STORE_GRANT_ALWAYS_ALLOW,
		};
		int r = 0;

		if (evaluation->row != ROW_5C_ADMITTED || row.grant.bytes == NULL ||
			is_named_again(&verdict->admission, i))
			continue;
		r = call_store_result(store_run_grant_append(world->tx, &row));
		if (r != 0)
			return r;
	}
	return 0;
}

static int tell_claimed(struct world *world, const struct store_package *row, const struct verdict *verdict,
	const struct store_run *run)
{
	struct event_log event;

	event_log_begin(&event, world, "run.claimed", "run", run->id);
	event.row.task = row->task;
	event.row.package = row->id;
	json_out_member_int(&event.out, "attempt", run->attempt);
	json_out_member_str(&event.out, "worker", run->worker);
	json_out_member_str(&event.out, "decisionId", verdict->decision_id);
	time_text_member(&event.out, "leaseExpiresAt", run->lease_expires_at);
	return event_log_end(&event);
}

/* ---- what the agent is given */

static int give_overlays(struct world *world, struct str package, struct str *ret_json)
{
	CLEANUP(buf_drop) struct buf buf = {0};
	struct store_overlay_list list = {0};
	struct json_out out;
	int r = call_store_result(store_overlay_list(world->tx, package, true, &list));

	buf_init(&buf, OVERLAYS_CEILING);
	if (r != 0)
		return r;
	json_out_init(&out, &buf);
	json_out_begin_object(&out);
	for (size_t i = 0; i < list.count; i++) {
		json_out_key_str(&out, list.items[i].requirement_key);
		json_out_str(&out, list.items[i].text);
	}
	json_out_end_object(&out);
	r = buf_error(&buf);
	if (r != 0)
		return r;
	*ret_json = arena_str(world->arena, buf_str(&buf));
	return ret_json->bytes != NULL ? 0 : -ENOMEM;
}

/* Each subtask once; a package that was admitted has no blocked one. Rows are sorted by subtask. */
static int give_subtasks(struct world *world, const struct admission *admission, struct lifecycle_handoff *handoff)
{
	struct str *subtasks = ARENA_ARRAY(world->arena, admission->subtask_count, struct str);

	if (subtasks == NULL)
		return -ENOMEM;
	handoff->subtasks = subtasks;
	handoff->subtask_count = 0;
	for (size_t i = 0; i < admission->subtask_count; i++) {
		struct str id = admission->subtasks[i].row->subtask_id;

		if (handoff->subtask_count > 0 && str_equal(subtasks[handoff->subtask_count - 1], id))
			continue;
		subtasks[handoff->subtask_count++] = arena_str(world->arena, id);
	}
	return world->arena->failed ? -ENOMEM : 0;
}

static int give_scope(struct world *world, const struct evaluation *evaluation, struct lifecycle_read_scope *ret)
{
	struct precedence_set needs = {0};
	struct str *names = NULL;
	int r = world_needs(world, evaluation->requirement, &needs);

	names = r == 0 ? ARENA_ARRAY(world->arena, needs.count, struct str) : NULL;
	if (names == NULL)
		return r != 0 ? r : -ENOMEM;
	for (size_t i = 0; i < needs.count; i++)
		names[i] = needs.items[i]->name;
	*ret = (struct lifecycle_read_scope){
		.requirement_key = arena_str(world->arena, evaluation->requirement->key),
		.capabilities = names,
		.capability_count = needs.count,
	};
	return ret->requirement_key.bytes != NULL ? 0 : -ENOMEM;
}

static int give_read_scope(struct world *world, const struct admission *admission, struct lifecycle_handoff *handoff)
{
	struct lifecycle_read_scope *scope =
		ARENA_ARRAY(world->arena, admission->evaluation_count, struct lifecycle_read_scope);
	int r = scope != NULL ? 0 : -ENOMEM;

	handoff->read_scope = scope;
	handoff->read_scope_count = 0;
	for (size_t i = 0; r == 0 && i < admission->evaluation_count; i++)
		if (admission->evaluations[i].row == ROW_5C_ADMITTED)
			r = give_scope(world, &admission->evaluations[i], &scope[handoff->read_scope_count++]);
	return r;
}

int claim_package(struct world *world, struct store_package *row, const struct verdict *verdict,
	struct lifecycle_handoff *handoff)
{
	enum package_status before = package_status_of(row);
	int r = write_run(world, row, verdict, handoff);

	if (r == 0)
		r = write_run_grants(world, verdict, handoff->run.row.id);
	if (r == 0)
		r = tell_claimed(world, row, verdict, &handoff->run.row);
	if (r == 0)
		r = event_log_package_status(world, row, before, PACKAGE_RUNNING, handoff->run.row.id);
	if (r == 0)
		r = give_overlays(world, row->id, &handoff->overlays);
	if (r == 0)
		r = give_subtasks(world, &verdict->admission, handoff);
	if (r == 0)
		r = give_read_scope(world, &verdict->admission, handoff);
	return r != 0 ? r : view_make_run(world->tx, handoff->run.row.id, &handoff->run);
}
