#include "daemon/lifecycle/context.h"

#include <errno.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/context_request.h"
#include "daemon/lifecycle/run_end.h"
#include "daemon/lifecycle/time_text.h"
#include "policy/cleanup.h"
#include "policy/json_out.h"

enum { FACTS_CEILING = 256 * 1024 };

/* What is looked at in either call: the run, its package on the project as it is now, and the grants that it names. */
struct looking {
	struct world world;
	struct store_run run;
	struct subject subject;
	struct store_run_grant_list grants;
};

static void looking_close(struct looking *looking)
{
	world_close(&looking->world);
}

/* A package that was denied after the project's grant reads nothing by it (2.4, P2). */
static bool is_denied_since(const struct looking *looking)
{
	const struct precedence_record *package = &looking->subject.record;

	return package->decision == PRECEDENCE_DENIED &&
		package->root_revision == looking->world.project.root_revision &&
		package->revision > looking->world.record.revision;
}

static bool stands(
	const struct looking *looking, const struct store_run_grant *grant, const struct precedence_set *needs)
{
	int64_t root_revision = looking->world.project.root_revision;

	if (root_revision == 0 || root_revision != looking->run.root_revision)
		return false;
	if (grant->mode == STORE_GRANT_ALLOW_ONCE)
		return grant_precedence_is_usable(&looking->subject.record, needs, root_revision);
	return grant_precedence_is_usable(&looking->world.record, needs, root_revision) && !is_denied_since(looking);
}

static void want(struct packet_request *request, struct str capability)
{
	request->lists |= str_is(capability, "filesystem.project.list");
	request->searches |= str_is(capability, "filesystem.project.search");
	request->reads |= str_is(capability, "filesystem.project.read");
}

/* Adds what is needed to the scope, each capability once. */
static void add_needs(struct lifecycle_context_scope *scope, struct str *names, const struct precedence_set *needs)
{
	size_t i, k;

	for (i = 0; i < needs->count; i++) {
		for (k = 0; k < scope->capability_count && !str_equal(names[k], needs->items[i]->name);)
			k++;
		if (k < scope->capability_count)
			continue;
		names[scope->capability_count++] = needs->items[i]->name;
		want(&scope->request, needs->items[i]->name);
	}
}

/* What one grant of the run covers; GRANT_WITHDRAWN where it no longer stands. */
static int cover(struct looking *looking, const struct store_run_grant *grant, struct lifecycle_context_scope *scope,
	struct str *names)
{
	const struct package *package = looking->subject.package;

	for (size_t i = 0; i < package->requirement_count; i++) {
		struct precedence_set needs = {0};
		int r = 0;

		if (!str_equal(package->requirements[i].key, grant->requirement_key))
			continue;
		r = world_needs(&looking->world, &package->requirements[i], &needs);
		if (r != 0)
			return r;
		if (!stands(looking, grant, &needs))
			return LIFECYCLE_GRANT_WITHDRAWN;
		add_needs(scope, names, &needs);
	}
	return 0;
}

static int cover_all(struct looking *looking, struct lifecycle_context_scope *scope)
{
	struct str *names = ARENA_ARRAY(looking->world.arena, looking->world.catalog->capability_count + 1, struct str);
	int r = names != NULL ? 0 : -ENOMEM;

	packet_request_init(&scope->request);
	scope->capabilities = names;
	for (size_t i = 0; r == 0 && i < looking->grants.count; i++)
		r = cover(looking, &looking->grants.items[i], scope, names);
	return r == 0 && scope->capability_count == 0 ? LIFECYCLE_GRANT_WITHDRAWN : r;
}

/* The run is live and the caller's, and each of its grants stands: 0 and what they cover, but for what the document asks for. */
static int look(struct store_tx *tx, struct lifecycle_call *call, struct str run, bool has_run_token,
	struct looking *looking, struct lifecycle_context_scope *ret_scope)
{
	struct store_package *row = NULL;
	int r = run_end_find(tx, call, run, has_run_token, &looking->run);

