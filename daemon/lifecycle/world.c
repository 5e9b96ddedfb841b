#include "daemon/lifecycle/world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/lifecycle/met.h"
#include "policy/cleanup.h"

int world_read_set(struct world *world, struct str json, struct precedence_set *ret)
{
	CLEANUP(json_drop)
	json_t *array = json.bytes != NULL ? json_loadb(json.bytes, json.len, 0, NULL) : json_array();
	const struct catalog_capability **items = NULL;
	size_t index = 0;
	json_t *item = NULL;

	*ret = (struct precedence_set){0};
	if (!json_is_array(array))
		return json.bytes != NULL ? -EUCLEAN : -ENOMEM;
	items = arena_array(world->arena, json_array_size(array), sizeof(struct catalog_capability *));
	if (items == NULL)
		return -ENOMEM;
	json_array_foreach(array, index, item)
	{
		struct str name = {json_string_value(item), json_string_length(item)};
		const struct catalog_mcp *mcp = name.bytes != NULL ? capability_owner(world->catalog, name) : NULL;
		const struct catalog_capability *known = mcp != NULL ? catalog_find_capability(mcp, name) : NULL;

		if (known != NULL && known->class == CLASS_BOUNDED_READ_ONLY &&
			capability_delivery(mcp) == DELIVERY_BOUNDED_CONTEXT_PACKET)
			items[ret->count++] = known;
	}
	ret->items = items;
	return 0;
}

static int read_record(struct world *world, const struct store_grant *grant, struct precedence_record *ret)
{
	static const enum precedence_decision decisions[STORE_GRANT_DECISION_COUNT] = {
		[STORE_GRANT_DENIED] = PRECEDENCE_DENIED,
		[STORE_GRANT_REVOKED] = PRECEDENCE_REVOKED,
		[STORE_GRANT_APPROVED] = PRECEDENCE_APPROVED,
	};
	int r = 0;

	*ret = (struct precedence_record){
		.decision = decisions[grant->decision],
		.is_expired = grant->expired,
		.revision = grant->revision,
		.root_revision = grant->root_revision,
		.id = grant->id,
	};
	r = world_read_set(world, grant->capabilities_json, &ret->capabilities);
	return r != 0 ? r : world_read_set(world, grant->dropped_json, &ret->dropped);
}

static int read_project_grant(struct world *world)
{
	int r = store_grant_latest_of_project(world->tx, world->project.id, &world->grant);

	world->record = (struct precedence_record){0};
	world->has_grant = r == 0;
	if (r != 0)
		return r == STORE_ABSENT ? 0 : call_store_result(r);
	return read_record(world, &world->grant, &world->record);
}

int world_reread(struct world *world)
{
	int r = store_project_find(world->tx, world->project.id, &world->project);

	if (r != 0)
		return r == STORE_ABSENT ? LIFECYCLE_NOT_FOUND : call_store_result(r);
	world->has_root = world->project.root_revision > 0 && world->project.root_path.bytes != NULL;
	world->has_package_grants = false;
	world->has_own_reads = false;
	world->own_reads = (struct precedence_set){0};
	r = read_project_grant(world);
	if (r == 0)
		r = call_store_result(store_health_list(world->tx, world->project.id, &world->health));
	if (r == 0)
		r = call_store_result(store_server_list(world->tx, world->project.id, &world->servers));
	return r;
}

const struct store_server *world_server(const struct world *world, struct str mcp_id)
{
	for (size_t i = 0; i < world->servers.count; i++)
		if (str_equal(world->servers.items[i].mcp_id, mcp_id))
			return &world->servers.items[i];
	return NULL;
}

int world_open(struct store_tx *tx, struct lifecycle_call *call, struct str project, struct world *ret)
{
	int r = 0;

	*ret = (struct world){
		.lifecycle = call->lifecycle,
		.call = call,
		.tx = tx,
		.arena = store_tx_arena(tx),
		.catalog = lifecycle_catalog(call->lifecycle, store_tx_arena(tx)),
		.project = {.id = project},
	};
	if (ret->catalog == NULL)
		return -ENOMEM;
	/* Only an operation has tries; what looks, and what writes time down, comes with a call that isn't run. */
	r = call->run != NULL ? met_enter(tx, call, project) : 0;
	return r != 0 ? r : world_reread(ret);
}

int world_read_grants(struct world *world)
{
	int r = call_store_result(store_grant_latest_of_packages(world->tx, world->project.id, &world->package_grants));

	world->has_package_grants = r == 0;
	return r;
}

void world_close(struct world *world)
{
	for (struct world_holder *holder = world->holders; holder != NULL; holder = holder->next)
		package_cache_give(world->lifecycle->cache, holder->taken);
	world->holders = NULL;
}

/* ---- subjects */

struct document_source {
	struct store_tx *tx;
	struct str digest;
	const json_t *parsed; /* of a plan; NULL: the store has it */
};

static int load_document(void *arg, json_t **ret_document)
{
	const struct document_source *source = arg;
	struct str bytes = {0};
	int r = 0;

	if (source->parsed != NULL) {
		*ret_document = json_incref((json_t *)(uintptr_t)source->parsed);
		return 0;
	}
	r = store_document_find(source->tx, source->digest, &bytes);
	if (r != 0)
		return call_store_result(r);
	*ret_document = json_loadb(bytes.bytes, bytes.len, JSON_ALLOW_NUL, NULL);
	return *ret_document != NULL ? 0 : -EUCLEAN;
}

