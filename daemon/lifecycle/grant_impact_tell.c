/* A rehearsal in words: what a decision would do, line by line. */
#include <ctype.h>
#include <errno.h>

#include "daemon/lifecycle/call.h"
#include "daemon/lifecycle/grant_impact.h"

enum { LINES = 50 };

static const struct {
	const char *name;
	const char *sign; /* NULL: that of the state in which the package is then */
	const char *tone;
} effects[LIFECYCLE_EFFECT_COUNT] = {
	[LIFECYCLE_EFFECT_STARTS] = {"starts", "check", "green"},
	[LIFECYCLE_EFFECT_PLAN] = {"plan", "diamond", "neutral"},
	[LIFECYCLE_EFFECT_HOLDS] = {"holds", NULL, NULL},
	[LIFECYCLE_EFFECT_STAYS] = {"stays", NULL, NULL},
	[LIFECYCLE_EFFECT_OVERRIDES] = {"overrides", "disc, slash", "amber"},
	[LIFECYCLE_EFFECT_KEEPS] = {"keeps", "play", "slate"},
	[LIFECYCLE_EFFECT_MORE] = {"more", "lines", "neutral"},
};

const char *lifecycle_effect_name(enum lifecycle_effect effect)
{
	CHECK(effect < LIFECYCLE_EFFECT_COUNT);
	return effects[effect].name;
}

struct telling {
	struct world *world;
	struct lifecycle_impact_line *lines; /* one more than are shown, for what is cut */
	size_t count;
	size_t left_out;
	size_t per_effect[LIFECYCLE_EFFECT_COUNT]; /* packages */
};

/* The line that a package goes into: that of its plan, if it isn't approved and the same happens to it for the same reason; else one of
 * its own; NULL: there is no room. */
static struct lifecycle_impact_line *line_for(
	struct telling *telling, enum lifecycle_effect effect, const struct reconcile_item *item)
{
	struct lifecycle_impact_line *line = NULL;

	telling->per_effect[effect]++;
	for (size_t i = 0; item->task_status == STORE_TASK_PROPOSED && i < telling->count; i++) {
		line = &telling->lines[i];
		if (line->effect == effect && str_equal(line->task, item->task) &&
			(!line->has_state || str_equal(line->state.words.headline, item->state.words.headline)))
			return line;
	}
	if (telling->count == LINES) {
		telling->left_out++;
		return NULL;
	}
	line = &telling->lines[telling->count++];
	*line = (struct lifecycle_impact_line){
		.effect = effect,
		.sign = effects[effect].sign,
		.tone = effects[effect].tone,
		.task = item->task,
		.has_state = item->is_held,
		.state = item->state,
	};
	if (line->sign == NULL && line->has_state) {
		line->sign = item->state.words.sign;
		line->tone = operator_key_tone(item->state.key);
	}
	return line;
}

static int add(struct telling *telling, enum lifecycle_effect effect, const struct reconcile_item *item)
{
	struct lifecycle_impact_line *line = line_for(telling, effect, item);
	size_t count = line != NULL ? line->package_count : 0;

	if (line == NULL)
		return 0;
	if ((count & (count - 1)) == 0) { /* full: room doubles */
		struct lifecycle_named *all =
			ARENA_ARRAY(telling->world->arena, count > 0 ? 2 * count : 1, struct lifecycle_named);

		if (all == NULL)
			return -ENOMEM;
		for (size_t i = 0; i < count; i++)
			all[i] = line->packages[i];
		line->packages = all;
	}
	line->packages[line->package_count++] = (struct lifecycle_named){item->package, item->label};
	return 0;
}

static bool effect_of(const struct reconcile_item *item, enum lifecycle_effect *ret)
{
	*ret = item->task_status == STORE_TASK_PROPOSED ? LIFECYCLE_EFFECT_PLAN : LIFECYCLE_EFFECT_STARTS;
	if (item->change == RECONCILE_OPENED)
		*ret = LIFECYCLE_EFFECT_HOLDS;
	else if (item->change != RECONCILE_CLEARED)
		*ret = LIFECYCLE_EFFECT_STAYS;
	return item->change == RECONCILE_CLEARED || item->is_held;
}

/* ---- what happens, in words */

/* The reason behind a colon; a server's name keeps its capital. */
static struct str reason_of(struct world *world, const struct lifecycle_state *state)
{
	struct str headline = state->words.headline;
	bool is_name = state->key == OPERATOR_MCP_NEEDS_SETUP || headline.len == 0;

