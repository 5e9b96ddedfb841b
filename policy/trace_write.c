#include <errno.h>
#include <string.h>

#include "policy/explain.h"
#include "policy/package_parse.h"
#include "policy/trace_parts.h"
#include "policy/trace_source.h"

struct tracer {
	struct arena *arena;
	const struct admission *admission;
	const json_t *document;
	const struct str *prohibitions;
	struct json_out *out;
};

static void member_pointer(struct json_out *out, const struct trace_place *place)
{
	if (place->value)
		json_out_member_text(out, "pointer", place->pointer);
	else
		json_out_member_null(out, "pointer");
}

static void write_rule(struct json_out *out, enum table_row row)
{
	json_out_member_text(out, "row", trace_row_name(row));
	json_out_member_text(out, "when", trace_row_when(row));
}

/* ---- capabilities */

/* What every capability tells, of a requirement or of a subtask. */
struct traced {
	const struct capability *capability;
	const struct catalog_mcp *declared;
	const struct evaluation *evaluation; /* whose grant may cover it; NULL: none */
	struct trace_place place;
	bool is_prohibited;
};

static struct str covering(const struct traced *traced)
{
	const struct evaluation *evaluation = traced->evaluation;
	const struct catalog_capability *known = traced->capability->known;

	if (!evaluation || !known || !trace_reads_packets(evaluation) || known->class != CLASS_BOUNDED_READ_ONLY)
		return (struct str){0};
	if (!grant_state_is_usable(&evaluation->grant) || !grant_state_covers(&evaluation->grant, known))
		return (struct str){0};
	return evaluation->grant.approval_id;
}

static void write_traced(const struct tracer *tracer, const struct traced *traced)
{
	const struct capability *capability = traced->capability;
	const struct catalog *catalog = tracer->admission->package->catalog;
	int rule = explain_rule(catalog, traced->declared, capability);
	const char *delivery = delivery_kind_name(capability_delivery(traced->declared));
	const struct catalog_capability *nearest =
		capability->class == CLASS_UNKNOWN ? capability_nearest(catalog, capability->requested) : NULL;
	struct json_out *out = tracer->out;

	json_out_member_str(out, "asWritten", package_string(traced->place.value));
	member_pointer(out, &traced->place);
	json_out_member_str(out, "capability", capability->canonical);
	json_out_member_text(out, "class", capability_class_name(capability->class));
	json_out_member_str(out, "deliveryKind", delivery ? (struct str){delivery, strlen(delivery)} : (struct str){0});
	json_out_member_int(out, "rule", rule);
	json_out_member_text(out, "because", explain_rule_text(rule));
	json_out_member_str(out, "coveredBy", covering(traced));
	json_out_member_str(out, "prohibitedBy",
		traced->is_prohibited ? tracer->prohibitions[capability->known->index] : (struct str){0});
	json_out_member_str(out, "nearest", nearest ? nearest->name : (struct str){0});
}

static void write_capabilities(
	const struct tracer *tracer, const struct evaluation *evaluation, const struct trace_place *entry)
{
	const struct requirement *requirement = evaluation->requirement;

	json_out_key(tracer->out, "capabilities");
	json_out_begin_array(tracer->out);
	for (size_t i = 0; i < requirement->capability_count; i++) {
		const struct capability *capability = &requirement->capabilities[i];
		struct traced traced = {
			.capability = capability,
			.declared = requirement->mcp,
			.evaluation = evaluation,
			.place = trace_source_capability(tracer->arena, entry, capability),
			.is_prohibited = capability->is_prohibited,
		};

		json_out_begin_object(tracer->out);
		write_traced(tracer, &traced);
		json_out_end_object(tracer->out);
	}
	json_out_end_array(tracer->out);
}

/* ---- requirements */

static int write_steps(const struct tracer *tracer, const struct evaluation *evaluation)
{
	enum table_row last = trace_row(evaluation);
	struct json_out *out = tracer->out;

	json_out_key(out, "trace");
	json_out_begin_array(out);
	for (enum table_row row = ROW_0_MALFORMED; row <= last; row++) {
		struct str because = trace_because(tracer->arena, evaluation, row, tracer->prohibitions);

		if (!because.bytes)
			return -ENOMEM;
		json_out_begin_object(out);
		json_out_member_text(out, "row", trace_row_name(row));
		json_out_member_bool(out, "met", row == last);
		json_out_member_str(out, "because", because);
		json_out_end_object(out);
	}
	json_out_end_array(out);
	return 0;
}

static int write_requirement(const struct tracer *tracer, const struct evaluation *evaluation)
{
	const struct requirement *requirement = evaluation->requirement;
	struct json_out *out = tracer->out;
	struct trace_place entry = {0};
	int result;

	if (requirement->entry != PACKAGE_NOWHERE)
		entry = trace_source_entry(tracer->document, requirement->entry);
	json_out_begin_object(out);
	json_out_member_str(out, "requirementKey", requirement->key);
	json_out_member_str(out, "agent", requirement->agent);
	json_out_member_str(out, "mcpId", requirement->mcp_id);
	member_pointer(out, &entry);
	json_out_member_text(out, "status", admission_status_name(evaluation->status));
	json_out_key(out, "rule");
	json_out_begin_object(out);
	write_rule(out, trace_row(evaluation));
	json_out_end_object(out);
	result = write_steps(tracer, evaluation);
	if (result)
		return result;
	write_capabilities(tracer, evaluation, &entry);
	json_out_end_object(out);
	return 0;
}

