#include <errno.h>

#include "policy/json_out.h"
#include "policy/package_parse.h"

enum { RENDERED_LIMIT = 16 * 1024 * 1024 };

/* Renders members through `write` and keeps them in the arena without the braces. */
typedef void writer(const void *subject, struct json_out *out);

static int render(
	struct package_compiler *compiler, struct buf *buf, writer *write, const void *subject, struct str *ret_members)
{
	struct json_out out;
	struct str object;

	buf_reset(buf);
	json_out_init(&out, buf);
	json_out_begin_object(&out);
	write(subject, &out);
	json_out_end_object(&out);
	if (buf_error(buf))
		return buf_error(buf);
	object = buf_str(buf);
	*ret_members = arena_str(compiler->arena, (struct str){object.bytes + 1, object.len - 2});
	return ret_members->bytes ? 0 : -ENOMEM;
}

static void write_names(const struct requirement *requirement, bool canonical, struct json_out *out)
{
	json_out_key(out, canonical ? "normalizedCapabilities" : "requestedCapabilities");
	json_out_begin_array(out);
	for (size_t i = 0; i < requirement->capability_count; i++) {
		const struct capability *capability = &requirement->capabilities[i];

		json_out_str(out, canonical ? capability->canonical : capability->requested);
	}
	json_out_end_array(out);
}

static void write_decision_head(const void *subject, struct json_out *out)
{
	const struct requirement *requirement = subject;
	const char *delivery = delivery_kind_name(capability_delivery(requirement->mcp));

	json_out_member_int(out, "schemaVersion", 1);
	json_out_member_str(out, "mcpId", requirement->mcp_id);
	json_out_member_str(out, "agent", requirement->agent);
	json_out_member_text(out, "requirement", requirement_level_name(requirement));
	write_names(requirement, false, out);
	write_names(requirement, true, out);
	json_out_key(out, "capabilityClasses");
	json_out_begin_array(out);
	for (size_t i = 0; i < requirement->capability_count; i++) {
		json_out_begin_object(out);
		json_out_member_str(out, "capability", requirement->capabilities[i].canonical);
		json_out_member_text(out, "class", capability_class_name(requirement->capabilities[i].class));
		json_out_member_text(out, "deliveryKind", delivery);
		json_out_end_object(out);
	}
	json_out_end_array(out);
}

static void write_decision_tail(const void *subject, struct json_out *out)
{
	const struct requirement *requirement = subject;

	json_out_key(out, "evidenceRefs");
	json_out_begin_array(out);
	for (size_t i = 0; i < requirement->evidence_count; i++)
		json_out_str(out, requirement->evidence_refs[i]);
	json_out_end_array(out);
}

static void write_source_head(const void *subject, struct json_out *out)
{
	const struct requirement *requirement = subject;

	json_out_member_str(out, "requirementKey", requirement->key);
	json_out_member_str(out, "decisionId", requirement->decision_id);
	json_out_member_int(out, "sourceRequirementIndex", requirement->source_index);
	json_out_key(out, "assignment");
	json_out_begin_object(out);
	json_out_member_text(out, "type", assignment_type_name(requirement->assignment));
	json_out_member_str(out, "targetId", requirement->target_id);
	json_out_end_object(out);
	json_out_key(out, "fallback");
	json_out_begin_object(out);
	json_out_member_text(out, "action", fallback_action_name(requirement->fallback));
	json_out_member_str(out, "message", requirement->fallback_message);
	json_out_end_object(out);
}

static void write_row_head(const void *subject, struct json_out *out)
{
	const struct subtask_row *row = subject;

	json_out_member_str(out, "subtaskId", row->subtask_id);
	json_out_member_str(out, "agent", row->agent);
	json_out_member_str(out, "requirementKey", row->requirement_key);
	json_out_member_str(out, "mcpId", row->mcp_id);
	json_out_member_str(out, "capability", row->capability);
	json_out_member_text(out, "class", capability_class_name(row->class));
	json_out_member_text(out, "deliveryKind", delivery_kind_name(row->delivery));
}

static int render_requirement(struct package_compiler *compiler, struct buf *buf, struct requirement *requirement)
{
	int result = render(compiler, buf, write_decision_head, requirement, &requirement->decision_head);

	if (!result)
		result = render(compiler, buf, write_decision_tail, requirement, &requirement->decision_tail);
	return result ? result : render(compiler, buf, write_source_head, requirement, &requirement->source_head);
}

int package_render(struct package_compiler *compiler)
{
	struct requirement *requirements = compiler->requirements;
	struct subtask_row *rows = compiler->rows;
	struct buf buf;
	int result = 0;

	buf_init(&buf, RENDERED_LIMIT);
	for (size_t i = 0; i < compiler->package->requirement_count && !result; i++)
		result = render_requirement(compiler, &buf, &requirements[i]);
	for (size_t i = 0; i < compiler->package->subtask_count && !result; i++)
		result = render(compiler, &buf, write_row_head, &rows[i], &rows[i].head);
	buf_release(&buf);
	return result;
}
