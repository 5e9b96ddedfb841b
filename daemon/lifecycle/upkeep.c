#include "daemon/lifecycle/upkeep.h"

static const char *const names[UPKEEP_COUNT] = {
	[UPKEEP_DUE] = "writing down what time did",
	[UPKEEP_LEASES] = "ending the runs whose lease is over",
	[UPKEEP_REJUDGE] = "judging the packages by the new catalog",
	[UPKEEP_RECHECK] = "asking the tool servers that packages wait for",
};

int upkeep_note(struct lifecycle *lifecycle, enum upkeep upkeep, int result)
{
	bool was_failing = lifecycle->is_failing[upkeep];

	lifecycle->is_failing[upkeep] = result != 0;
	if (lifecycle->tell != NULL && was_failing != (result != 0))
		lifecycle->tell(lifecycle->tell_arg, names[upkeep], result);
	return result;
}
