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
	struct trace_verdict verdict;
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

static void write_verdict(const struct trace_verdict *verdict, struct json_out *out)
{
	json_out_key(out, "verdict");
	json_out_begin_object(out);
	json_out_member_text(out, "sign", verdict->sign);
	json_out_member_text(out, "tone", verdict->tone);
	json_out_member_str(out, "headline", verdict->headline);
	json_out_end_object(out);
}

static int write_words(const struct tracer *tracer, const struct traced *traced)
{
	const struct capability *capability = traced->capability;
	struct str coverage = trace_coverage(tracer->arena, traced->evaluation, capability->known);
	struct json_out *out = tracer->out;

	json_out_member_text(out, "classWords", trace_class_words(capability->class));
	json_out_member_text(out, "reaches", trace_reaches(capability->class, capability_delivery(traced->declared)));
	json_out_member_str(out, "coverage", coverage);
	write_verdict(&traced->verdict, out);
	return coverage.bytes ? 0 : -ENOMEM;
}

static int write_traced(const struct tracer *tracer, const struct traced *traced)
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
	return write_words(tracer, traced);
}

static int write_capabilities(const struct tracer *tracer, const struct evaluation *evaluation,
	const struct trace_place *entry, const struct trace_state *state)
{
	const struct requirement *requirement = evaluation->requirement;
	int result = 0;

	json_out_key(tracer->out, "capabilities");
	json_out_begin_array(tracer->out);
	for (size_t i = 0; i < requirement->capability_count && !result; i++) {
		const struct capability *capability = &requirement->capabilities[i];
		struct traced traced = {
			.capability = capability,
			.declared = requirement->mcp,
			.evaluation = evaluation,
			.place = trace_source_capability(tracer->arena, entry, capability),
			.is_prohibited = capability->is_prohibited,
			.verdict = trace_verdict_of(evaluation, capability, state),
		};

		json_out_begin_object(tracer->out);
		result = write_traced(tracer, &traced);
		json_out_end_object(tracer->out);
	}
	json_out_end_array(tracer->out);
	return result;
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
		json_out_member_text(out, "asks", trace_row_asks(row));
		json_out_member_text(out, "answer", trace_row_answer(evaluation, row));
		json_out_member_str(out, "because", because);
		json_out_end_object(out);
	}
	json_out_end_array(out);
	return 0;
}

static void write_identity(const struct requirement *requirement, const struct trace_place *entry, struct json_out *out)
{
	json_out_member_str(out, "requirementKey", requirement->key);
	json_out_member_str(out, "agent", requirement->agent);
	json_out_member_str(out, "mcpId", requirement->mcp_id);
	json_out_member_text(out, "level", requirement_level_name(requirement));
	json_out_member_bool(out, "goesOnWithout", requirement->can_proceed);
	member_pointer(out, entry);
}

static void write_state(const struct trace_state *state, struct json_out *out)
{
	json_out_key(out, "operatorState");
	words_state_write(state->key, &state->words, out);
}

static int write_requirement(const struct tracer *tracer, const struct evaluation *evaluation)
{
	const struct requirement *requirement = evaluation->requirement;
	struct json_out *out = tracer->out;
	struct trace_place entry = {0};
	struct trace_state state = {0};
	int result = trace_state_of(tracer->arena, tracer->admission, evaluation, &state);

	if (result)
		return result;
	if (requirement->entry != PACKAGE_NOWHERE)
		entry = trace_source_entry(tracer->document, requirement->entry);
	json_out_begin_object(out);
	write_identity(requirement, &entry, out);
	json_out_member_text(out, "status", admission_status_name(evaluation->status));
	write_state(&state, out);
	json_out_key(out, "rule");
	json_out_begin_object(out);
	write_rule(out, trace_row(evaluation));
	json_out_end_object(out);
	result = write_steps(tracer, evaluation);
	if (!result)
		result = write_capabilities(tracer, evaluation, &entry, &state);
	json_out_end_object(out);
	return result;
}

/* ---- subtasks */

static int write_declared(
	const struct tracer *tracer, const struct subtask_decision *decision, const struct trace_state *state)
{
	const struct subtask_row *row = decision->row;
	const struct package *package = tracer->admission->package;
	const struct catalog_mcp *owner = capability_owner(package->catalog, row->capability);
	struct trace_place subtask = trace_source_subtask(tracer->document, row->subtask);
	struct traced traced = {.declared = owner,
		.place = subtask,
		.is_prohibited = row->is_prohibited,
		.verdict = trace_verdict_of_subtask(decision, state)};
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
	return write_traced(tracer, &traced);
}

