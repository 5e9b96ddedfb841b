#include <errno.h>
#include <string.h>

#include "daemon/lifecycle/asked.h"
#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/time_text.h"
#include "daemon/lifecycle/world.h"
#include "daemon/store/decision.h"
#include "policy/cleanup.h"
#include "policy/decision_id.h"

/* Canonical inputs and stored results of the largest package stay far below it. */
enum { JSON_CEILING = 64 * 1024 * 1024 };

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

/* ---- health */

static const struct store_health *find_row(const struct world *world, struct str mcp_id)
{
	for (size_t i = 0; i < world->health.count; i++)
		if (str_equal(world->health.items[i].mcp_id, mcp_id))
			return &world->health.items[i];
	return NULL;
}

static bool is_too_old(const struct world *world, const struct store_health *row)
{
	int64_t age = world->call->now - row->checked_at;

	/* A clock that was set back makes rows of the future: as old as their distance. */
	return (age < 0 ? -age : age) >= world->lifecycle->max_age_ms;
}

static int want(const struct world *world, int again)
{
	int r = asked_want(world->call, &world->project);

	return r != 0 ? r : again;
}

/* What the daemon sees itself: asked for this call, or stored, young enough and for this very root. */
static int find_builtin(const struct world *world, struct store_health *ret, bool *ret_found)
{
	const struct asked_root *asked = asked_find(world->call, world->project.id);
	const struct store_health *row = find_row(world, STR(LIFECYCLE_BUILTIN_MCP));
	bool fits = row != NULL && row->root_revision == world->project.root_revision;

	if (asked != NULL && asked->is_asked) {
		if (asked->root_revision != world->project.root_revision)
			return want(world, CALL_INPUTS_CHANGED);
		*ret = asked_row(asked, &world->project);
		*ret_found = true;
		return 0;
	}
	if (world->asks && (!fits || is_too_old(world, row)))
		return want(world, CALL_ASK_HEALTH);
	*ret_found = fits;
	if (fits)
		*ret = *row;
	return 0;
}

/* A row that was taken for the server as it is reached now. */
static bool fits_server(const struct store_health *row, const struct store_server *server)
{
	return row != NULL && row->source == STORE_HEALTH_PROBED && row->server_revision == server->revision;
}

/* Asks every server of the project that is too long ago, not only the one that is missed first: all at once (2.3). */
static int want_servers(const struct world *world, int again)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < world->servers.count; i++) {
		const struct store_server *server = &world->servers.items[i];
		const struct store_health *row = find_row(world, server->mcp_id);
		const struct asked_server *asked = asked_find_server(world->call, world->project.id, server->mcp_id);
		bool is_known = asked != NULL && asked->is_asked && asked->server_revision == server->revision;

		if (server->kind != STORE_SERVER_SPEC || catalog_find_mcp(world->catalog, server->mcp_id) == NULL)
			continue;
		if (!is_known && (!fits_server(row, server) || is_too_old(world, row)))
			r = asked_want_server(world->call, server);
	}
	return r != 0 ? r : again;
}

/* What the prober sees of a server with a spec: asked for this call, or stored, young enough and for this very spec. */
static int find_probed(
	const struct world *world, const struct store_server *server, struct store_health *ret, bool *ret_found)
{
	const struct asked_server *asked = asked_find_server(world->call, world->project.id, server->mcp_id);
	const struct store_health *row = find_row(world, server->mcp_id);
	bool fits = fits_server(row, server);

	if (asked != NULL && asked->is_asked) {
		if (asked->server_revision != server->revision)
			return want_servers(world, CALL_INPUTS_CHANGED);
		*ret = asked_server_row(asked);
		*ret_found = true;
		return 0;
	}
	if (world->asks && (!fits || is_too_old(world, row)))
		return want_servers(world, CALL_ASK_HEALTH);
	*ret_found = fits;
	if (fits)
		*ret = *row;
	return 0;
}

static int find_reported(const struct world *world, struct str mcp_id, struct store_health *ret, bool *ret_found)
{
	const struct store_health *row = find_row(world, mcp_id);

	*ret_found = row != NULL && !row->expired;
	if (*ret_found)
		*ret = *row;
	return 0;
}

static int find_health(const struct world *world, struct str mcp_id, struct store_health *ret, bool *ret_found)
{
	const struct store_server *server = world_server(world, mcp_id);
	int r = 0;

	if (str_is(mcp_id, LIFECYCLE_BUILTIN_MCP))
		r = find_builtin(world, ret, ret_found);
	else if (server != NULL && server->kind == STORE_SERVER_SPEC)
		r = find_probed(world, server, ret, ret_found);
	else
		r = find_reported(world, mcp_id, ret, ret_found);
	/* Switched off for the project, however well it is. */
	if (r == 0 && *ret_found && server != NULL && !server->enabled)
		ret->enabled = false;
	return r;
}

static int read_health(const struct world *world, const struct store_health *row, struct health_row *ret)
{
	*ret = (struct health_row){
		.mcp_id = row->mcp_id,
		.observed = true,
		.enabled = row->enabled,
		.error = row->error,
		.checked_at = time_text(world->arena, row->checked_at),
	};
	if (ret->checked_at.bytes == NULL)
		return row->checked_at == 0 ? -EUCLEAN : -ENOMEM;
	return health_install_state_find(row->install_state, &ret->install_state) &&
			health_status_find(row->status, &ret->status)
		? 0
		: -EUCLEAN;
}

