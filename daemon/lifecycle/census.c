#include "daemon/lifecycle/census.h"

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/recovery.h"
#include "daemon/lifecycle/scope_json.h"

struct counting {
	const struct lifecycle_reader *reader;
	struct store_census_filter filter;
	struct str text;
	int64_t from, to, bucket_ms;
	size_t limit;
	void *ret;
};

static int count(struct counting *counting, int (*run)(struct store_tx *tx, void *arg))
{
	const struct lifecycle_reader *reader = counting->reader;
	int r = scope_json(reader->arena, &reader->scope, &counting->filter.projects_json);

	if (r == 0)
		r = store_read(reader->lifecycle->store, reader->arena, run, counting);
	return r < 0 ? call_store_result(r) : r;
}

static int run_census(struct store_tx *tx, void *arg)
{
	struct counting *counting = arg;
	struct lifecycle_census *census = counting->ret;
	struct store_queue_filter queue = {
		.projects_json = counting->filter.projects_json, .project = counting->filter.project};
	int r = store_census_holds(tx, &counting->filter, &census->holds);

	recovery_set_silence(counting->reader->lifecycle, census->now, &queue);
	if (r == 0)
		r = store_census_ages(tx, &counting->filter, census->now, census->ages);
	if (r == 0)
		r = store_census_runs(tx, &counting->filter, &census->runs_live);
	if (r == 0)
		r = store_queue_count(tx, &queue, &census->queue);
	return call_store_result(r);
}

int lifecycle_census_read(const struct lifecycle_reader *reader, struct str project, struct lifecycle_census *ret)
{
	*ret = (struct lifecycle_census){.now = lifecycle_now(reader->lifecycle)};
	return count(&(struct counting){.reader = reader, .filter.project = project, .ret = ret}, run_census);
}

static int run_decisions(struct store_tx *tx, void *arg)
{
	struct counting *counting = arg;

	return call_store_result(store_census_decisions(
		tx, &counting->filter, counting->from, counting->to, counting->bucket_ms, counting->ret));
}

int lifecycle_census_decisions(const struct lifecycle_reader *reader, struct str project, int64_t from, int64_t to,
	int64_t bucket_ms, struct store_census_decisions *ret)
{
	return count(&(struct counting){.reader = reader,
			     .filter.project = project,
			     .from = from,
			     .to = to,
			     .bucket_ms = bucket_ms,
			     .ret = ret},
		run_decisions);
}

static int run_find(struct store_tx *tx, void *arg)
{
	struct counting *counting = arg;

	return call_store_result(store_find(tx, &counting->filter, counting->text, counting->limit, counting->ret));
}

int lifecycle_find(const struct lifecycle_reader *reader, struct str project, struct str text, size_t limit,
	struct store_found_list *ret)
{
	return count(
		&(struct counting){
			.reader = reader, .filter.project = project, .text = text, .limit = limit, .ret = ret},
		run_find);
}