/* Takes the compiled package and keeps it until the world is closed. */
static int take_package(
	struct world *world, struct str digest, const json_t *parsed, const struct package **ret_package)
{
	struct document_source source = {.tx = world->tx, .digest = digest, .parsed = parsed};
	struct world_holder *holder = ARENA_NEW(world->arena, struct world_holder);
	int r = holder != NULL ? package_cache_take(world->lifecycle->cache, world->catalog, digest, load_document,
					 &source, &holder->taken)
			       : -ENOMEM;

	if (r != 0)
		return r;
	holder->next = world->holders;
	world->holders = holder;
	*ret_package = package_cache_get(holder->taken);
	return 0;
}

int world_needs(struct world *world, const struct requirement *requirement, struct precedence_set *ret)
{
	const struct catalog_capability **items =
		arena_array(world->arena, requirement->capability_count, sizeof(struct catalog_capability *));

	*ret = (struct precedence_set){0};
	if (items == NULL)
		return -ENOMEM;
	ret->items = items;
	for (size_t i = 0; i < requirement->capability_count; i++) {
		const struct capability *capability = &requirement->capabilities[i];

		if (capability->class == CLASS_BOUNDED_READ_ONLY && !precedence_set_has(ret, capability->known))
			items[ret->count++] = capability->known;
	}
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct catalog_capability *const *first = a;
	const struct catalog_capability *const *second = b;

	return str_compare((*first)->name, (*second)->name);
}

/* What the package asks to read, over all its requirements. */
static int collect_asked(struct world *world, struct subject *subject)
{
	const struct package *package = subject->package;
	struct precedence_set asked = {0};

	subject->asked =
		arena_array(world->arena, world->catalog->capability_count, sizeof(struct catalog_capability *));
	if (subject->asked == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < package->requirement_count; i++) {
		struct precedence_set needs = {0};
		int r = requirement_needs_grant(&package->requirements[i])
			? world_needs(world, &package->requirements[i], &needs)
			: 0;

		if (r != 0)
			return r;
		for (size_t k = 0; k < needs.count; k++) {
			asked = (struct precedence_set){subject->asked, subject->asked_count};
			if (!precedence_set_has(&asked, needs.items[k]))
				subject->asked[subject->asked_count++] = needs.items[k];
		}
	}
	if (subject->asked_count > 1)
		qsort(subject->asked, subject->asked_count, sizeof(struct catalog_capability *), compare_names);
	return 0;
}

static int find_package_grant(struct world *world, struct str package, struct store_grant *ret)
{
	size_t low = 0;
	size_t high = world->package_grants.count;

	if (!world->has_package_grants)
		return store_grant_latest_of_package(world->tx, package, ret);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = str_compare(world->package_grants.items[middle].package, package);

		if (order == 0) {
			*ret = world->package_grants.items[middle];
			return 0;
		}
		*(order < 0 ? &low : &high) = order < 0 ? middle + 1 : middle;
	}
	return STORE_ABSENT;
}

static int read_package_grant(struct world *world, struct subject *subject)
{
	int r = find_package_grant(world, subject->row->id, &subject->grant);

	subject->has_grant = r == 0;
	if (r != 0)
		return r == STORE_ABSENT ? 0 : call_store_result(r);
	subject->is_consumed = subject->grant.used_by.bytes != NULL;
	return read_record(world, &subject->grant, &subject->record);
}

static int read_prompt(struct world *world, struct subject *subject)
{
	struct store_overlay_list list = {0};
	int r = store_overlay_list(world->tx, subject->row->id, false, &list);

	if (r != 0)
		return call_store_result(r);
	subject->prompt = ARENA_ARRAY(world->arena, list.count, struct str);
	if (subject->prompt == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < list.count; i++)
		subject->prompt[i] = list.items[i].requirement_key;
	subject->prompt_count = list.count;
	return 0;
}

int subject_of_row(struct world *world, const struct store_package *row, struct subject *ret)
{
	int r = 0;

	*ret = (struct subject){.row = row, .label = row->label, .agent = row->agent};
	r = take_package(world, row->document_digest, NULL, &ret->package);
	if (r == 0)
		r = collect_asked(world, ret);
	if (r == 0)
		r = read_package_grant(world, ret);
	if (r == 0)
		r = read_prompt(world, ret);
	return r;
}

int subject_of_plan(struct world *world, const struct plan_package *plan, struct subject *ret)
{
	int r = 0;

	*ret = (struct subject){.plan = plan, .label = plan->label, .agent = plan->agent};
	r = take_package(world, plan->document_digest, plan->document, &ret->package);
	if (r == 0)
		r = collect_asked(world, ret);
	ret->prompt = ARENA_ARRAY(world->arena, plan->overlay_count, struct str);
	if (r == 0 && ret->prompt == NULL)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < plan->overlay_count; i++)
		ret->prompt[ret->prompt_count++] = plan->overlays[i].requirement_key;
	return r;
}
