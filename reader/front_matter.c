/* The block is cut out by its lines, and libyaml's events are taken one by one. */
#include "reader/front_matter.h"

#include <errno.h>
#include <string.h>
#include <yaml.h>

#include "policy/cleanup.h"
#include "policy/text.h"

struct anchor {
	struct str name;
	struct str value;
};

struct reading {
	yaml_parser_t parser;
	struct arena *arena;
	struct front_matter *found;
	struct anchor anchors[FRONT_MATTER_ANCHORS_LIMIT];
	size_t anchor_count;
	size_t events;
};

static void reading_release(struct reading *reading)
{
	yaml_parser_delete(&reading->parser);
}

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

static int next(struct reading *reading, yaml_event_t *event)
{
	if (reading->events++ >= FRONT_MATTER_EVENTS_LIMIT)
		return FRONT_MATTER_MALFORMED;
	if (yaml_parser_parse(&reading->parser, event))
		return 0;
	return reading->parser.error == YAML_MEMORY_ERROR ? -ENOMEM : FRONT_MATTER_MALFORMED;
}

static bool begins(const yaml_event_t *event)
{
	return event->type == YAML_MAPPING_START_EVENT || event->type == YAML_SEQUENCE_START_EVENT;
}

static bool ends(const yaml_event_t *event)
{
	return event->type == YAML_MAPPING_END_EVENT || event->type == YAML_SEQUENCE_END_EVENT;
}

