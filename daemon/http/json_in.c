#include "daemon/http/json_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/buf.h"
#include "policy/redact.h"
#include "policy/text.h"

enum { POINTER_MAX = 1024, NAME_MAX_SHOWN = 64 };

void json_in_init(struct json_in *in, struct arena *arena)
{
	*in = (struct json_in){.arena = arena};
}

bool json_in_ok(const struct json_in *in)
{
	return in->count == 0 && !in->out_of_memory;
}

/* ---- faults and their pointers */

static void add_step(struct buf *text, struct str name)
{
	buf_putc(text, '/');
	for (size_t i = 0; i < name.len; i++) {
		if (name.bytes[i] == '~')
			buf_puts(text, "~0");
		else if (name.bytes[i] == '/')
			buf_puts(text, "~1");
		else
			buf_putc(text, name.bytes[i]);
	}
}

/* A name from the input as it may be told: a secret that stands there is masked, and what is long is cut. */
static struct str shown_name(struct json_in *in, struct str name)
{
	struct str shown = {0};

	if (name.len <= NAME_MAX_SHOWN && text_is_safe(name))
		return name;
	in->out_of_memory |= redact_copy(in->arena, name, NAME_MAX_SHOWN, &shown) != 0;
	return shown;
}

static void add_place(struct buf *text, const struct json_place *place)
{
	if (!place->parent)
		return;
	add_place(text, place->parent);
	if (place->key.bytes)
		add_step(text, place->key);
	else
		buf_printf(text, "/%zu", place->index);
}

static void add_fault(const struct json_place *place, struct str step, struct str detail)
{
	struct json_in *in = place->in;
	struct json_in_fault *fault;
	struct buf text;

	if (in->count == JSON_IN_FAULTS)
		return;
	if (!in->faults)
		in->faults = ARENA_ARRAY(in->arena, JSON_IN_FAULTS, struct json_in_fault);
	if (!in->faults || !detail.bytes) {
		in->out_of_memory = true;
		return;
	}
	buf_init(&text, POINTER_MAX);
	add_place(&text, place);
	if (step.bytes)
		add_step(&text, shown_name(in, step));
	fault = &in->faults[in->count++];
	fault->pointer = buf_error(&text) ? STR("") : arena_str(in->arena, buf_str(&text));
	fault->detail = detail;
	in->out_of_memory |= !fault->pointer.bytes;
	buf_release(&text);
}

static struct str key_str(const char *key)
{
	return key ? (struct str){key, strlen(key)} : (struct str){0};
}

void json_in_fault(const struct json_place *place, const char *key, const char *detail)
{
	add_fault(place, key_str(key), (struct str){detail, strlen(detail)});
}

/* ---- members */

void json_in_root(struct json_in *in, const json_t *value, struct json_place *ret)
{
	*ret = (struct json_place){.in = in, .value = value, .no_body = !value};
	if (value && !json_is_object(value)) {
		json_in_fault(ret, NULL, "must be an object");
		ret->value = NULL;
	}
}

/* The member, noted as asked for; NULL if it is absent, and a fault if it may not be. */
static const json_t *member(struct json_place *object, const char *key, unsigned rule)
{
	const json_t *value;

	CHECK(object->asked_count < JSON_IN_KEYS);
	object->asked[object->asked_count++] = key;
	value = object->value ? json_object_get(object->value, key) : NULL;
	if ((rule & JSON_NULLABLE) && value && json_is_null(value))
		value = NULL;
	if (!value && (rule & JSON_REQUIRED) && (object->value || object->no_body))
		json_in_fault(object, key, "is required");
	return value;
}

static size_t count_chars(struct str text)
{
	size_t count = 0;

	for (size_t i = 0; i < text.len; i++)
		count += (text.bytes[i] & 0xc0) != 0x80;
	return count;
}

