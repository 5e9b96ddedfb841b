#include "daemon/lifecycle/liveness.h"

#include <errno.h>
#include <string.h>

#include "daemon/lifecycle/time_text.h"
#include "policy/trace.h"

/* Where the row is, or would be. */
static size_t find_row(const struct liveness *liveness, struct str capability)
{
	size_t low = 0;
	size_t high = liveness->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (str_compare(liveness->rows[middle].capability, capability) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* NULL: no memory; or there are so many that this one isn't counted. */
static struct liveness_row *take_row(struct liveness *liveness, struct arena *arena, struct str capability)
{
	size_t at = find_row(liveness, capability);
	struct str name;

	if (at < liveness->count && str_equal(liveness->rows[at].capability, capability))
		return &liveness->rows[at];
	if (liveness->rows == NULL)
		liveness->rows = ARENA_ARRAY(arena, LIVENESS_MOST, struct liveness_row);
	name = arena_str(arena, capability);
	if (liveness->rows == NULL || name.bytes == NULL || liveness->count == LIVENESS_MOST)
		return NULL;
	memmove(&liveness->rows[at + 1], &liveness->rows[at], (liveness->count - at) * sizeof(struct liveness_row));
	liveness->rows[at] = (struct liveness_row){.capability = name};
	liveness->count++;
	return &liveness->rows[at];
}

static bool is_asked(const struct admission *admission, const struct catalog_capability *capability)
{
	for (size_t i = 0; i < admission->evaluation_count; i++) {
		const struct requirement *requirement = admission->evaluations[i].requirement;

		for (size_t k = 0; k < requirement->capability_count; k++)
			if (requirement->capabilities[k].known == capability)
				return true;
	}
	for (size_t i = 0; i < admission->subtask_count; i++) {
		const struct subtask_row *row = admission->subtasks[i].row;

		if (row->is_prohibited && str_equal(row->capability, capability->name))
			return true;
	}
	return false;
}

static int count(struct liveness *liveness, struct arena *arena, const struct admission *admission,
	const struct catalog_capability *capability, const struct store_decision *decision)
{
	struct liveness_row *row = take_row(liveness, arena, capability->name);

	if (row == NULL)
		return arena->failed ? -ENOMEM : 0;
	row->declared++;
	if (!is_asked(admission, capability))
		return 0;
	row->matched++;
	row->last_at = decision->created_at;
	CHECK(decision->id.len < sizeof(row->last_matched));
	memcpy(row->last_matched, decision->id.bytes, decision->id.len);
	return 0;
}

int liveness_add(struct liveness *liveness, struct arena *kept, struct arena *scratch,
	const struct admission *admission, const json_t *document, const struct store_decision *decision)
{
	const struct catalog *catalog = admission->package->catalog;
	const struct str *keys = trace_prohibitions(scratch, admission->package, document);
	int r = keys != NULL ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < catalog->mcp_count; i++) {
		const struct catalog_mcp *mcp = &catalog->mcps[i];

		for (size_t k = 0; r == 0 && k < mcp->capability_count; k++)
			if (keys[mcp->capabilities[k].index].bytes != NULL)
				r = count(liveness, kept, admission, &mcp->capabilities[k], decision);
	}
	return r;
}

void liveness_write(const struct liveness *liveness, struct json_out *out)
{
	json_out_key(out, "prohibitions");
	json_out_begin_array(out);
	for (size_t i = 0; i < liveness->count; i++) {
		const struct liveness_row *row = &liveness->rows[i];

		json_out_begin_object(out);
		json_out_member_str(out, "capability", row->capability);
		json_out_member_int(out, "declared", (int64_t)row->declared);
		json_out_member_int(out, "matched", (int64_t)row->matched);
		json_out_key(out, "lastMatched");
		if (row->last_matched[0] != '\0') {
			json_out_begin_object(out);
			json_out_member_text(out, "decisionId", row->last_matched);
			time_text_member(out, "createdAt", row->last_at);
			json_out_end_object(out);
		} else {
			json_out_null(out);
		}
		json_out_end_object(out);
	}
	json_out_end_array(out);
}
