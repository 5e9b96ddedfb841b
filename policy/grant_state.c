#include "policy/grant_state.h"

#include <errno.h>
#include <string.h>

#include "policy/capability.h"
#include "policy/text.h"

static const char *const phase_names[] = {
	[GRANT_PHASE_NONE] = "none",
	[GRANT_PHASE_PROPOSED] = "proposed",
	[GRANT_PHASE_NOT_ISSUED] = "not_issued",
	[GRANT_PHASE_DENIED] = "denied",
	[GRANT_PHASE_REVOKED] = "revoked",
	[GRANT_PHASE_APPROVED] = "approved",
};

static const char *const source_names[] = {
	[GRANT_SOURCE_NONE] = "none",
	[GRANT_SOURCE_PACKAGE_LOCAL] = "package-local",
	[GRANT_SOURCE_PROJECT_LEVEL] = "project-level",
};

static const char *const mode_names[] = {
	[GRANT_MODE_NONE] = NULL,
	[GRANT_MODE_ALLOW_ONCE] = "allow_once",
	[GRANT_MODE_ALWAYS_ALLOW] = "always_allow",
};

static const char *const reason_names[] = {
	[REVOCATION_NONE] = NULL,
	[REVOCATION_PROJECT_GRANT_REMOVED] = "project_grant_removed",
	[REVOCATION_PROJECT_GRANT_NARROWED] = "project_grant_narrowed",
	[REVOCATION_PROJECT_ROOT_REPOINT] = "project_root_repoint",
	[REVOCATION_GRANT_EXPIRED] = "grant_expired",
	[REVOCATION_PACKAGE_GRANT_REMOVED] = "package_grant_removed",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *grant_phase_name(enum grant_phase phase)
{
	return phase_names[phase];
}

const char *grant_source_name(enum grant_source source)
{
	return source_names[source];
}

const char *grant_mode_name(enum grant_mode mode)
{
	return mode_names[mode];
}

const char *revocation_reason_name(enum revocation_reason reason)
{
	return reason_names[reason];
}

/* The position of a JSON string among `names`; false for anything else. */
static bool find_word(const json_t *value, const char *const *names, size_t count, size_t *ret_position)
{
	struct str word = {json_string_value(value), json_string_length(value)};

	if (!json_is_string(value))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (names[i] && str_is(word, names[i])) {
			*ret_position = i;
			return true;
		}
	}
	return false;
}

/* A member that may be absent, and otherwise is one of the words. */
static bool read_optional_word(
	const json_t *object, const char *key, const char *const *names, size_t count, size_t *ret_position)
{
	const json_t *value = json_object_get(object, key);

	*ret_position = 0;
	return !value || find_word(value, names, count, ret_position);
}

/* A covered capability is a bounded read of an MCP with a packet producer; any spelling of it will do. */
static const struct catalog_capability *read_covered(
	struct arena *arena, const struct catalog *catalog, const json_t *item, int *ret_error)
{
	struct str text = {json_string_value(item), json_string_length(item)};
	const struct catalog_mcp *mcp;
	struct capability capability;
	struct str normalized;

	if (!json_is_string(item) || !text_is_safe(text))
		return NULL;
	normalized = text_normalize(arena, text);
	if (!normalized.bytes) {
		*ret_error = -ENOMEM;
		return NULL;
	}
	mcp = capability_owner(catalog, normalized);
	if (!mcp || mcp->delivery != DELIVERY_BOUNDED_CONTEXT_PACKET)
		return NULL;
	*ret_error = capability_read(arena, catalog, mcp, text, &capability);
	if (*ret_error || capability.class != CLASS_BOUNDED_READ_ONLY)
		return NULL;
	return capability.known;
}

/* 0 with state->is_incoherent untouched or set; -ENOMEM. */
static int read_coverage(
	struct arena *arena, const struct catalog *catalog, const json_t *list, struct grant_state *state)
{
	size_t count = json_array_size(list);
	const struct catalog_capability **covered;

	if (!json_is_array(list) || count > GRANT_COVERED_LIMIT) {
		state->is_incoherent = true;
		return 0;
	}
	covered = arena_array(arena, count, sizeof(*covered));
	if (!covered)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		int error = 0;

		covered[i] = read_covered(arena, catalog, json_array_get(list, i), &error);
		if (error)
			return error;
		if (!covered[i])
			state->is_incoherent = true;
	}
	state->covered = covered;
	state->covered_count = count;
	return 0;
}

/* The rows of the table of 1.6, `status` being the position among no, denied, approved. */
enum state_status { STATUS_NOT_ISSUED, STATUS_DENIED, STATUS_APPROVED };

static bool is_approved_row(const struct grant_state *state, enum state_status status)
{
	bool once = state->mode == GRANT_MODE_ALLOW_ONCE;

	if (status != STATUS_APPROVED || state->reason != REVOCATION_NONE || state->mode == GRANT_MODE_NONE)
		return false;
	if (state->source == GRANT_SOURCE_NONE || (state->source == GRANT_SOURCE_PROJECT_LEVEL && once))
		return false;
	return once || !state->consumed;
}

