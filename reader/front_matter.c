/* The block is cut out by its lines, and its events are taken one by one. */
#include "reader/front_matter.h"

#include <errno.h>
#include <string.h>

#include "policy/cleanup.h"
#include "policy/text.h"
#include "reader/front_matter_parts.h"

struct anchor {
	struct str name;
	struct str value;
};

struct reading {
	int (*next)(void *source, struct front_event *ret); /* tells the events */
	void *source;
	struct arena *arena;
	struct front_matter *found;
	struct anchor anchors[FRONT_MATTER_ANCHORS_LIMIT];
	size_t anchor_count;
	size_t events;
};

static struct str behind(struct str text, size_t count)
{
	return (struct str){text.bytes + count, text.len - count};
}

/* The length of the line that `text` begins with, its end included. */
static size_t line_length(struct str text)
{
	const char *end = memchr(text.bytes, '\n', text.len);

	return end == NULL ? text.len : (size_t)(end - text.bytes) + 1;
}

static bool is_fence(struct str line)
{
	if (line.len < 3 || line.bytes[0] != '-')
		return false;
	while (line.len > 0 && strchr(" \t\r\n", line.bytes[line.len - 1]) != NULL)
		line.len--;
	return str_is(line, "---");
}

/* 0, *ret_block and *ret_body, or a documented result. */
static int cut_block(struct str text, struct str *ret_block, struct str *ret_body)
{
	static const struct str mark = {"\xEF\xBB\xBF", 3};
	struct str rest = text, line;
	const char *begin;

	*ret_body = text;
	if (rest.len >= mark.len && memcmp(rest.bytes, mark.bytes, mark.len) == 0)
		rest = behind(rest, mark.len);
	line = (struct str){rest.bytes, line_length(rest)};
	if (!is_fence(line))
		return FRONT_MATTER_NONE;
	rest = behind(rest, line.len);
	for (begin = rest.bytes; rest.len > 0; rest = behind(rest, line.len)) {
		line = (struct str){rest.bytes, line_length(rest)};
		if (!is_fence(line))
			continue;
		*ret_block = (struct str){begin, (size_t)(rest.bytes - begin)};
		*ret_body = behind(rest, line.len);
		return ret_block->len > FRONT_MATTER_BYTES_LIMIT ? FRONT_MATTER_MALFORMED : 0;
	}
	return FRONT_MATTER_MALFORMED;
}

static int next(struct reading *reading, struct front_event *event)
{
	if (reading->events++ >= FRONT_MATTER_EVENTS_LIMIT)
		return FRONT_MATTER_MALFORMED;
	return reading->next(reading->source, event);
}

static bool begins(const struct front_event *event)
{
	return event->type == FRONT_MAPPING_START || event->type == FRONT_SEQUENCE_START;
}

static bool ends(const struct front_event *event)
{
	return event->type == FRONT_MAPPING_END || event->type == FRONT_SEQUENCE_END;
}

/* Passes over the rest of the value that `event` begins. */
static int skip(struct reading *reading, const struct front_event *event)
{
	size_t depth = begins(event) ? 1 : 0;

	while (depth > 0) {
		struct front_event inner;
		int result = next(reading, &inner);

		if (result != 0)
			return result;
		if (begins(&inner) && ++depth > FRONT_MATTER_DEPTH_LIMIT)
			return FRONT_MATTER_MALFORMED;
		if (ends(&inner))
			depth--;
	}
	return 0;
}

static bool is_null(const struct front_event *event, struct str value)
{
	if (!event->is_plain)
		return false;
	return value.len == 0 || str_is(value, "~") || str_is(value, "null");
}

/* No white space, and nothing that could be some. */
static bool is_graphic(char byte)
{
	return byte > 0x20 && byte < 0x7F;
}

static struct str trimmed(struct str text)
{
	if (text.len > 0 && is_graphic(text.bytes[0]) && is_graphic(text.bytes[text.len - 1]))
		return text;
	return text_trim(text);
}

/* On one line, cut between two characters. Absent bytes: memory is out. */
static struct str clean(struct reading *reading, struct str value, size_t limit)
{
	char *copy;
	size_t i, len = value.len;

	if (len > limit)
		for (len = limit; len > 0 && ((unsigned char)value.bytes[len] & 0xC0) == 0x80;)
			len--;
	copy = arena_copy(reading->arena, value.bytes, len);
	for (i = 0; copy != NULL && i < len; i++)
		if ((unsigned char)copy[i] < 0x20 || copy[i] == 0x7F)
			copy[i] = ' ';
	return copy == NULL ? (struct str){0} : trimmed((struct str){copy, len});
}

