/* A YAML mapping of scalars from standard input, as a JSON object: what another reader than ours makes of front matter. Exit 1 for
 * anything else, also for a value that isn't quoted and so may be no text. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

static yaml_event_t next(yaml_parser_t *parser)
{
	yaml_event_t event;

	if (!yaml_parser_parse(parser, &event))
		exit(1);
	return event;
}

static void expect(yaml_parser_t *parser, yaml_event_type_t type)
{
	yaml_event_t event = next(parser);

	if (event.type != type)
		exit(1);
	yaml_event_delete(&event);
}

int main(void)
{
	json_t *pairs = json_object();
	yaml_parser_t parser;
	int result;

	if (!yaml_parser_initialize(&parser))
		return 1;
	yaml_parser_set_input_file(&parser, stdin);
	expect(&parser, YAML_STREAM_START_EVENT);
	expect(&parser, YAML_DOCUMENT_START_EVENT);
	expect(&parser, YAML_MAPPING_START_EVENT);
	for (;;) {
		yaml_event_t key = next(&parser);
		yaml_event_t value;

		if (key.type == YAML_MAPPING_END_EVENT) {
			yaml_event_delete(&key);
			break;
		}
		value = next(&parser);
		if (key.type != YAML_SCALAR_EVENT || value.type != YAML_SCALAR_EVENT ||
			value.data.scalar.style != YAML_DOUBLE_QUOTED_SCALAR_STYLE)
			return 1;
		if (json_object_set_new(pairs, (const char *)key.data.scalar.value,
			    json_stringn((const char *)value.data.scalar.value, value.data.scalar.length)) != 0)
			return 1;
		yaml_event_delete(&key);
		yaml_event_delete(&value);
	}
	expect(&parser, YAML_DOCUMENT_END_EVENT);
	expect(&parser, YAML_STREAM_END_EVENT);
	yaml_parser_delete(&parser);
	result = json_dumpf(pairs, stdout, JSON_COMPACT) == 0 ? 0 : 1;
	json_decref(pairs);
	return result;
}
