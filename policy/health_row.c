#include "policy/health_row.h"

#include <errno.h>

#include "policy/redact.h"

static const char *const install_names[] = {
	[HEALTH_INSTALL_UNKNOWN] = "unknown",
	[HEALTH_MISSING] = "missing",
	[HEALTH_INSTALLED] = "installed",
};

static const char *const status_names[] = {
	[HEALTH_UNKNOWN] = "unknown",
	[HEALTH_UNHEALTHY] = "unhealthy",
	[HEALTH_DISABLED] = "disabled",
	[HEALTH_AUTH_REQUIRED] = "auth_required",
	[HEALTH_CONFIGURATION_REQUIRED] = "configuration_required",
	[HEALTH_HEALTHY] = "healthy",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *health_install_state_name(enum health_install_state state)
{
	return install_names[state];
}

const char *health_status_name(enum health_status status)
{
	return status_names[status];
}

bool health_install_state_find(struct str name, enum health_install_state *ret_state)
{
	for (size_t i = 0; i < COUNT(install_names); i++) {
		if (str_is(name, install_names[i])) {
			*ret_state = (enum health_install_state)i;
			return true;
		}
	}
	return false;
}

bool health_status_find(struct str name, enum health_status *ret_status)
{
	for (size_t i = 0; i < COUNT(status_names); i++) {
		if (str_is(name, status_names[i])) {
			*ret_status = (enum health_status)i;
			return true;
		}
	}
	return false;
}

/* Two or four digits as a number, or -1. */
static int digits(const char *at, size_t count)
{
	int value = 0;

	for (size_t i = 0; i < count; i++) {
		if (at[i] < '0' || at[i] > '9')
			return -1;
		value = value * 10 + (at[i] - '0');
	}
	return value;
}

static bool is_date(const char *at)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year = digits(at, 4);
	int month = digits(at + 5, 2);
	int day = digits(at + 8, 2);
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	if (year < 0 || at[4] != '-' || at[7] != '-' || month < 1 || month > 12 || day < 1)
		return false;
	return day <= days[month - 1] + (month == 2 && leap);
}

static bool is_clock(const char *at)
{
	int hour = digits(at, 2);
	int minute = digits(at + 3, 2);
	int second = digits(at + 6, 2);

	return at[2] == ':' && at[5] == ':' && hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 && second >= 0 &&
		second <= 60;
}

static bool is_zone(const char *at, size_t len)
{
	int hour;
	int minute;

	if (len == 1)
		return *at == 'Z' || *at == 'z';
	if (len != 6 || (*at != '+' && *at != '-') || at[3] != ':')
		return false;
	hour = digits(at + 1, 2);
	minute = digits(at + 4, 2);
	return hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59;
}

bool health_time_is_valid(struct str text)
{
	size_t at = 19; /* behind YYYY-MM-DDThh:mm:ss */

	if (!text.bytes || text.len < 20 || text.len > 64)
		return false;
	if (!is_date(text.bytes) || (text.bytes[10] != 'T' && text.bytes[10] != 't') || !is_clock(text.bytes + 11))
		return false;
	if (text.bytes[at] == '.') {
		size_t start = ++at;

		while (at < text.len && text.bytes[at] >= '0' && text.bytes[at] <= '9')
			at++;
		if (at == start)
			return false;
	}
	return is_zone(text.bytes + at, text.len - at);
}

static struct str string_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return (struct str){json_string_value(value), json_string_length(value)};
}

/* True when `value` is a row by 1.6; fills all but the texts. */
static bool read_row(struct str mcp_id, const json_t *value, struct health_row *row)
{
	const json_t *error = json_object_get(value, "error");
	const json_t *enabled = json_object_get(value, "enabled");

	if (!json_is_object(value) || !str_equal(string_of(value, "mcpId"), mcp_id))
		return false;
	if (!health_install_state_find(string_of(value, "installState"), &row->install_state) ||
		row->install_state == HEALTH_INSTALL_UNKNOWN)
		return false;
	if (!health_status_find(string_of(value, "status"), &row->status))
		return false;
	if (!json_is_boolean(enabled) || !(json_is_null(error) || json_is_string(error)))
		return false;
	row->enabled = json_is_true(enabled);
	return health_time_is_valid(string_of(value, "checkedAt"));
}

bool health_row_read(
	struct arena *arena, struct str mcp_id, const json_t *value, struct health_row *ret_row, int *ret_error)
{
	struct health_row row = {.mcp_id = mcp_id, .observed = true};
	struct str error;

	*ret_error = 0;
	if (!read_row(mcp_id, value, &row)) {
		*ret_row = (struct health_row){.mcp_id = mcp_id};
		return false;
	}
	error = string_of(value, "error");
	if (error.bytes)
		*ret_error = redact_copy(arena, error, REDACT_FIELD, &row.error);
	row.checked_at = arena_str(arena, string_of(value, "checkedAt"));
	if (!row.checked_at.bytes)
		*ret_error = -ENOMEM;
	*ret_row = row;
	return true;
}

bool health_row_is_healthy(const struct health_row *row)
{
	return row->observed && row->install_state == HEALTH_INSTALLED && row->enabled && row->status == HEALTH_HEALTHY;
}

void health_row_write(const struct health_row *row, bool stored_form, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_member_int(out, "schemaVersion", 1);
	json_out_member_bool(out, "observed", row->observed);
	json_out_member_str(out, "mcpId", row->mcp_id);
	json_out_member_text(out, "installState", health_install_state_name(row->install_state));
	json_out_member_text(out, "status", health_status_name(row->status));
	json_out_member_bool(out, "enabled", row->enabled);
	if (!stored_form) {
		json_out_member_str(out, "error", row->error);
		json_out_member_str(out, "checkedAt", row->checked_at);
	}
	json_out_end_object(out);
}