/* ---- subtasks */

static int write_declared(const struct tracer *tracer, const struct subtask_row *row)
{
	const struct package *package = tracer->admission->package;
	const struct catalog_mcp *owner = capability_owner(package->catalog, row->capability);
	struct trace_place subtask = trace_source_subtask(tracer->document, row->subtask);
	struct traced traced = {.declared = owner, .place = subtask, .is_prohibited = row->is_prohibited};
	struct capability capability = {.requested = row->capability, .canonical = row->capability};
	int result = 0;

	if (row->item != PACKAGE_NOWHERE) {
		traced.place = trace_source_declared(&subtask, row->item);
		result = capability_read(
			tracer->arena, package->catalog, owner, package_string(traced.place.value), &capability);
	}
	if (result)
		return result;
	if (row->bound)
		traced.evaluation = &tracer->admission->evaluations[row->bound - package->requirements];
	traced.capability = &capability;
	write_traced(tracer, &traced);
	return 0;
}

static int write_subtask(const struct tracer *tracer, const struct subtask_decision *decision)
{
	const struct subtask_row *row = decision->row;
	struct json_out *out = tracer->out;
	int result;

	json_out_begin_object(out);
	json_out_member_str(out, "subtaskId", row->subtask_id);
	json_out_member_str(out, "agent", row->agent);
	json_out_member_str(out, "requirementKey", row->requirement_key);
	json_out_member_str(out, "mcpId", row->mcp_id);
	json_out_member_text(out, "status", admission_status_name(decision->status));
	json_out_member_text(out, "when", trace_subtask_when(row));
	result = write_declared(tracer, row);
	json_out_end_object(out);
	return result;
}

/* ---- the whole */

static const struct evaluation *find_deciding(const struct admission *admission)
{
	if (admission->primary_evaluation || admission->primary_subtask)
		return admission->primary_evaluation;
	for (size_t i = 0; i < admission->evaluation_count; i++) {
		if (admission->evaluations[i].status == ADMISSION_WARNING)
			return &admission->evaluations[i];
	}
	return admission->evaluation_count ? &admission->evaluations[0] : NULL;
}

static int write_deciding(const struct tracer *tracer, const struct evaluation *evaluation)
{
	enum table_row row = trace_row(evaluation);
	struct str because = trace_because(tracer->arena, evaluation, row, tracer->prohibitions);

	if (!because.bytes)
		return -ENOMEM;
	json_out_begin_object(tracer->out);
	write_rule(tracer->out, row);
	json_out_member_str(tracer->out, "because", because);
	json_out_member_str(tracer->out, "requirementKey", evaluation->requirement->key);
	json_out_end_object(tracer->out);
	return 0;
}

/* What a subtask, or the whole package, is decided by has no row in 1.8. */
static void write_without_row(
	const struct tracer *tracer, const char *when, struct str because, const struct subtask_row *subtask)
{
	json_out_begin_object(tracer->out);
	json_out_member_null(tracer->out, "row");
	json_out_member_text(tracer->out, "when", when);
	json_out_member_str(tracer->out, "because", because);
	if (subtask) {
		json_out_member_str(tracer->out, "requirementKey", subtask->requirement_key);
		json_out_member_str(tracer->out, "subtaskId", subtask->subtask_id);
	}
	json_out_end_object(tracer->out);
}

static int write_top_rule(const struct tracer *tracer)
{
	const struct admission *admission = tracer->admission;
	const struct evaluation *evaluation = find_deciding(admission);
	const struct subtask_decision *subtask = admission->primary_subtask;
	const char *whole = admission->package->whole_fault;

	json_out_key(tracer->out, "rule");
	if (evaluation)
		return write_deciding(tracer, evaluation);
	if (whole)
		write_without_row(tracer, "over a limit, or a container of the wrong type",
			(struct str){whole, strlen(whole)}, NULL);
	else if (subtask)
		write_without_row(tracer, trace_subtask_when(subtask->row), subtask->reason, subtask->row);
	else
		json_out_null(tracer->out);
	return 0;
}

int trace_write(struct arena *arena, const struct admission *admission, const json_t *document, struct json_out *out)
{
	struct tracer tracer = {.arena = arena, .admission = admission, .document = document, .out = out};
	int result;

	tracer.prohibitions = trace_prohibitions(arena, admission->package, document);
	if (!tracer.prohibitions)
		return -ENOMEM;
	result = write_top_rule(&tracer);
	json_out_key(out, "requirements");
	json_out_begin_array(out);
	for (size_t i = 0; i < admission->evaluation_count && !result; i++)
		result = write_requirement(&tracer, &admission->evaluations[i]);
	if (result)
		return result;
	json_out_end_array(out);
	json_out_key(out, "subtasks");
	json_out_begin_array(out);
	for (size_t i = 0; i < admission->subtask_count && !result; i++)
		result = write_subtask(&tracer, &admission->subtasks[i]);
	json_out_end_array(out);
	return result;
}