/* Passes over the rest of the value that `event` begins. */
static int skip(struct reading *reading, const yaml_event_t *event)
{
	size_t depth = begins(event) ? 1 : 0;

	while (depth > 0) {
		yaml_event_t inner CLEANUP(yaml_event_delete) = {0};
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

static bool is_null(const yaml_event_t *event, struct str value)
{
	if (event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	return value.len == 0 || str_is(value, "~") || str_is(value, "null");
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
	return copy == NULL ? (struct str){0} : text_trim((struct str){copy, len});
}

static struct str bytes_of(const yaml_char_t *bytes, size_t len)
{
	return (struct str){(const char *)bytes, len};
}

static int keep_anchor(struct reading *reading, const yaml_event_t *event, struct str value)
{
	const yaml_char_t *name = event->data.scalar.anchor;
	struct anchor *anchor;

	if (name == NULL || reading->anchor_count == FRONT_MATTER_ANCHORS_LIMIT)
		return 0;
	anchor = &reading->anchors[reading->anchor_count];
	anchor->name = arena_str(reading->arena, bytes_of(name, strlen((const char *)name)));
	anchor->value = value;
	if (anchor->name.bytes == NULL)
		return -ENOMEM;
	reading->anchor_count++;
	return 0;
}

static struct str find_anchor(const struct reading *reading, const yaml_event_t *event)
{
	const yaml_char_t *name = event->data.alias.anchor;
	size_t i = reading->anchor_count;

	while (i-- > 0)
		if (str_equal(reading->anchors[i].name, bytes_of(name, strlen((const char *)name))))
			return reading->anchors[i].value;
	return (struct str){0};
}

/* The text of the value that `event` begins; absent for null and for what is no scalar, which is passed over. */
static int text_of(struct reading *reading, const yaml_event_t *event, size_t limit, struct str *ret)
{
	struct str value;

	*ret = (struct str){0};
	if (event->type == YAML_ALIAS_EVENT)
		*ret = find_anchor(reading, event);
	if (event->type != YAML_SCALAR_EVENT)
		return skip(reading, event);
	value = bytes_of(event->data.scalar.value, event->data.scalar.length);
	if (is_null(event, value))
		return 0;
	value = clean(reading, value, limit);
	if (value.bytes == NULL)
		return -ENOMEM;
	*ret = value;
	return keep_anchor(reading, event, value);
}

static int read_text(struct reading *reading, const yaml_event_t *event, size_t limit, struct str *field)
{
	struct str value;
	int result = text_of(reading, event, limit, &value);

	if (result == 0 && field->bytes == NULL)
		*field = value;
	return result;
}

static int read_tag(struct reading *reading, const yaml_event_t *event)
{
	struct front_matter *found = reading->found;
	struct str tag;
	int result = text_of(reading, event, FRONT_MATTER_NAME_LIMIT, &tag);

	if (result == 0 && tag.len > 0 && found->tag_count < FRONT_MATTER_TAGS_LIMIT)
		found->tags[found->tag_count++] = tag;
	return result;
}

/* Calls `each` for every item of a sequence, or for what stands where one is expected. */
static int read_items(struct reading *reading, const yaml_event_t *event,
	int (*each)(struct reading *reading, const yaml_event_t *event))
{
	if (event->type != YAML_SEQUENCE_START_EVENT)
		return each(reading, event);
	for (;;) {
		yaml_event_t item CLEANUP(yaml_event_delete) = {0};
		int result = next(reading, &item);

		if (result != 0 || item.type == YAML_SEQUENCE_END_EVENT)
			return result;
		result = each(reading, &item);
		if (result != 0)
			return result;
	}
}

/* Calls `each` with every key of the mapping that has begun, and the event its value begins with. A key that is no scalar
 * comes as an absent one. */
static int read_members(struct reading *reading,
	int (*each)(struct reading *reading, struct str key, const yaml_event_t *value, struct str *field),
	struct str *field)
{
	for (;;) {
		yaml_event_t key CLEANUP(yaml_event_delete) = {0}, value CLEANUP(yaml_event_delete) = {0};
		struct str name;
		int result = next(reading, &key);

		if (result != 0 || key.type == YAML_MAPPING_END_EVENT)
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
static int read_by(struct reading *reading, struct str key, const yaml_event_t *value, struct str *field)
{
	return str_is(key, "by") ? read_text(reading, value, FRONT_MATTER_TEXT_LIMIT, field) : skip(reading, value);
}

static int read_at(struct reading *reading, struct str key, const yaml_event_t *value, struct str *field)
{
	return str_is(key, "at") ? read_text(reading, value, FRONT_MATTER_NAME_LIMIT, field) : skip(reading, value);
}

static int read_verification(struct reading *reading, const yaml_event_t *event)
{
	static const struct str human = {"human:", 6};
	struct str by = {0};
	int result;

	if (event->type != YAML_MAPPING_START_EVENT)
		return skip(reading, event);
	result = read_members(reading, read_by, &by);
	reading->found->verified_count += by.len > 0;
	if (by.len > human.len && memcmp(by.bytes, human.bytes, human.len) == 0)
		reading->found->is_human_verified = true;
	return result;
}

static int read_generated(struct reading *reading, const yaml_event_t *event)
{
	if (event->type != YAML_MAPPING_START_EVENT)
		return skip(reading, event);
	return read_members(reading, read_at, &reading->found->generated_at);
}

static int read_field(struct reading *reading, struct str key, const yaml_event_t *value)
{
	struct front_matter *found = reading->found;
	const struct {
		const char *key;
		struct str *field;
		size_t limit;
	} texts[] = {
		{"type", &found->type, FRONT_MATTER_NAME_LIMIT},
		{"title", &found->title, FRONT_MATTER_TEXT_LIMIT},
		{"description", &found->description, FRONT_MATTER_TEXT_LIMIT},
		{"status", &found->status, FRONT_MATTER_NAME_LIMIT},
		{"stale_after", &found->stale_after, FRONT_MATTER_NAME_LIMIT},
		{"timestamp", &found->timestamp, FRONT_MATTER_NAME_LIMIT},
		{"okf_version", &found->okf_version, FRONT_MATTER_NAME_LIMIT},
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (str_is(key, texts[i].key))
			return read_text(reading, value, texts[i].limit, texts[i].field);
	if (str_is(key, "tags"))
		return read_items(reading, value, read_tag);
	if (str_is(key, "verified"))
		return read_items(reading, value, read_verification);
	return str_is(key, "generated") ? read_generated(reading, value) : skip(reading, value);
}

static int read_member(struct reading *reading, struct str key, const yaml_event_t *value, struct str *unused)
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
static int expect(struct reading *reading, const yaml_event_type_t *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		yaml_event_t event CLEANUP(yaml_event_delete) = {0};
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
	static const yaml_event_type_t wanted[] = {
		YAML_STREAM_START_EVENT, YAML_DOCUMENT_START_EVENT, YAML_MAPPING_START_EVENT};

	return expect(reading, wanted, sizeof(wanted) / sizeof(wanted[0]));
}

/* Nothing may follow the mapping. */
static int leave(struct reading *reading)
{
	static const yaml_event_type_t wanted[] = {YAML_DOCUMENT_END_EVENT, YAML_STREAM_END_EVENT};

	return expect(reading, wanted, sizeof(wanted) / sizeof(wanted[0]));
}

static int read_block(struct reading *reading, struct str block)
{
	int result;

	yaml_parser_set_encoding(&reading->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&reading->parser, (const unsigned char *)block.bytes, block.len);
	result = enter(reading);
	if (result == 0)
		result = read_members(reading, read_member, NULL);
	if (result == 0)
		result = leave(reading);
	return result;
}

int front_matter_read(struct arena *arena, struct str text, struct front_matter *ret, struct str *ret_body)
{
	struct reading reading CLEANUP(reading_release) = {.arena = arena, .found = ret};
	struct str block;
	int result;

	*ret = (struct front_matter){0};
	result = cut_block(text, &block, ret_body);
	if (result != 0)
		return result;
	if (!yaml_parser_initialize(&reading.parser))
		return -ENOMEM;
	result = read_block(&reading, block);
	if (result != 0)
		*ret = (struct front_matter){0};
	return result;
}