	return is_name ? headline
		       : arena_printf(world->arena, "%c%.*s", tolower((unsigned char)headline.bytes[0]),
				 (int)headline.len - 1, headline.bytes + 1);
}

static int say_held(struct world *world, struct lifecycle_impact_line *line)
{
	struct str reason = reason_of(world, &line->state);
	bool is_plan = line->title.bytes != NULL;
	bool is_one = line->package_count == 1;
	const char *verb = "will be held";

	if (line->effect == LIFECYCLE_EFFECT_STAYS)
		verb = is_plan ? (is_one ? "stays blocked" : "stay blocked") : "stays held";
	else if (is_plan)
		verb = is_one ? "stops its approval" : "stop its approval";
	line->does = arena_printf(world->arena, "%s: %.*s", verb, (int)reason.len, reason.bytes);
	return reason.bytes != NULL && line->does.bytes != NULL ? 0 : -ENOMEM;
}

static int say_plan(struct world *world, struct lifecycle_impact_line *line)
{
	bool is_freed = false;
	int r = grant_impact_frees(world, line->task, &is_freed);

	line->does = is_freed              ? STR("nothing stops its approval any more")
		: line->package_count == 1 ? STR("no longer stops its approval")
					   : STR("no longer stop its approval");
	return r;
}

static int name_subject(
	struct world *world, struct lifecycle_impact_line *line, const struct lifecycle_impact_line *before)
{
	const char *plural = line->package_count == 1 ? "" : "s";

	if (line->title.bytes == NULL)
		line->text = line->packages[0].label;
	else if (before != NULL && before->title.bytes != NULL && str_equal(before->task, line->task))
		line->text = arena_printf(world->arena, "%zu package%s of the same plan", line->package_count, plural);
	else
		line->text = arena_printf(world->arena, "%zu package%s of plan %.*s", line->package_count, plural,
			(int)line->title.len, line->title.bytes);
	return line->text.bytes != NULL ? 0 : -ENOMEM;
}

/* `item`: the first package of the line. */
static int say_line(struct world *world, struct lifecycle_impact_line *line, const struct lifecycle_impact_line *before,
	const struct reconcile_item *item)
{
	struct store_task task = {0};
	int r = 0;

	if (item->task_status == STORE_TASK_PROPOSED) {
		r = call_store_result(store_task_find(world->tx, line->task, &task));
		line->title = task.title;
	}
	if (r == 0)
		r = name_subject(world, line, before);
	if (r != 0)
		return r;
	if (line->has_state)
		return say_held(world, line);
	if (line->effect == LIFECYCLE_EFFECT_PLAN)
		return say_plan(world, line);
	line->does =
		item->status == PACKAGE_PENDING ? STR("can start when what it waits for is done") : STR("can start");
	return 0;
}

static const struct reconcile_item *find_item(const struct reconcile_effect *effect, struct str package)
{
	const struct reconcile_item *item = effect->first;

	while (!str_equal(item->package, package))
		item = item->next;
	return item;
}

static int tell_effects(struct telling *telling, const struct reconcile_effect *effect)
{
	int r = 0;

	for (unsigned wanted = 0; r == 0 && wanted <= LIFECYCLE_EFFECT_STAYS; wanted++)
		for (const struct reconcile_item *item = effect->first; r == 0 && item != NULL; item = item->next) {
			enum lifecycle_effect found = LIFECYCLE_EFFECT_STARTS;

			if (effect_of(item, &found) && found == wanted)
				r = add(telling, found, item);
		}
	for (size_t i = 0; r == 0 && i < telling->count; i++)
		r = say_line(telling->world, &telling->lines[i], i > 0 ? &telling->lines[i - 1] : NULL,
			find_item(effect, telling->lines[i].packages[0].id));
	return r;
}

/* ---- beside what was judged */

static int add_named(
	struct telling *telling, enum lifecycle_effect effect, const struct lifecycle_named *named, struct str does)
{
	const struct reconcile_item item = {
		.package = named->id, .label = named->label, .task_status = STORE_TASK_APPROVED};
	size_t before = telling->count;
	int r = add(telling, effect, &item);

	if (r == 0 && telling->count > before) {
		telling->lines[before].text = named->label;
		telling->lines[before].does = does;
	}
	return r;
}

/* Whether it was let in by what is taken away now: by the project's access, or by this package's approval. */
static int runs_by(struct world *world, const struct store_run *run, struct str package, bool *ret)
{
	enum store_grant_mode mode = package.bytes != NULL ? STORE_GRANT_ALLOW_ONCE : STORE_GRANT_ALWAYS_ALLOW;
	struct store_run_grant_list grants = {0};
	int r = 0;

	*ret = false;
	if (!run->has_grants || (package.bytes != NULL && !str_equal(package, run->package)))
		return 0;
	r = call_store_result(store_run_grant_list(world->tx, run->id, &grants));
	for (size_t i = 0; r == 0 && i < grants.count; i++)
		*ret = *ret || grants.items[i].mode == mode;
	return r;
}

