#include "policy/replay_diff.h"

#include "policy/trace.h"

/* ---- requirements: the document makes them, so both decisions have the same ones, in the same order or nearly */

static bool is_same_requirement(const struct requirement *a, const struct requirement *b)
{
	return a->position == b->position && str_equal(a->key, b->key);
}

static const struct evaluation *find_evaluation(const struct admission *admission, const struct requirement *wanted)
{
	for (size_t i = 0; i < admission->evaluation_count; i++) {
		if (is_same_requirement(admission->evaluations[i].requirement, wanted))
			return &admission->evaluations[i];
	}
	return NULL;
}

static bool has_same_classes(const struct requirement *a, const struct requirement *b)
{
	if (a->capability_count != b->capability_count)
		return false;
	for (size_t i = 0; i < a->capability_count; i++) {
		if (a->capabilities[i].class != b->capabilities[i].class)
			return false;
	}
	return true;
}

static bool is_same_evaluation(const struct evaluation *a, const struct evaluation *b)
{
	return a->row == b->row && a->status == b->status && a->mode == b->mode && str_equal(a->reason, b->reason) &&
		has_same_classes(a->requirement, b->requirement);
}

static void write_evaluation(const struct evaluation *evaluation, const char *key, struct json_out *out)
{
	const struct requirement *requirement = evaluation->requirement;

	json_out_key(out, key);
	json_out_begin_object(out);
	json_out_member_text(out, "row", trace_row_name(evaluation->row));
	json_out_member_text(out, "status", admission_status_name(evaluation->status));
	json_out_member_text(out, "mode", admission_mode_name(evaluation->mode));
	json_out_key(out, "classes");
	json_out_begin_array(out);
	for (size_t i = 0; i < requirement->capability_count; i++)
		json_out_text(out, capability_class_name(requirement->capabilities[i].class));
	json_out_end_array(out);
	json_out_member_str(out, "reason", evaluation->reason);
	json_out_end_object(out);
}

static void write_requirements(const struct admission *before, const struct admission *after, struct json_out *out)
{
	json_out_key(out, "requirements");
	json_out_begin_array(out);
	for (size_t i = 0; i < before->evaluation_count; i++) {
		const struct evaluation *old = &before->evaluations[i];
		const struct evaluation *now = find_evaluation(after, old->requirement);

		if (!now || is_same_evaluation(old, now))
			continue;
		json_out_begin_object(out);
		json_out_member_str(out, "requirementKey", old->requirement->key);
		json_out_member_str(out, "agent", old->requirement->agent);
		json_out_member_str(out, "mcpId", old->requirement->mcp_id);
		write_evaluation(old, "before", out);
		write_evaluation(now, "after", out);
		json_out_end_object(out);
	}
	json_out_end_array(out);
}

/* ---- subtask rows: a capability may get another canonical name, so they are paired by where they are written */

static bool is_same_row(const struct subtask_row *a, const struct subtask_row *b)
{
	return a->subtask == b->subtask && a->item == b->item;
}

static const struct subtask_decision *find_subtask(const struct admission *admission, const struct subtask_row *wanted)
{
	for (size_t i = 0; i < admission->subtask_count; i++) {
		if (is_same_row(admission->subtasks[i].row, wanted))
			return &admission->subtasks[i];
	}
	return NULL;
}

static void write_subtask_side(const struct subtask_decision *decision, const char *key, struct json_out *out)
{
	json_out_key(out, key);
	if (!decision) {
		json_out_null(out);
		return;
	}
	json_out_begin_object(out);
	json_out_member_text(out, "status", admission_status_name(decision->status));
	json_out_member_text(out, "class", capability_class_name(decision->row->class));
	json_out_member_str(out, "reason", decision->reason);
	json_out_end_object(out);
}

static void write_subtask(
	const struct subtask_decision *before, const struct subtask_decision *after, struct json_out *out)
{
	const struct subtask_row *row = before ? before->row : after->row;

	json_out_begin_object(out);
	json_out_member_str(out, "subtaskId", row->subtask_id);
	json_out_member_str(out, "agent", row->agent);
	json_out_member_str(out, "capability", row->capability);
	write_subtask_side(before, "before", out);
	write_subtask_side(after, "after", out);
	json_out_end_object(out);
}

static bool is_same_subtask(const struct subtask_decision *a, const struct subtask_decision *b)
{
	return a->status == b->status && a->row->class == b->row->class && str_equal(a->reason, b->reason);
}

static void write_subtasks(const struct admission *before, const struct admission *after, struct json_out *out)
{
	json_out_key(out, "subtasks");
	json_out_begin_array(out);
	for (size_t i = 0; i < before->subtask_count; i++) {
		const struct subtask_decision *now = find_subtask(after, before->subtasks[i].row);

		if (!now || !is_same_subtask(&before->subtasks[i], now))
			write_subtask(&before->subtasks[i], now, out);
	}
	for (size_t i = 0; i < after->subtask_count; i++) {
		if (!find_subtask(before, after->subtasks[i].row))
			write_subtask(NULL, &after->subtasks[i], out);
	}
	json_out_end_array(out);
}

void replay_diff_write(const struct replay *before, const struct replay *after, struct json_out *out)
{
	json_out_member_text(out, "before", admission_status_name(before->admission.status));
	json_out_member_text(out, "after", admission_status_name(after->admission.status));
	write_requirements(&before->admission, &after->admission, out);
	write_subtasks(&before->admission, &after->admission, out);
}
