#include "daemon/lifecycle/package_status.h"

#include "policy/check.h"

static enum package_status end_status(enum store_package_end end)
{
	static const enum package_status statuses[STORE_PACKAGE_END_COUNT] = {
		[STORE_PACKAGE_COMPLETED] = PACKAGE_COMPLETED,
		[STORE_PACKAGE_FAILED] = PACKAGE_FAILED,
		[STORE_PACKAGE_CANCELLED] = PACKAGE_CANCELLED,
		[STORE_PACKAGE_SUPERSEDED] = PACKAGE_SUPERSEDED,
	};

	return statuses[end];
}

/* Before its task was approved a package is a draft, whatever is known of it. */
static bool is_draft(enum store_task_status task)
{
	return task == STORE_TASK_PROPOSED || task == STORE_TASK_REJECTED || task == STORE_TASK_CHANGES_REQUESTED;
}

enum package_status package_status(const struct package_facts *facts)
{
	if (facts->end != STORE_PACKAGE_UNFINISHED)
		return end_status(facts->end);
	if (is_draft(facts->task))
		return PACKAGE_DRAFT;
	if (facts->is_running)
		return PACKAGE_RUNNING;
	if (facts->is_held)
		return PACKAGE_BLOCKED;
	return facts->waits ? PACKAGE_PENDING : PACKAGE_READY;
}

enum package_status package_status_of(const struct store_package *row)
{
	return package_status(&(struct package_facts){
		.end = row->end,
		.task = row->task_status,
		.is_running = row->live_run.bytes != NULL,
		.is_held = row->hold_json.bytes != NULL,
		.waits = row->open_dependencies > 0,
	});
}

const char *package_status_name(enum package_status status)
{
	static const char *const names[PACKAGE_STATUS_COUNT] = {
		[PACKAGE_BLOCKED] = "blocked",
		[PACKAGE_DRAFT] = "draft",
		[PACKAGE_PENDING] = "pending",
		[PACKAGE_READY] = "ready",
		[PACKAGE_RUNNING] = "running",
		[PACKAGE_COMPLETED] = "completed",
		[PACKAGE_FAILED] = "failed",
		[PACKAGE_CANCELLED] = "cancelled",
		[PACKAGE_SUPERSEDED] = "superseded",
	};

	return names[status];
}

static bool is_unfinished(enum package_status status)
{
	return status == PACKAGE_BLOCKED || status == PACKAGE_DRAFT || status == PACKAGE_PENDING ||
		status == PACKAGE_READY || status == PACKAGE_RUNNING;
}

static bool depends_on_failed(const struct task_member *member, const bool *is_doomed)
{
	for (size_t i = 0; i < member->depends_on_count; i++)
		if (is_doomed[member->depends_on[i]])
			return true;
	return false;
}

/* Marks what failed and, until nothing is added, what depends on it, through what was completed before a rework too. */
static void mark_doomed(const struct task_member *members, size_t count, bool *is_doomed)
{
	bool was_added = true;

	for (size_t i = 0; i < count; i++)
		is_doomed[i] = members[i].status == PACKAGE_FAILED;
	while (was_added) {
		was_added = false;
		for (size_t i = 0; i < count; i++) {
			if (is_doomed[i] || !depends_on_failed(&members[i], is_doomed))
				continue;
			is_doomed[i] = true;
			was_added = true;
		}
	}
}

struct tally {
	size_t completed, failed, running, unfinished;
};

static struct tally tally_of(const struct task_member *members, size_t count)
{
	struct tally tally = {0};

	for (size_t i = 0; i < count; i++) {
		tally.completed += members[i].status == PACKAGE_COMPLETED;
		tally.failed += members[i].status == PACKAGE_FAILED;
		tally.running += members[i].status == PACKAGE_RUNNING;
		tally.unfinished += is_unfinished(members[i].status);
	}
	return tally;
}

enum store_task_status package_status_of_task(const struct task_member *members, size_t count, bool *scratch)
{
	struct tally tally = tally_of(members, count);

	if (tally.unfinished == 0 && tally.failed == 0)
		return tally.completed > 0 ? STORE_TASK_COMPLETED : STORE_TASK_CANCELLED;
	if (tally.failed == 0 || tally.running > 0)
		return STORE_TASK_APPROVED;
	mark_doomed(members, count, scratch);
	for (size_t i = 0; i < count; i++)
		if (is_unfinished(members[i].status) && !scratch[i])
			return STORE_TASK_APPROVED;
	return STORE_TASK_FAILED;
}

const char *package_status_run_outcome(enum store_run_outcome outcome)
{
	static const char *const names[STORE_RUN_OUTCOME_COUNT] = {
		[STORE_RUN_LIVE] = "live",
		[STORE_RUN_SUCCEEDED] = "succeeded",
		[STORE_RUN_FAILED] = "failed",
		[STORE_RUN_RELEASED] = "released",
		[STORE_RUN_EXPIRED] = "expired",
		[STORE_RUN_CANCELLED] = "cancelled",
	};

	return names[outcome];
}
