#include "policy/projection.h"

/* The status words of the surfaces that were there before 1.11. */
static const char *plural_status(const struct admission *admission, const char *allowed)
{
	if (admission->status == ADMISSION_BLOCKED)
		return "blocked";
	return admission->status == ADMISSION_WARNING ? "warnings" : allowed;
}

void projection_write_validation(const struct admission *admission, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_member_text(out, "status", plural_status(admission, "valid"));
	json_out_key(out, "blocked");
	admission_write_reasons(admission, ADMISSION_BLOCKED, out);
	json_out_key(out, "warnings");
	admission_write_reasons(admission, ADMISSION_WARNING, out);
	json_out_key(out, "health");
	admission_write_referenced_health(admission, false, out);
	json_out_end_object(out);
}

static const char *proposed_status(enum admission_status status)
{
	return status == ADMISSION_ALLOWED ? "proposed" : admission_status_name(status);
}

void projection_write_grant_preview(const struct admission *admission, struct json_out *out)
{
	int64_t counts[] = {0, 0, 0};

	json_out_begin_object(out);
	json_out_key(out, "grants");
	json_out_begin_array(out);
	for (size_t i = 0; i < admission->evaluation_count; i++) {
		const struct evaluation *evaluation = &admission->evaluations[i];

		counts[evaluation->status]++;
		json_out_begin_object(out);
		json_out_key(out, "decision");
		admission_write_decision(evaluation, out);
		json_out_key(out, "source");
		admission_write_source(evaluation, out);
		json_out_member_text(out, "status", proposed_status(evaluation->status));
		json_out_member_text(out, "admissionStatus", admission_status_name(evaluation->status));
		json_out_end_object(out);
	}
	json_out_end_array(out);
	json_out_key(out, "counts");
	json_out_begin_object(out);
	json_out_member_int(out, "proposed", counts[ADMISSION_ALLOWED]);
	json_out_member_int(out, "warning", counts[ADMISSION_WARNING]);
	json_out_member_int(out, "blocked", counts[ADMISSION_BLOCKED]);
	json_out_end_object(out);
	json_out_key(out, "aggregate");
	admission_write_aggregate(admission, out);
	json_out_end_object(out);
}

void projection_write_broker_check(const struct admission *admission, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_member_text(out, "status", plural_status(admission, "allowed"));
	json_out_key(out, "blocked");
	admission_write_reasons(admission, ADMISSION_BLOCKED, out);
	json_out_key(out, "warnings");
	admission_write_reasons(admission, ADMISSION_WARNING, out);
	json_out_member_bool(out, "retryable", admission->retryable);
	admission_write_primary_members(admission, out);
	json_out_key(out, "evaluations");
	admission_write_evaluations(admission, false, out);
	json_out_key(out, "subtaskDecisions");
	admission_write_subtasks(admission, out);
	json_out_end_object(out);
}

static bool waits_for_grant(const struct evaluation *evaluation)
{
	return evaluation->row == ROW_5A_GRANT_MISSING && evaluation->status == ADMISSION_BLOCKED;
}

static void write_missing(const struct evaluation *evaluation, struct json_out *out)
{
	const struct requirement *requirement = evaluation->requirement;

	for (size_t i = 0; i < requirement->capability_count; i++) {
		const struct capability *capability = &requirement->capabilities[i];

		if (capability->class != CLASS_BOUNDED_READ_ONLY || requirement_repeats_capability(requirement, i))
			continue;
		if (!grant_state_is_usable(&evaluation->grant) ||
			!grant_state_covers(&evaluation->grant, capability->known))
			json_out_str(out, capability->canonical);
	}
}

void projection_write_filesystem_gate(const struct admission *admission, bool has_root, struct json_out *out)
{
	bool holds = false;

	json_out_begin_object(out);
	json_out_key(out, "requirements");
	json_out_begin_array(out);
	for (size_t i = 0; i < admission->evaluation_count; i++) {
		const struct evaluation *evaluation = &admission->evaluations[i];

		if (!waits_for_grant(evaluation))
			continue;
		holds = true;
		json_out_begin_object(out);
		json_out_member_str(out, "requirementKey", evaluation->requirement->key);
		json_out_key(out, "missingCapabilities");
		json_out_begin_array(out);
		write_missing(evaluation, out);
		json_out_end_array(out);
		json_out_member_text(
			out, "arm", hold_arm_name(has_root ? projection_arm(&evaluation->grant) : ARM_NO_ROOT));
		json_out_end_object(out);
	}
	json_out_end_array(out);
	json_out_member_bool(out, "holds", holds);
	json_out_end_object(out);
}

static void write_key(struct json_out *out, enum operator_key key)
{
	json_out_member_text(out, "key", operator_key_name(key));
	json_out_member_text(out, "tone", operator_key_tone(key));
}

void projection_write_operator_state(const struct admission *admission, bool has_root, struct json_out *out)
{
	const struct evaluation *from;

	json_out_begin_object(out);
	json_out_key(out, "evaluations");
	json_out_begin_array(out);
	for (size_t i = 0; i < admission->evaluation_count; i++) {
		const struct evaluation *evaluation = &admission->evaluations[i];

		json_out_begin_object(out);
		json_out_member_str(out, "requirementKey", evaluation->requirement->key);
		write_key(out, projection_operator_key(evaluation->mode, evaluation->status, evaluation->recovery));
		json_out_end_object(out);
	}
	json_out_end_array(out);
	json_out_key(out, "aggregate");
	json_out_begin_object(out);
	write_key(out, projection_package_key(admission, has_root, &from));
	json_out_end_object(out);
	json_out_end_object(out);
}