static int keep_anchor(struct reading *reading, const struct front_event *event, struct str value)
{
	struct anchor *anchor;

	if (event->anchor.bytes == NULL || reading->anchor_count == FRONT_MATTER_ANCHORS_LIMIT)
		return 0;
	anchor = &reading->anchors[reading->anchor_count];
	anchor->name = event->anchor;
	anchor->value = value;
	reading->anchor_count++;
	return 0;
}

static struct str find_anchor(const struct reading *reading, const struct front_event *event)
{
	size_t i = reading->anchor_count;

	while (i-- > 0)
		if (str_equal(reading->anchors[i].name, event->anchor))
			return reading->anchors[i].value;
	return (struct str){0};
}

/* The text of the value that `event` begins; absent for null and for what is no scalar, which is passed over. */
static int text_of(struct reading *reading, const struct front_event *event, size_t limit, struct str *ret)
{
	struct str value;

	*ret = (struct str){0};
	if (event->type == FRONT_ALIAS)
		*ret = find_anchor(reading, event);
	if (event->type != FRONT_SCALAR)
		return skip(reading, event);
	value = event->value;
	if (is_null(event, value))
		return 0;
	value = clean(reading, value, limit);
	if (value.bytes == NULL)
		return -ENOMEM;
	*ret = value;
	return keep_anchor(reading, event, value);
}

static int read_text(struct reading *reading, const struct front_event *event, size_t limit, struct str *field)
{
	struct str value;
	int result = text_of(reading, event, limit, &value);

	if (result == 0 && field->bytes == NULL)
		*field = value;
	return result;
}

static int read_tag(struct reading *reading, const struct front_event *event)
{
	struct front_matter *found = reading->found;
	struct str tag;
	int result = text_of(reading, event, FRONT_MATTER_NAME_LIMIT, &tag);

	if (result == 0 && tag.len > 0 && found->tag_count < FRONT_MATTER_TAGS_LIMIT)
		found->tags[found->tag_count++] = tag;
	return result;
}

/* Calls `each` for every item of a sequence, or for what stands where one is expected. */
static int read_items(struct reading *reading, const struct front_event *event,
	int (*each)(struct reading *reading, const struct front_event *event))
{
	if (event->type != FRONT_SEQUENCE_START)
		return each(reading, event);
	for (;;) {
		struct front_event item;
		int result = next(reading, &item);

		if (result != 0 || item.type == FRONT_SEQUENCE_END)
			return result;
		result = each(reading, &item);
		if (result != 0)
			return result;
	}
}

/* Calls `each` with every key of the mapping that has begun, and the event its value begins with. A key that is no scalar
 * comes as an absent one. */
static int read_members(struct reading *reading,
	int (*each)(struct reading *reading, struct str key, const struct front_event *value, struct str *field),
	struct str *field)
{
	for (;;) {
		struct front_event key, value;
		struct str name;
		int result = next(reading, &key);

		if (result != 0 || key.type == FRONT_MAPPING_END)
			return result;
		result = text_of(reading, &key, FRONT_MATTER_NAME_LIMIT, &name);
		if (result == 0)
			result = next(reading, &value);
		if (result == 0)
			result = each(reading, name, &value, field);
		if (result != 0)
			return result;
	}
}

/* The member "by" of a verification, or "at" of what generated, whichever `field` stands for. */
static int read_by(struct reading *reading, struct str key, const struct front_event *value, struct str *field)
{
	return str_is(key, "by") ? read_text(reading, value, FRONT_MATTER_TEXT_LIMIT, field) : skip(reading, value);
}

static int read_at(struct reading *reading, struct str key, const struct front_event *value, struct str *field)
{
	return str_is(key, "at") ? read_text(reading, value, FRONT_MATTER_NAME_LIMIT, field) : skip(reading, value);
}

static int read_verification(struct reading *reading, const struct front_event *event)
{
	static const struct str human = {"human:", 6};
	struct str by = {0};
	int result;

	if (event->type != FRONT_MAPPING_START)
		return skip(reading, event);
	result = read_members(reading, read_by, &by);
	reading->found->verified_count += by.len > 0;
	if (by.len > human.len && memcmp(by.bytes, human.bytes, human.len) == 0)
		reading->found->is_human_verified = true;
	return result;
}

static int read_generated(struct reading *reading, const struct front_event *event)
{
	if (event->type != FRONT_MAPPING_START)
		return skip(reading, event);
	return read_members(reading, read_at, &reading->found->generated_at);
}

