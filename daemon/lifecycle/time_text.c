#include "daemon/lifecycle/time_text.h"

#include <stdio.h>
#include <string.h>

enum { MS_A_SECOND = 1000, SECONDS_A_DAY = 86400 };

#define LAST_MS INT64_C(253402300799999) /* 9999-12-31T23:59:59.999Z */

struct moment {
	int64_t year;
	int month, day, hour, minute, second, millisecond;
};

/* Days since 1970-01-01 in the proleptic Gregorian calendar; years begin in March, so that a leap day is the last one. */
static int64_t days_of(int64_t year, int month, int day)
{
	int64_t shifted = month <= 2 ? year - 1 : year;
	int64_t era = shifted / 400;
	int64_t year_of_era = shifted - era * 400;
	int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

static struct moment moment_of(int64_t at)
{
	int64_t days = at / MS_A_SECOND / SECONDS_A_DAY;
	int64_t rest = at / MS_A_SECOND % SECONDS_A_DAY;
	int64_t shifted = days + 719468;
	int64_t era = shifted / 146097;
	int64_t day_of_era = shifted - era * 146097;
	int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int64_t shifted_month = (5 * day_of_year + 2) / 153;
	int month = (int)(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);

	return (struct moment){
		.year = year_of_era + era * 400 + (month <= 2),
		.month = month,
		.day = (int)(day_of_year - (153 * shifted_month + 2) / 5 + 1),
		.hour = (int)(rest / 3600),
		.minute = (int)(rest / 60 % 60),
		.second = (int)(rest % 60),
		.millisecond = (int)(at % MS_A_SECOND),
	};
}

static int64_t clamp(int64_t at)
{
	if (at < 0)
		return 0;
	return at > LAST_MS ? LAST_MS : at;
}

static void put_digits(char *text, int width, int64_t value)
{
	for (int i = width - 1; i >= 0; i--, value /= 10)
		text[i] = (char)('0' + value % 10);
}

void time_text_write(int64_t at, char ret_text[static TIME_TEXT_SIZE])
{
	struct moment moment = moment_of(clamp(at));

	memcpy(ret_text, "0000-00-00T00:00:00.000Z", TIME_TEXT_SIZE);
	put_digits(ret_text, 4, moment.year);
	put_digits(ret_text + 5, 2, moment.month);
	put_digits(ret_text + 8, 2, moment.day);
	put_digits(ret_text + 11, 2, moment.hour);
	put_digits(ret_text + 14, 2, moment.minute);
	put_digits(ret_text + 17, 2, moment.second);
	put_digits(ret_text + 20, 3, moment.millisecond);
}

struct str time_text(struct arena *arena, int64_t at)
{
	char text[TIME_TEXT_SIZE];

	if (at == 0)
		return (struct str){0};
	time_text_write(at, text);
	return arena_str(arena, (struct str){text, TIME_TEXT_SIZE - 1});
}

struct str time_text_clock(struct arena *arena, int64_t at, int64_t now)
{
	static const char months[12][4] = {
		"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	struct moment moment = moment_of(clamp(at));
	struct moment today = moment_of(clamp(now));

	if (at == 0)
		return (struct str){0};
	if (moment.year == today.year && moment.month == today.month && moment.day == today.day)
		return arena_printf(arena, "%02d:%02d UTC", moment.hour, moment.minute);
	return arena_printf(
		arena, "%d %s %02d:%02d UTC", moment.day, months[moment.month - 1], moment.hour, moment.minute);
}

struct str time_text_age(struct arena *arena, int64_t span_ms)
{
	long long seconds = (long long)(span_ms < 0 ? 0 : span_ms / MS_A_SECOND);

	if (seconds < 120)
		return arena_printf(arena, "%lld s", seconds);
	if (seconds < 2 * 3600)
		return arena_printf(arena, "%lld min", seconds / 60);
	if (seconds < 2 * SECONDS_A_DAY)
		return arena_printf(arena, "%lld h", seconds / 3600);
	return arena_printf(arena, "%lld d", seconds / SECONDS_A_DAY);
}

static bool take_digits(struct str *rest, size_t width, int *ret)
{
	int value = 0;

	if (rest->len < width)
		return false;
	for (size_t i = 0; i < width; i++) {
		if (rest->bytes[i] < '0' || rest->bytes[i] > '9')
			return false;
		value = value * 10 + (rest->bytes[i] - '0');
	}
	rest->bytes += width;
	rest->len -= width;
	*ret = value;
	return true;
}

static bool take_one_of(struct str *rest, const char *bytes)
{
	if (rest->len == 0 || strchr(bytes, rest->bytes[0]) == NULL || rest->bytes[0] == '\0')
		return false;
	rest->bytes++;
	rest->len--;
	return true;
}

/* ".123456": the first three digits count. */
static bool take_fraction(struct str *rest, int *ret_millisecond)
{
	int scale = 100;
	int digit = 0;
	size_t count = 0;

	*ret_millisecond = 0;
	if (!take_one_of(rest, "."))
		return true;
	for (; take_digits(rest, 1, &digit); count++, scale /= 10)
		*ret_millisecond += digit * scale;
	return count > 0;
}

static bool take_zone(struct str *rest, int *ret_offset_minutes)
{
	int hours = 0;
	int minutes = 0;
	char sign = rest->len > 0 ? rest->bytes[0] : 'Z';

	*ret_offset_minutes = 0;
	if (take_one_of(rest, "Zz"))
		return true;
	if (!take_one_of(rest, "+-") || !take_digits(rest, 2, &hours) || !take_one_of(rest, ":") ||
		!take_digits(rest, 2, &minutes) || hours > 23 || minutes > 59)
		return false;
	*ret_offset_minutes = (sign == '-' ? -1 : 1) * (hours * 60 + minutes);
	return true;
}

static int days_in_month(int year, int month)
{
	static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return month == 2 && is_leap ? 29 : days[month - 1];
}

bool time_text_read(struct str text, int64_t *ret_at)
{
	struct str rest = text;
	int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, millisecond = 0, offset = 0;
	int64_t seconds = 0;

	if (text.bytes == NULL || !take_digits(&rest, 4, &year) || !take_one_of(&rest, "-") ||
		!take_digits(&rest, 2, &month) || !take_one_of(&rest, "-") || !take_digits(&rest, 2, &day) ||
		!take_one_of(&rest, "Tt ") || !take_digits(&rest, 2, &hour) || !take_one_of(&rest, ":") ||
		!take_digits(&rest, 2, &minute) || !take_one_of(&rest, ":") || !take_digits(&rest, 2, &second) ||
		!take_fraction(&rest, &millisecond) || !take_zone(&rest, &offset) || rest.len != 0)
		return false;
	if (month < 1 || month > 12 || day < 1 || day > days_in_month(year, month) || hour > 23 || minute > 59 ||
		second > 60 || year < 1970)
		return false;
	seconds = days_of(year, month, day) * SECONDS_A_DAY + hour * 3600 + minute * 60 + second - offset * 60;
	*ret_at = seconds * MS_A_SECOND + millisecond;
	return *ret_at >= 0 && *ret_at <= LAST_MS;
}

void time_text_member(struct json_out *out, const char *key, int64_t at)
{
	char text[TIME_TEXT_SIZE];

	if (at == 0) {
		json_out_member_null(out, key);
		return;
	}
	time_text_write(at, text);
	json_out_member_text(out, key, text);
}