static bool is_coherent_row(const struct grant_state *state, enum state_status status)
{
	bool plain = state->mode == GRANT_MODE_NONE && !state->has_consumed;
	bool empty = plain && state->covered_count == 0 && state->reason == REVOCATION_NONE;

	switch (state->phase) {
	case GRANT_PHASE_NONE:
	case GRANT_PHASE_PROPOSED:
	case GRANT_PHASE_NOT_ISSUED:
		return empty && state->source == GRANT_SOURCE_NONE && status == STATUS_NOT_ISSUED;
	case GRANT_PHASE_DENIED:
		return empty && state->source == GRANT_SOURCE_PACKAGE_LOCAL && status == STATUS_DENIED;
	case GRANT_PHASE_REVOKED:
		return plain && state->source != GRANT_SOURCE_NONE && status == STATUS_NOT_ISSUED &&
			state->reason != REVOCATION_NONE;
	case GRANT_PHASE_APPROVED:
		return is_approved_row(state, status);
	default:
		return false;
	}
}

/* Every member but the coverage. False when one is of no known shape. */
static bool read_members(const json_t *value, struct grant_state *state, enum state_status *ret_status)
{
	static const char *const statuses[] = {"not_issued", "denied", "approved"};
	const json_t *consumed = json_object_get(value, "consumed");
	const json_t *id = json_object_get(value, "grantApprovalId");
	size_t phase;
	size_t source;
	size_t status;
	size_t mode;
	size_t reason;

	if (!find_word(json_object_get(value, "phase"), phase_names, COUNT(phase_names), &phase) ||
		!find_word(json_object_get(value, "source"), source_names, COUNT(source_names), &source) ||
		!find_word(json_object_get(value, "status"), statuses, COUNT(statuses), &status) ||
		!read_optional_word(value, "grantMode", mode_names, COUNT(mode_names), &mode) ||
		!read_optional_word(value, "revocationReason", reason_names, COUNT(reason_names), &reason))
		return false;
	if ((consumed && !json_is_boolean(consumed)) || (id && !json_is_string(id)))
		return false;
	state->phase = (enum grant_phase)phase;
	state->source = (enum grant_source)source;
	state->mode = (enum grant_mode)mode;
	state->reason = (enum revocation_reason)reason;
	state->has_consumed = consumed != NULL;
	state->consumed = json_is_true(consumed);
	if (id)
		state->approval_id = (struct str){json_string_value(id), json_string_length(id)};
	*ret_status = (enum state_status)status;
	return true;
}

int grant_state_read(
	struct arena *arena, const struct catalog *catalog, const json_t *value, struct grant_state *ret_state)
{
	struct grant_state state = {0};
	enum state_status status;
	int result = 0;

	if (!json_is_object(value) || !read_members(value, &state, &status)) {
		*ret_state = (struct grant_state){.is_incoherent = true};
		return 0;
	}
	state.approval_id = arena_str(arena, state.approval_id);
	if (json_object_get(value, "grantApprovalId") && !state.approval_id.bytes)
		return -ENOMEM;
	result = read_coverage(arena, catalog, json_object_get(value, "coveredCapabilities"), &state);
	if (result)
		return result;
	if (!is_coherent_row(&state, status))
		state.is_incoherent = true;
	*ret_state = state;
	return 0;
}

bool grant_state_is_usable(const struct grant_state *state)
{
	return !state->is_incoherent && state->phase == GRANT_PHASE_APPROVED && !state->consumed;
}

bool grant_state_covers(const struct grant_state *state, const struct catalog_capability *capability)
{
	for (size_t i = 0; i < state->covered_count; i++) {
		if (state->covered[i] == capability)
			return true;
	}
	return false;
}

static const char *status_name(enum grant_phase phase)
{
	if (phase == GRANT_PHASE_APPROVED)
		return "approved";
	return phase == GRANT_PHASE_DENIED ? "denied" : "not_issued";
}

/* Coverage is a set: one order, each once, so that equal states are equal bytes (chapter 2.1). */
static void write_covered(const struct grant_state *state, struct json_out *out)
{
	const struct catalog_capability *last = NULL;

	json_out_begin_array(out);
	for (;;) {
		const struct catalog_capability *next = NULL;

		for (size_t i = 0; i < state->covered_count; i++) {
			const struct catalog_capability *covered = state->covered[i];

			if ((!last || covered->index > last->index) && (!next || covered->index < next->index))
				next = covered;
		}
		if (!next)
			break;
		json_out_str(out, next->name);
		last = next;
	}
	json_out_end_array(out);
}

void grant_state_write(const struct grant_state *state, struct json_out *out)
{
	json_out_begin_object(out);
	if (state->is_incoherent) {
		json_out_member_bool(out, "incoherent", true);
		json_out_end_object(out);
		return;
	}
	if (state->has_consumed)
		json_out_member_bool(out, "consumed", state->consumed);
	json_out_key(out, "coveredCapabilities");
	write_covered(state, out);
	if (state->approval_id.bytes)
		json_out_member_str(out, "grantApprovalId", state->approval_id);
	if (state->mode != GRANT_MODE_NONE)
		json_out_member_text(out, "grantMode", grant_mode_name(state->mode));
	json_out_member_text(out, "phase", grant_phase_name(state->phase));
	if (state->reason != REVOCATION_NONE)
		json_out_member_text(out, "revocationReason", revocation_reason_name(state->reason));
	json_out_member_text(out, "source", grant_source_name(state->source));
	json_out_member_text(out, "status", status_name(state->phase));
	json_out_end_object(out);
}
