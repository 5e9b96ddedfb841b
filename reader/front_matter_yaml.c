/* Front matter's events from libyaml: the only file that sees yaml.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "policy/cleanup.h"
#include "reader/front_matter_parts.h"

struct front_yaml {
	yaml_parser_t parser;
	struct arena *arena;
};

int front_yaml_open(struct arena *arena, struct str block, struct front_yaml **ret)
{
	struct front_yaml *yaml = calloc(1, sizeof(*yaml));

	if (yaml == NULL || !yaml_parser_initialize(&yaml->parser)) {
		free(yaml);
		return -ENOMEM;
	}
	yaml->arena = arena;
	yaml_parser_set_encoding(&yaml->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&yaml->parser, (const unsigned char *)block.bytes, block.len);
	*ret = yaml;
	return 0;
}

void front_yaml_close(struct front_yaml **yaml)
{
	if (*yaml != NULL)
		yaml_parser_delete(&(*yaml)->parser);
	free(*yaml);
	*yaml = NULL;
}

static enum front_event_type type_of(const yaml_event_t *event)
{
	static const enum front_event_type types[] = {
		[YAML_NO_EVENT] = FRONT_NOTHING,
		[YAML_STREAM_START_EVENT] = FRONT_STREAM_START,
		[YAML_STREAM_END_EVENT] = FRONT_STREAM_END,
		[YAML_DOCUMENT_START_EVENT] = FRONT_DOCUMENT_START,
		[YAML_DOCUMENT_END_EVENT] = FRONT_DOCUMENT_END,
		[YAML_ALIAS_EVENT] = FRONT_ALIAS,
		[YAML_SCALAR_EVENT] = FRONT_SCALAR,
		[YAML_SEQUENCE_START_EVENT] = FRONT_SEQUENCE_START,
		[YAML_SEQUENCE_END_EVENT] = FRONT_SEQUENCE_END,
		[YAML_MAPPING_START_EVENT] = FRONT_MAPPING_START,
		[YAML_MAPPING_END_EVENT] = FRONT_MAPPING_END,
	};

	CHECK((size_t)event->type < sizeof(types) / sizeof(types[0]));
	return types[event->type];
}

static struct str copy(struct arena *arena, const yaml_char_t *bytes, size_t len)
{
	return arena_str(arena, (struct str){(const char *)bytes, len});
}

static struct str copy_name(struct arena *arena, const yaml_char_t *name)
{
	return name == NULL ? (struct str){0} : copy(arena, name, strlen((const char *)name));
}

/* libyaml's own text ends with its event, so it is copied: together it is hardly longer than the block. */
static int take(struct arena *arena, const yaml_event_t *event, struct front_event *ret)
{
	*ret = (struct front_event){.type = type_of(event)};
	if (event->type == YAML_ALIAS_EVENT)
		ret->anchor = copy_name(arena, event->data.alias.anchor);
	if (event->type == YAML_SCALAR_EVENT) {
		ret->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
		ret->value = copy(arena, event->data.scalar.value, event->data.scalar.length);
		ret->anchor = copy_name(arena, event->data.scalar.anchor);
	}
	return arena->failed ? -ENOMEM : 0;
}

int front_yaml_next(void *arg, struct front_event *ret)
{
	struct front_yaml *yaml = arg;
	CLEANUP(yaml_event_delete) yaml_event_t event = {0};

	if (yaml_parser_parse(&yaml->parser, &event))
		return take(yaml->arena, &event, ret);
	return yaml->parser.error == YAML_MEMORY_ERROR ? -ENOMEM : FRONT_MATTER_MALFORMED;
}