	*ret_scope = (struct lifecycle_context_scope){0};
	if (r == 0 && looking->run.outcome != STORE_RUN_LIVE)
		return run_end_refuse(call, &looking->run, LIFECYCLE_RUN_ENDED);
	if (r == 0)
		r = world_open(tx, call, looking->run.project, &looking->world);
	if (r == 0) {
		row = ARENA_NEW(looking->world.arena, struct store_package);
		r = row != NULL ? call_store_result(store_package_find(tx, looking->run.package, row)) : -ENOMEM;
	}
	if (r == 0)
		r = subject_of_row(&looking->world, row, &looking->subject);
	if (r == 0)
		r = call_store_result(store_run_grant_list(tx, looking->run.id, &looking->grants));
	return r == 0 ? cover_all(looking, ret_scope) : r;
}

static int read_request(struct looking *looking, struct lifecycle_context_scope *scope)
{
	struct str document = {0};
	int r = call_store_result(
		store_document_find(looking->world.tx, looking->subject.row->document_digest, &document));

	if (r != 0)
		return r;
	return context_request_read(looking->world.arena, document, &scope->request, &scope->is_request_cut);
}

static int run_open(struct store_tx *tx, struct lifecycle_call *call)
{
	struct lifecycle_context *context = (struct lifecycle_context *)call;
	struct lifecycle_context_scope *scope = &context->scope;
	struct looking looking CLEANUP(looking_close) = {0};
	int r = look(tx, call, context->run, context->has_run_token, &looking, scope);

	if (r == 0)
		r = read_request(&looking, scope);
	if (r != 0)
		return r;
	scope->root_path = arena_str(looking.world.arena, looking.world.project.root_path);
	scope->root_ref = looking.world.project.root_ref;
	scope->root_device = looking.world.project.root_device;
	scope->root_inode = looking.world.project.root_inode;
	scope->root_revision = looking.world.project.root_revision;
	return scope->root_path.bytes != NULL ? 0 : -ENOMEM;
}

/* ---- the record */

static int64_t earlier_reads(struct str packet_json)
{
	CLEANUP(json_drop)
	json_t *facts = packet_json.bytes != NULL ? json_loadb(packet_json.bytes, packet_json.len, 0, NULL) : NULL;

	return json_integer_value(json_object_get(facts, "reads"));
}

static int write_facts(
	const struct looking *looking, const struct lifecycle_context_record *record, struct str *ret_json)
{
	struct buf buf CLEANUP(buf_release) = {0};
	struct json_out out;

	buf_init(&buf, FACTS_CEILING);
	json_out_init(&out, &buf);
	json_out_begin_object(&out);
	json_out_member_str(&out, "rootRef", record->scope->root_ref);
	json_out_key(&out, "capabilities");
	json_out_begin_array(&out);
	for (size_t i = 0; i < record->scope->capability_count; i++)
		json_out_str(&out, record->scope->capabilities[i]);
	json_out_end_array(&out);
	packet_facts_write(record->facts, &out);
	json_out_member_int(&out, "reads", earlier_reads(looking->run.packet_json) + 1);
	time_text_member(&out, "readAt", record->call.now);
	json_out_end_object(&out);
	if (buf_error(&buf) != 0)
		return buf_error(&buf);
	*ret_json = arena_str(looking->world.arena, buf_str(&buf));
	return ret_json->bytes != NULL ? 0 : -ENOMEM;
}

/* Whether all that was read is still covered. */
static bool is_within(const struct packet_request *was, const struct packet_request *is)
{
	return (!was->lists || is->lists) && (!was->searches || is->searches) && (!was->reads || is->reads);
}

static int run_record(struct store_tx *tx, struct lifecycle_call *call)
{
	struct lifecycle_context_record *record = (struct lifecycle_context_record *)call;
	struct looking looking CLEANUP(looking_close) = {0};
	struct lifecycle_context_scope scope;
	int r = look(tx, call, record->run, record->has_run_token, &looking, &scope);

	if (r == 0 &&
		(looking.world.project.root_revision != record->scope->root_revision ||
			!is_within(&record->scope->request, &scope.request)))
		return LIFECYCLE_GRANT_WITHDRAWN;
	if (r == 0)
		r = write_facts(&looking, record, &record->facts_json);
	return r == 0 ? call_store_result(store_run_set_packet(tx, looking.run.id, record->facts_json)) : r;
}

int lifecycle_open_context(struct lifecycle *lifecycle, struct lifecycle_context *call)
{
	return call_write(lifecycle, &call->call, run_open);
}

int lifecycle_record_context(struct lifecycle *lifecycle, struct lifecycle_context_record *call)
{
	return call_write(lifecycle, &call->call, run_record);
}
