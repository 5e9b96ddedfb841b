#include "daemon/lifecycle/self_approval.h"

#include <errno.h>

#include "daemon/lifecycle/call.h"

static int add_asked(struct world *world, const struct store_package *row, const struct catalog_capability **items,
	struct precedence_set *set)
{
	struct subject subject = {0};
	int r = subject_of_row(world, row, &subject);

	for (size_t i = 0; r == 0 && i < subject.asked_count; i++)
		if (!precedence_set_has(set, subject.asked[i]))
			items[set->count++] = subject.asked[i];
	return r;
}

static int read_own(struct world *world)
{
	const struct catalog_capability **items =
		arena_array(world->arena, world->catalog->capability_count, sizeof(struct catalog_capability *));
	struct store_package_list packages = {0};
	int r = items == NULL ? -ENOMEM
			      : call_store_result(store_package_list_of_contributor(
					world->tx, world->project.id, world->call->actor.principal, &packages));

	world->own_reads = (struct precedence_set){items, 0};
	for (size_t i = 0; r == 0 && i < packages.count; i++)
		r = add_asked(world, &packages.items[i], items, &world->own_reads);
	return r;
}

int self_approval_reads(struct world *world, struct precedence_set *ret)
{
	int r = 0;

	if (!world->has_own_reads && !world->lifecycle->allow_self_approval &&
		world->call->actor.principal.bytes != NULL)
		r = read_own(world);
	world->has_own_reads = r == 0;
	*ret = world->own_reads;
	return r;
}