/* What is wrong with a value as a text; a literal, or NULL. */
static const char *text_fault(const json_t *value, size_t max_chars)
{
	if (!json_is_string(value))
		return "must be a text";
	if (count_chars((struct str){json_string_value(value), json_string_length(value)}) > max_chars)
		return "is too long";
	return NULL;
}

static struct str value_str(const json_t *value)
{
	return (struct str){json_string_value(value), json_string_length(value)};
}

struct str json_in_str(struct json_place *object, const char *key, unsigned rule, size_t max_chars)
{
	const json_t *value = member(object, key, rule);
	const char *fault = value ? text_fault(value, max_chars) : NULL;

	if (value && !fault && (rule & JSON_REQUIRED) && json_string_length(value) == 0)
		fault = "must not be empty";
	if (fault)
		json_in_fault(object, key, fault);
	return value && !fault ? value_str(value) : (struct str){0};
}

static struct str list_words(struct arena *arena, const char *const *words)
{
	struct buf text;
	struct str listed;

	buf_init(&text, POINTER_MAX);
	buf_puts(&text, "must be one of: ");
	for (size_t i = 0; words[i]; i++)
		buf_printf(&text, i ? ", %s" : "%s", words[i]);
	CHECK(buf_error(&text) != -EMSGSIZE);
	listed = buf_error(&text) ? (struct str){0} : arena_str(arena, buf_str(&text));
	buf_release(&text);
	return listed;
}

unsigned json_in_enum(struct json_place *object, const char *key, unsigned rule, const char *const *words)
{
	const json_t *value = member(object, key, rule);

	if (!value)
		return 0;
	for (unsigned i = 0; json_is_string(value) && words[i]; i++) {
		if (str_is(value_str(value), words[i]))
			return i + 1;
	}
	add_fault(object, key_str(key), list_words(object->in->arena, words));
	return 0;
}

int64_t json_in_int(struct json_place *object, const char *key, unsigned rule, int64_t min, int64_t max, int64_t absent)
{
	const json_t *value = member(object, key, rule);
	int64_t number;

	if (!value)
		return absent;
	if (!json_is_integer(value)) {
		json_in_fault(object, key, "must be an integer");
		return absent;
	}
	number = json_integer_value(value);
	if (number >= min && number <= max)
		return number;
	add_fault(object, key_str(key),
		arena_printf(object->in->arena, "must be from %lld to %lld", (long long)min, (long long)max));
	return absent;
}

bool json_in_bool(struct json_place *object, const char *key, unsigned rule, bool absent)
{
	const json_t *value = member(object, key, rule);

	if (!value)
		return absent;
	if (json_is_boolean(value))
		return json_is_true(value);
	json_in_fault(object, key, "must be true or false");
	return absent;
}

static bool parse_revision(struct str text, int64_t *ret)
{
	int64_t number = 0;

	if (text.len == 0 || text.len > 18 || (text.len > 1 && text.bytes[0] == '0'))
		return false;
	for (size_t i = 0; i < text.len; i++) {
		if (text.bytes[i] < '0' || text.bytes[i] > '9')
			return false;
		number = number * 10 + (text.bytes[i] - '0');
	}
	*ret = number;
	return true;
}

int64_t json_in_revision(struct json_place *object, const char *key, unsigned rule)
{
	const json_t *value = member(object, key, rule);
	int64_t number = -1;

	if (value && !(json_is_string(value) && parse_revision(value_str(value), &number)))
		json_in_fault(object, key, "must be a revision: a decimal number as text");
	return number;
}

/* ---- times */

/* `digits` decimal digits at text[at], or -1. */
static int digits_at(struct str text, size_t at, size_t digits)
{
	int number = 0;

	if (at + digits > text.len)
		return -1;
	for (size_t i = at; i < at + digits; i++) {
		if (text.bytes[i] < '0' || text.bytes[i] > '9')
			return -1;
		number = number * 10 + (text.bytes[i] - '0');
	}
	return number;
}