static int tell_running(struct telling *telling, const struct lifecycle_grant *grant)
{
	struct world *world = telling->world;
	struct store_run_list runs = {0};
	int r = call_store_result(store_run_list_live(world->tx, world->project.id, &runs));

	for (size_t i = 0; r == 0 && i < runs.count; i++) {
		struct store_package row = {0};
		bool keeps = false;

		r = runs_by(world, &runs.items[i], grant->package, &keeps);
		if (r == 0 && keeps)
			r = call_store_result(store_package_find(world->tx, runs.items[i].package, &row));
		if (r == 0 && keeps)
			r = add_named(telling, LIFECYCLE_EFFECT_KEEPS, &(struct lifecycle_named){row.id, row.label},
				STR("keeps what it has while it runs"));
	}
	return r;
}

/* The last line says how many have none. */
static int tell_cut(struct telling *telling)
{
	struct lifecycle_impact_line *last = &telling->lines[LINES - 1];

	if (telling->left_out == 0)
		return 0;
	telling->left_out += last->package_count;
	*last = (struct lifecycle_impact_line){
		.effect = LIFECYCLE_EFFECT_MORE,
		.sign = effects[LIFECYCLE_EFFECT_MORE].sign,
		.tone = effects[LIFECYCLE_EFFECT_MORE].tone,
		.text = arena_printf(telling->world->arena, "%zu more", telling->left_out),
		.does = STR(""),
	};
	return last->text.bytes != NULL ? 0 : -ENOMEM;
}

/* ---- what it comes to */

/* Its count, that a button says too; what starts at once comes before what a plan waits for. */
static int sum_up(struct telling *telling, bool is_refusal, struct lifecycle_impact *impact)
{
	struct arena *arena = telling->world->arena;
	const size_t *count = telling->per_effect;
	size_t starts = count[LIFECYCLE_EFFECT_STARTS];
	size_t opens = starts > 0 ? starts : count[LIFECYCLE_EFFECT_PLAN];
	size_t holds = count[LIFECYCLE_EFFECT_HOLDS] + (is_refusal ? count[LIFECYCLE_EFFECT_STAYS] : 0);
	size_t keeps = count[LIFECYCLE_EFFECT_KEEPS];
	struct str first = is_refusal ? STR("Holds nothing now") : STR("Opens nothing now");

	if (opens > 0)
		first = arena_printf(arena, "Opens %zu held package%s now", opens, opens == 1 ? "" : "s");
	else if (holds > 0)
		first = arena_printf(arena, "Holds %zu package%s", holds, holds == 1 ? "" : "s");
	impact->headline = first;
	if (opens > 0 && holds > 0)
		impact->headline = arena_printf(arena, "%.*s; holds %zu", (int)first.len, first.bytes, holds);
	else if (keeps > 0)
		impact->headline = arena_printf(arena, "%.*s; %zu running %s", (int)first.len, first.bytes, keeps,
			keeps == 1 ? "keeps what it has" : "keep what they have");
	if (opens + holds > 0)
		impact->brief = arena_printf(arena, "%s %zu", opens > 0 ? "opens" : "holds", opens > 0 ? opens : holds);
	return arena->failed ? -ENOMEM : 0;
}

int grant_impact_tell(struct world *world, const struct reconcile_effect *effect,
	const struct lifecycle_named *overrides, struct lifecycle_grant *grant)
{
	struct telling telling = {
		.world = world, .lines = ARENA_ARRAY(world->arena, LINES, struct lifecycle_impact_line)};
	bool is_refusal = grant->decision != STORE_GRANT_APPROVED;
	int r = telling.lines != NULL ? tell_effects(&telling, effect) : -ENOMEM;

	for (size_t i = 0; r == 0 && i < grant->impact.override_count; i++)
		r = add_named(&telling, LIFECYCLE_EFFECT_OVERRIDES, &overrides[i], STR("its denial is overridden"));
	if (r == 0 && (is_refusal || grant->replace))
		r = tell_running(&telling, grant);
	if (r == 0)
		r = tell_cut(&telling);
	if (r == 0)
		r = sum_up(&telling, is_refusal, &grant->impact);
	grant->impact.lines = telling.lines;
	grant->impact.line_count = telling.count;
	return r;
}
