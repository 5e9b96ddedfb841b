/* What freeing what waits would open, in words (chapter 7.2). */
#include <errno.h>

#include "daemon/lifecycle/recovery_make.h"

#define NOTHING "nothing now: something else holds it too"
static const struct lifecycle_opens_line nothing = {"square, x", "red", {NOTHING, sizeof(NOTHING) - 1}};

static bool has_id(const struct str *ids, size_t count, struct str id)
{
	for (size_t i = 0; i < count; i++)
		if (str_equal(ids[i], id))
			return true;
	return false;
}

static struct lifecycle_opens_line say_always(
	struct arena *arena, const struct store_package *row, const struct lifecycle_opens *opens)
{
	struct lifecycle_opens_line line = {"check", "green", STR("this package")};
	bool has_self = has_id(opens->always, opens->always_count, row->id);
	size_t others = opens->always_count - (has_self ? 1 : 0);
	const char *plural = others == 1 ? "" : "s";

	if (opens->always_count == 0)
		return nothing;
	if (has_self && others > 0)
		line.text = arena_printf(arena, "this and %zu more held package%s", others, plural);
	else if (others > 0)
		line.text = arena_printf(arena, "%zu other held package%s", others, plural);
	return line;
}

int recovery_say_opens(struct world *world, const struct store_package *row, struct lifecycle_opens *opens)
{
	struct str project = world->project.id;

	opens->once_lines[0] = nothing;
	if (opens->once_count > 0) {
		opens->once_lines[0] =
			(struct lifecycle_opens_line){"check", "green", STR("this package, for one attempt")};
		opens->once_lines[1] = (struct lifecycle_opens_line){.text = STR("Nothing besides")};
	}
	opens->always_lines[0] = say_always(world->arena, row, opens);
	opens->always_lines[1] = (struct lifecycle_opens_line){"loop", "amber",
		arena_printf(
			world->arena, "every later plan in %.*s, until its end date", (int)project.len, project.bytes)};
	return world->arena->failed ? -ENOMEM : 0;
}

int recovery_say_cause(struct world *world, enum action_id id, struct lifecycle_cause *cause)
{
	const char *all = cause->count == 2 ? "both" : "all";

	if (id == ACTION_APPROVE_ALWAYS)
		cause->does = arena_printf(world->arena, "opens all %zu, and later plans", cause->count);
	else
		cause->does = arena_printf(world->arena, "may free %s", all);
	return cause->does.bytes != NULL ? 0 : -ENOMEM;
}