static bool is_leap(int year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days from 1970 to the first of a month; the years are few, so counting is clear enough. */
static int64_t days_before(int year, int month, int day)
{
	static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
	int64_t past = year - 1;

	return (past * 365 + past / 4 - past / 100 + past / 400) - 719162 + before[month - 1] +
		(month > 2 && is_leap(year)) + day - 1;
}

static bool parse_date(struct str text, int64_t *ret_days)
{
	static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year = digits_at(text, 0, 4);
	int month = digits_at(text, 5, 2);
	int day = digits_at(text, 8, 2);

	if (year < 1970 || month < 1 || month > 12 || day < 1 || text.bytes[4] != '-' || text.bytes[7] != '-')
		return false;
	if (day > lengths[month - 1] + (month == 2 && is_leap(year)))
		return false;
	*ret_days = days_before(year, month, day);
	return true;
}

/* Minutes east of UTC at the end of the text, which begins at `at`. */
static bool parse_offset(struct str text, size_t at, int *ret_minutes)
{
	int hours;
	int minutes;

	if (at + 1 == text.len && (text.bytes[at] | 0x20) == 'z') {
		*ret_minutes = 0;
		return true;
	}
	if (at + 6 != text.len || text.bytes[at + 3] != ':' || (text.bytes[at] != '+' && text.bytes[at] != '-'))
		return false;
	hours = digits_at(text, at + 1, 2);
	minutes = digits_at(text, at + 4, 2);
	if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59)
		return false;
	*ret_minutes = (text.bytes[at] == '-' ? -1 : 1) * (hours * 60 + minutes);
	return true;
}

bool json_in_time_parse(struct str text, int64_t *ret_ms)
{
	int64_t days;
	int hour, minute, second, east;
	int ms = 0;
	size_t at = 19;

	if (text.len < 20 || text.len > 40 || !parse_date(text, &days) || (text.bytes[10] | 0x20) != 't')
		return false;
	hour = digits_at(text, 11, 2);
	minute = digits_at(text, 14, 2);
	second = digits_at(text, 17, 2);
	if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 || text.bytes[13] != ':' ||
		text.bytes[16] != ':')
		return false;
	if (text.bytes[at] == '.') {
		int scale = 100;

		for (at++; at < text.len && text.bytes[at] >= '0' && text.bytes[at] <= '9'; at++, scale /= 10)
			ms += (text.bytes[at] - '0') * scale;
		if (at == 20)
			return false;
	}
	if (!parse_offset(text, at, &east))
		return false;
	*ret_ms = ((days * 24 + hour) * 60 + minute - east) * 60000 + second * 1000 + ms;
	return *ret_ms >= 0;
}

int64_t json_in_time_ms(struct json_place *object, const char *key, unsigned rule)
{
	const json_t *value = member(object, key, rule);
	int64_t ms = INT64_MIN;

	if (value && !(json_is_string(value) && json_in_time_parse(value_str(value), &ms))) {
		json_in_fault(object, key, "must be a time such as 2026-12-07T00:00:00.000Z");
		return INT64_MIN;
	}
	return ms;
}

/* ---- values within */

const json_t *json_in_any(struct json_place *object, const char *key, unsigned rule)
{
	return member(object, key, rule);
}

static void place_member(struct json_place *ret, struct json_place *parent, struct str key, const json_t *value)
{
	*ret = (struct json_place){.in = parent->in, .value = value, .parent = parent, .key = key};
}

bool json_in_object(struct json_place *object, const char *key, unsigned rule, struct json_place *ret)
{
	const json_t *value = member(object, key, rule);

	if (value && !json_is_object(value)) {
		json_in_fault(object, key, "must be an object");
		value = NULL;
	}
	place_member(ret, object, key_str(key), value);
	return value != NULL;
}

