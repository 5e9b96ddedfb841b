#include "daemon/lifecycle/upkeep.h"

#include <string.h>

enum { AGAIN_MS = 1000, DOUBLINGS = 6 };

_Static_assert((int)UPKEEP_COUNT == (int)LIFECYCLE_UPKEEPS, "every kind can be read");

static const struct lifecycle_upkeep kinds[UPKEEP_COUNT] = {
	[UPKEEP_DUE] = {.name = "due", .what = "writing down what time did"},
	[UPKEEP_LEASES] = {.name = "leases", .what = "ending the runs whose lease is over"},
	[UPKEEP_REJUDGE] = {.name = "rejudge", .what = "judging the packages by the new catalog"},
	[UPKEEP_RECHECK] = {.name = "recheck", .what = "asking the tool servers that packages wait for"},
};

void upkeep_init(struct lifecycle *lifecycle)
{
	pthread_mutex_init(&lifecycle->upkeep.lock, NULL);
	memcpy(lifecycle->upkeep.turns, kinds, sizeof(kinds));
	memcpy(lifecycle->upkeep.facts, kinds, sizeof(kinds));
}

void upkeep_release(struct lifecycle *lifecycle)
{
	pthread_mutex_destroy(&lifecycle->upkeep.lock);
}

void upkeep_begin(struct lifecycle *lifecycle, enum upkeep upkeep)
{
	pthread_mutex_lock(&lifecycle->upkeep.lock);
	lifecycle->upkeep.turns[upkeep] = kinds[upkeep];
	pthread_mutex_unlock(&lifecycle->upkeep.lock);
}

void upkeep_fault(struct lifecycle *lifecycle, enum upkeep upkeep, struct str project, int result)
{
	struct lifecycle_upkeep *turn = &lifecycle->upkeep.turns[upkeep];
	size_t len = project.len < sizeof(turn->project) ? project.len : sizeof(turn->project) - 1;

	pthread_mutex_lock(&lifecycle->upkeep.lock);
	if (turn->project_count++ == 0) {
		turn->result = result;
		memcpy(turn->project, project.bytes, len);
		turn->project[len] = '\0';
	}
	pthread_mutex_unlock(&lifecycle->upkeep.lock);
}

static bool is_same(const struct lifecycle_upkeep *a, const struct lifecycle_upkeep *b)
{
	return (a->result != 0) == (b->result != 0) && a->project_count == b->project_count &&
		strcmp(a->project, b->project) == 0;
}

int upkeep_end(struct lifecycle *lifecycle, enum upkeep upkeep, int result)
{
	struct lifecycle_upkeep *fact = &lifecycle->upkeep.facts[upkeep];
	struct lifecycle_upkeep turn;
	bool is_news = false;

	pthread_mutex_lock(&lifecycle->upkeep.lock);
	turn = lifecycle->upkeep.turns[upkeep];
	if (result > 0 || turn.project_count == 0) {
		turn = kinds[upkeep];
		turn.result = result;
	}
	if (turn.result != 0)
		turn.since = fact->result != 0 ? fact->since : lifecycle_now(lifecycle);
	is_news = !is_same(&turn, fact);
	*fact = turn;
	pthread_mutex_unlock(&lifecycle->upkeep.lock);
	if (is_news && lifecycle->tell != NULL)
		lifecycle->tell(lifecycle->tell_arg, &turn);
	return turn.result;
}

int64_t upkeep_again_ms(int result, unsigned failures)
{
	if (result > 0 || failures == 0)
		return AGAIN_MS;
	return (int64_t)AGAIN_MS << (failures - 1 < DOUBLINGS ? failures - 1 : DOUBLINGS);
}

void lifecycle_upkeep_read(struct lifecycle *lifecycle, struct lifecycle_upkeep ret[LIFECYCLE_UPKEEPS])
{
	pthread_mutex_lock(&lifecycle->upkeep.lock);
	memcpy(ret, lifecycle->upkeep.facts, sizeof(lifecycle->upkeep.facts));
	pthread_mutex_unlock(&lifecycle->upkeep.lock);
}
