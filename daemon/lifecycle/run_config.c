#include "daemon/lifecycle/run_config.h"

#include <errno.h>
#include <string.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/run_end.h"
#include "daemon/store/decision.h"
#include "policy/cleanup.h"
#include "policy/json_parse.h"

/* The only MCP that our own reader stands for. */
static const char reader_prefix[] = "filesystem.";

struct configuring {
	struct arena *arena;
	struct lifecycle_run_config *config;
	size_t withheld_size;
};

/* One that a reader asked for. */
struct viewing {
	const struct lifecycle_reader *reader;
	struct str id;
	bool has_run_token;
	struct lifecycle_run_config *config;
};

static struct str copy_text(struct arena *arena, const json_t *value)
{
	if (!json_is_string(value))
		return (struct str){0};
	return arena_str(arena, (struct str){json_string_value(value), json_string_length(value)});
}

static void withhold(
	struct configuring *work, const char *kind, struct str name, const char *reason, const char *detail)
{
	struct lifecycle_run_config *config = work->config;

	CHECK(config->withheld_count < work->withheld_size);
	config->withheld[config->withheld_count++] =
		(struct lifecycle_withheld){kind, name, arena_str(work->arena, (struct str){reason, strlen(reason)}),
			arena_str(work->arena, (struct str){detail, strlen(detail)})};
}

/* ---- what the decision says */

static bool is_text(const json_t *object, const char *key, const char *wanted)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text != NULL && strcmp(text, wanted) == 0;
}

static bool has_capability(const struct lifecycle_run_config *config, struct str capability)
{
	for (size_t i = 0; i < config->capability_count; i++)
		if (str_equal(config->capabilities[i], capability))
			return true;
	return false;
}

/* The bounded reads of an admitted requirement that our reader can give. False: it gives none. */
static bool take_capabilities(struct configuring *work, const json_t *decision)
{
	bool takes_any = false;
	size_t index;
	const json_t *item;

	json_array_foreach(json_object_get(decision, "capabilityClasses"), index, item)
	{
		struct str capability = copy_text(work->arena, json_object_get(item, "capability"));

		if (capability.bytes == NULL || !is_text(item, "class", "bounded_read_only") ||
			!is_text(item, "deliveryKind", "bounded_context_packet") ||
			strncmp(capability.bytes, reader_prefix, strlen(reader_prefix)) != 0)
			continue;
		if (!has_capability(work->config, capability))
			work->config->capabilities[work->config->capability_count++] = capability;
		takes_any = true;
	}
	return takes_any;
}

static void take_evaluation(struct configuring *work, const json_t *evaluation)
{
	const json_t *decision = json_object_get(evaluation, "decision");
	const char *mode = json_string_value(json_object_get(decision, "mode"));
	const char *reason = json_string_value(json_object_get(decision, "reason"));
	struct str key =
		copy_text(work->arena, json_object_get(json_object_get(evaluation, "source"), "requirementKey"));

	if (is_text(decision, "mode", "bounded_context_approved") && is_text(decision, "status", "allowed") &&
		take_capabilities(work, decision))
		return;
	withhold(work, "requirement", key, mode != NULL ? mode : "unknown_legacy", reason != NULL ? reason : "");
}

static size_t count_capabilities(const json_t *evaluations)
{
	size_t count = 0;
	size_t index;
	const json_t *item;

	json_array_foreach(evaluations, index, item) count +=
		json_array_size(json_object_get(json_object_get(item, "decision"), "capabilityClasses"));
	return count;
}

static int take_decision(struct configuring *work, const json_t *evaluations, const struct store_server_list *servers)
{
	struct lifecycle_run_config *config = work->config;
	struct arena *arena = work->arena;
	size_t index;
	const json_t *item;

	work->withheld_size = json_array_size(evaluations) + servers->count + 1;
	config->withheld = ARENA_ARRAY(arena, work->withheld_size, struct lifecycle_withheld);
	config->capabilities = ARENA_ARRAY(arena, count_capabilities(evaluations), struct str);
	if (config->withheld == NULL || config->capabilities == NULL)
		return -ENOMEM;
	json_array_foreach(evaluations, index, item) take_evaluation(work, item);
	for (size_t i = 0; i < servers->count; i++)
		if (servers->items[i].kind == STORE_SERVER_SPEC)
			withhold(work, "server", servers->items[i].mcp_id, "not_admitted",
				"no decision admits a live tool server");
	return arena->failed ? -ENOMEM : 0;
}

/* ---- reading it */

static int read_decision(struct configuring *work, struct store_tx *tx)
{
	CLEANUP(json_drop) json_t *result = NULL;
	struct store_decision decision = {0};
	struct store_server_list servers = {0};
	int r = call_store_result(store_decision_find(tx, work->config->run.decision, &decision));

	if (r == 0)
		r = call_store_result(store_server_list(tx, work->config->run.project, &servers));
	if (r == 0)
		r = json_parse(decision.result_json, &result, NULL);
	if (r != 0)
		return r == JSON_PARSE_NOT_JSON ? -EUCLEAN : r;
	return take_decision(work, json_object_get(result, "evaluations"), &servers);
}

/* What was granted was granted for one root. */
static int read_root(struct configuring *work, struct store_tx *tx)
{
	struct lifecycle_run_config *config = work->config;
	struct store_project project = {0};
	int r = call_store_result(store_project_find(tx, config->run.project, &project));

	if (r != 0 || config->capability_count == 0)
		return r;
	if (project.root_path.bytes != NULL && project.root_revision == config->run.root_revision) {
		config->root = project.root_path;
		return 0;
	}
	config->capability_count = 0;
	withhold(work, "server", STR("admitd"), "root_changed", "the project's root is not the one that was granted");
	return work->arena->failed ? -ENOMEM : 0;
}

int run_config_make(struct store_tx *tx, struct arena *arena, struct lifecycle_run_config *config)
{
	struct configuring work = {.arena = arena, .config = config};
	int r = read_decision(&work, tx);

	return r != 0 ? r : read_root(&work, tx);
}

static int run_config(struct store_tx *tx, void *arg)
{
	struct viewing *viewing = arg;
	struct lifecycle_call call = {.actor = viewing->reader->actor,
		.scope = viewing->reader->scope,
		.arena = viewing->reader->arena,
		.refusal = {.revision = -1}};
	int r = run_end_find(tx, &call, viewing->id, viewing->has_run_token, &viewing->config->run);

	if (r != 0)
		return r;
	if (viewing->config->run.outcome != STORE_RUN_LIVE) {
		r = run_end_refuse(&call, &viewing->config->run, LIFECYCLE_RUN_ENDED);
		viewing->config->refusal = call.refusal;
		return r;
	}
	return run_config_make(tx, viewing->reader->arena, viewing->config);
}

int lifecycle_view_run_config(
	const struct lifecycle_reader *reader, struct str run, bool has_run_token, struct lifecycle_run_config *ret)
{
	struct viewing viewing = {.reader = reader, .id = run, .has_run_token = has_run_token, .config = ret};
	int r = 0;

	ret->refusal = (struct lifecycle_refusal){.revision = -1};
	r = store_read(reader->lifecycle->store, reader->arena, run_config, &viewing);
	return r < 0 ? call_store_result(r) : r;
}
