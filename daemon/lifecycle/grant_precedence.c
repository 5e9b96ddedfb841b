#include "daemon/lifecycle/grant_precedence.h"

bool precedence_set_has(const struct precedence_set *set, const struct catalog_capability *capability)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->items[i] == capability)
			return true;
	return false;
}

bool precedence_set_covers(const struct precedence_set *set, const struct precedence_set *needs)
{
	for (size_t i = 0; i < needs->count; i++)
		if (!precedence_set_has(set, needs->items[i]))
			return false;
	return true;
}

static bool set_meets(const struct precedence_set *set, const struct precedence_set *needs)
{
	for (size_t i = 0; i < needs->count; i++)
		if (precedence_set_has(set, needs->items[i]))
			return true;
	return false;
}

bool grant_precedence_is_usable(
	const struct precedence_record *record, const struct precedence_set *needs, int64_t root_revision)
{
	return record->decision == PRECEDENCE_APPROVED && record->root_revision == root_revision &&
		!record->is_expired && precedence_set_covers(&record->capabilities, needs);
}

/* Rows that look at the package's record, when the project's doesn't decide. */
static enum precedence_row package_row(const struct precedence_input *input)
{
	const struct precedence_record *package = &input->package;

	if (package->root_revision != input->root_revision)
		return PRECEDENCE_P6;
	if (package->decision == PRECEDENCE_REVOKED)
		return PRECEDENCE_P8;
	return package->is_expired ? PRECEDENCE_P7 : PRECEDENCE_P5;
}

/* Rows without a record of the package and without a usable one of the project. */
static enum precedence_row project_row(const struct precedence_input *input)
{
	const struct precedence_record *project = &input->project;

	if (project->decision == PRECEDENCE_REVOKED)
		return PRECEDENCE_P9;
	if (project->decision != PRECEDENCE_APPROVED)
		return PRECEDENCE_P13;
	if (project->root_revision != input->root_revision)
		return PRECEDENCE_P10;
	if (set_meets(&project->dropped, &input->needs))
		return PRECEDENCE_P11;
	if (project->is_expired && set_meets(&project->capabilities, &input->needs))
		return PRECEDENCE_P12;
	return PRECEDENCE_P13;
}

static enum precedence_row find_row(const struct precedence_input *input)
{
	const struct precedence_record *package = &input->package;
	bool usable = grant_precedence_is_usable(&input->project, &input->needs, input->root_revision);
	bool is_later = input->project.revision > package->revision;
	bool is_denied = package->decision == PRECEDENCE_DENIED && package->root_revision == input->root_revision;

	if (is_denied)
		return usable && is_later ? PRECEDENCE_P1 : PRECEDENCE_P2;
	if (grant_precedence_is_usable(package, &input->needs, input->root_revision) && !input->is_consumed &&
		!(usable && is_later))
		return PRECEDENCE_P3;
	if (usable)
		return PRECEDENCE_P4;
	return package->decision == PRECEDENCE_NO_RECORD ? project_row(input) : package_row(input);
}

/* Coherent states carry at most GRANT_COVERED_LIMIT capabilities (1.6); what is needed is at most as many. */
static void set_covered(
	struct grant_state *state, const struct precedence_record *record, const struct precedence_set *needs)
{
	const struct precedence_set *set = &record->capabilities;

	if (set->count > GRANT_COVERED_LIMIT && precedence_set_covers(set, needs))
		set = needs;
	state->covered = set->items;
	state->covered_count = set->count < GRANT_COVERED_LIMIT ? set->count : GRANT_COVERED_LIMIT;
	state->approval_id = record->id;
}

static struct grant_state approved_project(const struct precedence_input *input)
{
	struct grant_state state = {
		.phase = GRANT_PHASE_APPROVED,
		.source = GRANT_SOURCE_PROJECT_LEVEL,
		.mode = GRANT_MODE_ALWAYS_ALLOW,
	};

	set_covered(&state, &input->project, &input->needs);
	return state;
}

static struct grant_state approved_package(const struct precedence_input *input)
{
	struct grant_state state = {
		.phase = GRANT_PHASE_APPROVED,
		.source = GRANT_SOURCE_PACKAGE_LOCAL,
		.mode = GRANT_MODE_ALLOW_ONCE,
		.has_consumed = true,
		.consumed = input->is_consumed,
	};

	set_covered(&state, &input->package, &input->needs);
	return state;
}

static struct grant_state revoked(
	enum grant_source source, enum revocation_reason reason, const struct precedence_record *record)
{
	return (struct grant_state){
		.phase = GRANT_PHASE_REVOKED, .source = source, .reason = reason, .approval_id = record->id};
}

static struct grant_state revoked_package(const struct precedence_input *input, enum revocation_reason reason)
{
	return revoked(GRANT_SOURCE_PACKAGE_LOCAL, reason, &input->package);
}

static struct grant_state revoked_project(const struct precedence_input *input, enum revocation_reason reason)
{
	return revoked(GRANT_SOURCE_PROJECT_LEVEL, reason, &input->project);
}

static struct grant_state state_of(enum precedence_row row, const struct precedence_input *input)
{
	switch (row) {
	case PRECEDENCE_P1:
	case PRECEDENCE_P4:
		return approved_project(input);
	case PRECEDENCE_P3:
	case PRECEDENCE_P5:
		return approved_package(input);
	case PRECEDENCE_P6:
		return revoked_package(input, REVOCATION_PROJECT_ROOT_REPOINT);
	case PRECEDENCE_P7:
		return revoked_package(input, REVOCATION_GRANT_EXPIRED);
	case PRECEDENCE_P8:
		return revoked_package(input, REVOCATION_PACKAGE_GRANT_REMOVED);
	case PRECEDENCE_P9:
		return revoked_project(input, REVOCATION_PROJECT_GRANT_REMOVED);
	case PRECEDENCE_P10:
		return revoked_project(input, REVOCATION_PROJECT_ROOT_REPOINT);
	case PRECEDENCE_P11:
		return revoked_project(input, REVOCATION_PROJECT_GRANT_NARROWED);
	case PRECEDENCE_P12:
		return revoked_project(input, REVOCATION_GRANT_EXPIRED);
	case PRECEDENCE_P13:
		return (struct grant_state){.phase = GRANT_PHASE_PROPOSED};
	case PRECEDENCE_P2:
	default:
		return (struct grant_state){
			.phase = GRANT_PHASE_DENIED,
			.source = GRANT_SOURCE_PACKAGE_LOCAL,
			.approval_id = input->package.id,
		};
	}
}

enum precedence_row grant_precedence(const struct precedence_input *input, struct grant_state *ret_state)
{
	enum precedence_row row = find_row(input);

	*ret_state = state_of(row, input);
	return row;
}