bool json_in_array(struct json_place *object, const char *key, unsigned rule, size_t max_items, struct json_place *ret)
{
	const json_t *value = member(object, key, rule);
	const char *fault = NULL;

	if (value && !json_is_array(value))
		fault = "must be an array";
	else if (value && json_array_size(value) > max_items)
		fault = "has too many items";
	if (fault) {
		json_in_fault(object, key, fault);
		value = NULL;
	}
	place_member(ret, object, key_str(key), value);
	return value != NULL;
}

size_t json_in_size(const struct json_place *array)
{
	return array->value ? json_array_size(array->value) : 0;
}

static void place_item(struct json_place *ret, struct json_place *array, size_t index)
{
	*ret = (struct json_place){.in = array->in, .parent = array, .index = index};
	ret->value = array->value ? json_array_get(array->value, index) : NULL;
}

bool json_in_item_object(struct json_place *array, size_t index, struct json_place *ret)
{
	place_item(ret, array, index);
	if (ret->value && !json_is_object(ret->value)) {
		json_in_fault(ret, NULL, "must be an object");
		ret->value = NULL;
	}
	return ret->value != NULL;
}

struct str json_in_item_str(struct json_place *array, size_t index, size_t max_chars)
{
	struct json_place item;
	const char *fault;

	place_item(&item, array, index);
	if (!item.value)
		return (struct str){0};
	fault = text_fault(item.value, max_chars);
	if (!fault)
		return value_str(item.value);
	json_in_fault(&item, NULL, fault);
	return (struct str){0};
}

size_t json_in_strs(struct json_place *object, const char *key, unsigned rule, size_t max_items, size_t max_chars,
	const struct str **ret)
{
	struct json_place array;
	struct str *texts;
	size_t count;

	*ret = NULL;
	if (!json_in_array(object, key, rule, max_items, &array))
		return 0;
	count = json_in_size(&array);
	texts = ARENA_ARRAY(object->in->arena, count, struct str);
	if (!texts) {
		object->in->out_of_memory = true;
		return 0;
	}
	for (size_t i = 0; i < count; i++)
		texts[i] = json_in_item_str(&array, i, max_chars);
	*ret = texts;
	return count;
}

/* ---- maps */

/* jansson's iterators take no const; they change nothing. */
static json_t *iterable(const struct json_place *place)
{
	return (json_t *)(uintptr_t)place->value;
}

void *json_in_next(const struct json_place *map, void *iterator, struct str *ret_key)
{
	if (!map->value)
		return NULL;
	iterator = iterator ? json_object_iter_next(iterable(map), iterator) : json_object_iter(iterable(map));
	if (iterator)
		*ret_key = (struct str){json_object_iter_key(iterator), json_object_iter_key_len(iterator)};
	return iterator;
}

static void place_entry(struct json_place *ret, struct json_place *map, void *iterator)
{
	struct str key = {json_object_iter_key(iterator), json_object_iter_key_len(iterator)};

	place_member(ret, map, shown_name(map->in, key), json_object_iter_value(iterator));
}

struct str json_in_member_str(struct json_place *map, void *iterator, size_t max_chars)
{
	struct json_place entry;
	const char *fault;

	place_entry(&entry, map, iterator);
	fault = text_fault(entry.value, max_chars);
	if (!fault)
		return value_str(entry.value);
	json_in_fault(&entry, NULL, fault);
	return (struct str){0};
}

bool json_in_member_object(struct json_place *map, void *iterator, struct json_place *ret)
{
	place_entry(ret, map, iterator);
	if (!json_is_object(ret->value)) {
		json_in_fault(ret, NULL, "must be an object");
		ret->value = NULL;
	}
	return ret->value != NULL;
}

static bool was_asked(const struct json_place *object, struct str key)
{
	for (unsigned i = 0; i < object->asked_count; i++) {
		if (str_is(key, object->asked[i]))
			return true;
	}
	return false;
}

void json_in_end(struct json_place *object)
{
	void *at = NULL;
	struct str key;

	while ((at = json_in_next(object, at, &key))) {
		if (!was_asked(object, key))
			add_fault(object, key, STR("is not known here"));
	}
}