static bool has_health(const struct admission_inputs *inputs, struct str mcp_id)
{
	for (size_t i = 0; i < inputs->health_count; i++)
		if (str_equal(inputs->health[i].mcp_id, mcp_id))
			return true;
	return false;
}

static int collect_health(const struct world *world, const struct package *package, struct admission_inputs *inputs)
{
	int again = 0;

	inputs->health = ARENA_ARRAY(world->arena, package->requirement_count, struct health_row);
	if (inputs->health == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < package->requirement_count; i++) {
		const struct requirement *requirement = &package->requirements[i];
		struct store_health row = {0};
		bool found = false;
		int r = 0;

		if (requirement->mcp == NULL || has_health(inputs, requirement->mcp->id))
			continue;
		r = find_health(world, requirement->mcp->id, &row, &found);
		/* What is missing of others is noted too before anything is asked. */
		if (r == CALL_ASK_HEALTH || r == CALL_INPUTS_CHANGED) {
			again = again == CALL_INPUTS_CHANGED ? again : r;
			continue;
		}
		if (r == 0 && found)
			r = read_health(world, &row, &inputs->health[inputs->health_count]);
		if (r != 0)
			return r;
		inputs->health_count += found;
	}
	return again;
}

/* ---- grants */

static int effective_grant(struct world *world, const struct subject *subject, const struct requirement *requirement,
	struct grant_state *ret)
{
	struct precedence_input *input = ARENA_NEW(world->arena, struct precedence_input);
	int r = input != NULL ? world_needs(world, requirement, &input->needs) : -ENOMEM;

	if (r != 0)
		return r;
	input->package = subject->record;
	input->project = world->record;
	input->root_revision = world->project.root_revision;
	input->is_consumed = subject->is_consumed;
	(void)grant_precedence(input, ret);
	return 0;
}

static int collect_grants(struct world *world, const struct subject *subject, struct admission_inputs *inputs)
{
	const struct package *package = subject->package;

	inputs->grants = ARENA_ARRAY(world->arena, package->requirement_count, struct admission_grant);
	if (inputs->grants == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < package->requirement_count; i++) {
		struct admission_grant *grant = &inputs->grants[inputs->grant_count];
		int r = 0;

		if (!requirement_needs_grant(&package->requirements[i]))
			continue;
		grant->name = package->requirements[i].key;
		r = effective_grant(world, subject, &package->requirements[i], &grant->state);
		if (r != 0)
			return r;
		inputs->grant_count++;
	}
	return 0;
}

/* ---- the judgement */

static int name_inputs(struct world *world, struct verdict *verdict)
{
	CLEANUP(buf_drop) struct buf buf = {0};
	struct json_out out;
	char digest[DIGEST_TEXT_SIZE];
	int r = 0;

	buf_init(&buf, JSON_CEILING);
	json_out_init(&out, &buf);
	decision_inputs_write(&verdict->admission, &out);
	r = buf_error(&buf);
	if (r != 0)
		return r;
	digest_text(buf_str(&buf), digest);
	verdict->inputs_json = arena_str(world->arena, buf_str(&buf));
	verdict->decision_id = arena_str(world->arena, (struct str){digest, strlen(digest)});
	return verdict->inputs_json.bytes != NULL && verdict->decision_id.bytes != NULL ? 0 : -ENOMEM;
}

int world_judge(struct world *world, const struct subject *subject, struct verdict *ret)
{
	int r = 0;

	*ret = (struct verdict){.subject = *subject};
	ret->inputs.prompt = subject->prompt;
	ret->inputs.prompt_count = subject->prompt_count;
	r = collect_health(world, subject->package, &ret->inputs);
	if (r == 0)
		r = collect_grants(world, subject, &ret->inputs);
	if (r != 0)
		return r;
	admission_inputs_sort(&ret->inputs);
	r = admit_work_package_mcp(world->arena, subject->package, &ret->inputs, &ret->admission);
	if (r != 0)
		return r;
	ret->is_held = projection_hold_origin(&ret->admission, world->has_root, &ret->origin);
	return name_inputs(world, ret);
}

int verdict_result(const struct verdict *verdict, struct buf *ret_result)
{
	struct json_out out;

	json_out_init(&out, ret_result);
	admission_write(&verdict->admission, true, &out);
	return buf_error(ret_result);
}

int verdict_store(struct world *world, const struct verdict *verdict)
{
	CLEANUP(buf_drop) struct buf buf = {0};
	char digest[DIGEST_TEXT_SIZE];
	struct store_decision row;
	int r = 0;

	buf_init(&buf, JSON_CEILING);
	r = verdict_result(verdict, &buf);
	if (r != 0)
		return r;
	digest_text(buf_str(&buf), digest);
	row = (struct store_decision){
		.id = verdict->decision_id,
		.inputs_json = verdict->inputs_json,
		.result_json = buf_str(&buf),
		.result_digest = {digest, strlen(digest)},
		.catalog_digest = world->catalog->digest,
		.package_digest = verdict->subject.package->digest,
		.engine_revision = ADMISSION_ENGINE_REVISION,
		.created_at = world->call->now,
	};
	return call_store_result(store_decision_put(world->tx, &row));
}