/* Fields that are one text. */
static const struct text_field {
	struct str key;
	size_t at; /* in struct front_matter */
	size_t limit;
} text_fields[] = {
	{{"type", 4}, offsetof(struct front_matter, type), FRONT_MATTER_NAME_LIMIT},
	{{"title", 5}, offsetof(struct front_matter, title), FRONT_MATTER_TEXT_LIMIT},
	{{"description", 11}, offsetof(struct front_matter, description), FRONT_MATTER_TEXT_LIMIT},
	{{"status", 6}, offsetof(struct front_matter, status), FRONT_MATTER_NAME_LIMIT},
	{{"stale_after", 11}, offsetof(struct front_matter, stale_after), FRONT_MATTER_NAME_LIMIT},
	{{"timestamp", 9}, offsetof(struct front_matter, timestamp), FRONT_MATTER_NAME_LIMIT},
	{{"okf_version", 11}, offsetof(struct front_matter, okf_version), FRONT_MATTER_NAME_LIMIT},
};

static int read_field(struct reading *reading, struct str key, const struct front_event *value)
{
	size_t i;

	for (i = 0; i < sizeof(text_fields) / sizeof(text_fields[0]); i++) {
		const struct text_field *field = &text_fields[i];

		if (str_equal(key, field->key))
			return read_text(reading, value, field->limit,
				(struct str *)(void *)((char *)reading->found + field->at));
	}
	if (str_is(key, "tags"))
		return read_items(reading, value, read_tag);
	if (str_is(key, "verified"))
		return read_items(reading, value, read_verification);
	return str_is(key, "generated") ? read_generated(reading, value) : skip(reading, value);
}

static int read_member(struct reading *reading, struct str key, const struct front_event *value, struct str *unused)
{
	struct front_matter *found = reading->found;
	size_t i;

	(void)unused;
	if (key.len == 0)
		return skip(reading, value);
	for (i = 0; i < found->key_count; i++)
		if (str_equal(found->keys[i], key))
			return skip(reading, value);
	if (found->key_count < FRONT_MATTER_KEYS_LIMIT)
		found->keys[found->key_count++] = key;
	return read_field(reading, key, value);
}

/* 0: these events come next. */
static int expect(struct reading *reading, const enum front_event_type *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct front_event event;
		int result = next(reading, &event);

		if (result != 0)
			return result;
		if (event.type != wanted[i])
			return FRONT_MATTER_MALFORMED;
	}
	return 0;
}

/* Up to the block's mapping: 0, and its members follow. */
static int enter(struct reading *reading)
{
	static const enum front_event_type wanted[] = {FRONT_STREAM_START, FRONT_DOCUMENT_START, FRONT_MAPPING_START};

	return expect(reading, wanted, sizeof(wanted) / sizeof(wanted[0]));
}

/* Nothing may follow the mapping. */
static int leave(struct reading *reading)
{
	static const enum front_event_type wanted[] = {FRONT_DOCUMENT_END, FRONT_STREAM_END};

	return expect(reading, wanted, sizeof(wanted) / sizeof(wanted[0]));
}

static int read_events(struct reading *reading)
{
	int result = enter(reading);

	if (result == 0)
		result = read_members(reading, read_member, NULL);
	if (result == 0)
		result = leave(reading);
	return result;
}

static int read_plain(struct arena *arena, struct str block, struct front_matter *ret)
{
	struct front_plain plain;
	struct reading reading = {.next = front_plain_next, .source = &plain, .arena = arena, .found = ret};

	front_plain_init(&plain, arena, block);
	return read_events(&reading);
}

static int read_any(struct arena *arena, struct str block, struct front_matter *ret)
{
	CLEANUP(front_yaml_close) struct front_yaml *yaml = NULL;
	struct reading reading = {.next = front_yaml_next, .arena = arena, .found = ret};
	int result = front_yaml_open(arena, block, &yaml);

	reading.source = yaml;
	*ret = (struct front_matter){0};
	return result == 0 ? read_events(&reading) : result;
}

int front_matter_read(struct arena *arena, struct str text, struct front_matter *ret, struct str *ret_body)
{
	struct str block;
	int result;

	*ret = (struct front_matter){0};
	result = cut_block(text, &block, ret_body);
	if (result != 0)
		return result;
	result = read_plain(arena, block, ret);
	if (result == FRONT_PLAIN_UNKNOWN)
		result = read_any(arena, block, ret);
	if (result != 0)
		*ret = (struct front_matter){0};
	return result;
}