static int write_subtask(const struct tracer *tracer, const struct subtask_decision *decision)
{
	const struct subtask_row *row = decision->row;
	struct json_out *out = tracer->out;
	struct trace_state state = {0};
	int result = trace_state_of_subtask(tracer->arena, tracer->admission, decision, &state);

	if (result)
		return result;
	json_out_begin_object(out);
	json_out_member_str(out, "subtaskId", row->subtask_id);
	json_out_member_str(out, "agent", row->agent);
	json_out_member_str(out, "requirementKey", row->requirement_key);
	json_out_member_str(out, "mcpId", row->mcp_id);
	json_out_member_text(out, "status", admission_status_name(decision->status));
	write_state(&state, out);
	json_out_member_text(out, "when", trace_subtask_when(row));
	result = write_declared(tracer, decision, &state);
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
		write_without_row(
			tracer, "over a limit, or a part of the wrong type", (struct str){whole, strlen(whole)}, NULL);
	else if (subtask)
		write_without_row(tracer, trace_subtask_when(subtask->row), subtask->reason, subtask->row);
	else
		json_out_null(tracer->out);
	return 0;
}

/* ---- the top line */

static const char *status_words(enum admission_status status)
{
	if (status == ADMISSION_BLOCKED)
		return "Blocked";
	return status == ADMISSION_WARNING ? "Goes ahead with a warning" : "Allowed";
}

/* What it comes from for people: of a block its origin (2.2), which for a subtask is the requirement that it waits for. */
struct deciding {
	const struct evaluation *evaluation;
	const struct subtask_decision *subtask;
};

static struct deciding find_origin(const struct admission *admission)
{
	struct hold_origin origin = {0};

	if (projection_hold_origin(admission, true, &origin))
		return (struct deciding){origin.evaluation, origin.subtask};
	return (struct deciding){find_deciding(admission), NULL};
}

static struct str headline_of(struct arena *arena, const struct admission *admission, struct deciding deciding)
{
	const char *status = status_words(admission->status);

	if (deciding.evaluation)
		return arena_printf(arena, "%s by row %s: %s.", status, trace_row_name(trace_row(deciding.evaluation)),
			trace_row_when(trace_row(deciding.evaluation)));
	if (admission->package->whole_fault)
		return arena_printf(arena, "%s as a whole: over a limit, or a part of the wrong type.", status);
	if (deciding.subtask)
		return arena_printf(arena, "%s by a subtask: %s.", status, trace_subtask_when(deciding.subtask->row));
	return arena_printf(arena, "%s: it asks for nothing.", status);
}

static struct str reason_of(const struct admission *admission, struct deciding deciding)
{
	if (deciding.evaluation)
		return deciding.evaluation->reason;
	if (deciding.subtask)
		return deciding.subtask->reason;
	return admission_blocked_reason(admission);
}

int trace_write_words(struct arena *arena, const struct admission *admission, struct json_out *out)
{
	struct deciding deciding = find_origin(admission);
	struct str headline = headline_of(arena, admission, deciding);
	struct trace_state state = {.key = OPERATOR_PLAN_NEEDS_CHANGES, .words.sign = "square, x"};
	int result = headline.bytes ? 0 : -ENOMEM;

	if (!result && deciding.evaluation)
		result = trace_state_of(arena, admission, deciding.evaluation, &state);
	else if (!result && deciding.subtask)
		result = trace_state_of_subtask(arena, admission, deciding.subtask, &state);
	if (result)
		return result;
	if (admission->status == ADMISSION_ALLOWED)
		state = (struct trace_state){.key = OPERATOR_CONTEXT_APPROVED, .words.sign = "check"};
	json_out_begin_object(out);
	json_out_member_text(out, "sign", state.words.sign);
	json_out_member_text(out, "tone", operator_key_tone(state.key));
	json_out_member_str(out, "headline", headline);
	json_out_member_str(out, "detail", reason_of(admission, deciding));
	json_out_end_object(out);
	return 0;
}

int trace_write(struct arena *arena, const struct admission *admission, const json_t *document, struct json_out *out)
{
	struct tracer tracer = {.arena = arena, .admission = admission, .document = document, .out = out};
	int result;

	tracer.prohibitions = trace_prohibitions(arena, admission->package, document);
	if (!tracer.prohibitions)
		return -ENOMEM;
	json_out_key(out, "words");
	result = trace_write_words(arena, admission, out);
	if (!result)
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
