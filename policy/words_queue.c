#include "policy/words_queue.h"

#include <string.h>

enum tag { TAG_OTHER = 0, TAG_PLANS, TAG_ACCESS, TAG_SETUP, TAG_CHANGES, TAG_COUNT };

static const struct {
	const char *id;
	const char *label;
} tags[TAG_COUNT] = {
	[TAG_OTHER] = {"other", "Other"},
	[TAG_PLANS] = {"plans", "Plans"},
	[TAG_ACCESS] = {"access", "Access"},
	[TAG_SETUP] = {"setup", "Set-up"},
	[TAG_CHANGES] = {"changes", "Plan changes"},
};

struct kind_row {
	const char *kind;
	enum tag tag;
	const char *sign;
	const char *tone;
	const char *headline;
};

static const struct kind_row rows[] = {
	{"plan_waits_for_approval", TAG_PLANS, "diamond", "neutral", "Plan waits for approval"},
	{"plan_sent_back", TAG_OTHER, "disc, arrow back", "neutral", "Plan was sent back"},
	{"package_failed", TAG_OTHER, "square, x", "red", "Package failed"},
	{"run_silent", TAG_OTHER, "clock", "amber", "Run is silent"},
	{"unreadable", TAG_OTHER, "square, x", "red", "Can't be read"},
	{"project_without_root", TAG_ACCESS, "folder, ?", "amber", "Project has no folder yet"},
};

static const struct kind_row unknown = {"", TAG_OTHER, "dot", "neutral", "Waits for a person"};

static const struct kind_row *row_of(const char *kind)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].kind, kind) == 0)
			return &rows[i];
	return &unknown;
}

static enum tag tag_of_state(enum operator_key key)
{
	switch (key) {
	case OPERATOR_NEEDS_PROJECT_CONTEXT:
		return TAG_ACCESS;
	case OPERATOR_MCP_NEEDS_SETUP:
		return TAG_SETUP;
	case OPERATOR_PLAN_NEEDS_CHANGES:
	case OPERATOR_DEFERRED_BOUNDARY:
	case OPERATOR_RECOMPUTE:
		return TAG_CHANGES;
	case OPERATOR_PLANNING_CONTEXT:
	case OPERATOR_CONTEXT_APPROVED:
		break;
	}
	return TAG_OTHER;
}

void words_queue_write(const char *kind, enum operator_key key, const struct words *state, struct json_out *out)
{
	const struct kind_row *row = row_of(kind);

	json_out_member_text(out, "tag", tags[state != NULL ? tag_of_state(key) : row->tag].id);
	json_out_key(out, "words");
	json_out_begin_object(out);
	json_out_member_text(out, "sign", state != NULL ? state->sign : row->sign);
	json_out_member_text(out, "tone", state != NULL ? operator_key_tone(key) : row->tone);
	if (state != NULL)
		json_out_member_str(out, "headline", state->headline);
	else
		json_out_member_text(out, "headline", row->headline);
	json_out_end_object(out);
}

void words_queue_write_tags(struct json_out *out)
{
	static const enum tag order[TAG_COUNT] = {TAG_PLANS, TAG_ACCESS, TAG_SETUP, TAG_CHANGES, TAG_OTHER};

	json_out_begin_array(out);
	for (size_t i = 0; i < TAG_COUNT; i++) {
		json_out_begin_object(out);
		json_out_member_text(out, "id", tags[order[i]].id);
		json_out_member_text(out, "label", tags[order[i]].label);
		json_out_end_object(out);
	}
	json_out_end_array(out);
}
