/* The lenient door: the body, and what was dropped of it. */
#include "agents/job.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agents/job_private.h"

enum { PLACE_BYTES = 512, DROPS_FIRST = 32 };

static bool grow_drops(struct job_reading *reading)
{
	size_t size = reading->drop_size > 0 ? 2 * reading->drop_size : DROPS_FIRST;
	struct job_drop *drops = ARENA_ARRAY(reading->arena, size, struct job_drop);

	if (drops == NULL) {
		reading->failed = true;
		return false;
	}
	if (reading->job->drop_count > 0)
		memcpy(drops, reading->job->drops, reading->job->drop_count * sizeof(*drops));
	reading->job->drops = drops;
	reading->drop_size = size;
	return true;
}

void job_drop(struct job_reading *reading, bool is_whole, const char *reason, const char *pointer, ...)
{
	char text[2 * PLACE_BYTES];
	struct job_drop *drop = NULL;
	va_list args;

	if (reading->job->drop_count == reading->drop_size && !grow_drops(reading))
		return;
	va_start(args, pointer);
	(void)vsnprintf(text, sizeof(text), pointer, args);
	va_end(args);
	drop = &reading->job->drops[reading->job->drop_count++];
	*drop = (struct job_drop){
		.pointer = arena_str(reading->arena, (struct str){text, strlen(text)}),
		.reason = arena_str(reading->arena, (struct str){reason, strlen(reason)}),
		.is_whole = is_whole,
	};
	reading->failed = reading->failed || reading->arena->failed;
}

struct str job_text(const json_t *value)
{
	return json_is_string(value) ? (struct str){json_string_value(value), json_string_length(value)}
				     : (struct str){0};
}

static void read_server_list(struct job_reading *reading, const json_t *list)
{
	size_t index;
	json_t *item;

	if (list != NULL && !json_is_array(list) && !json_is_null(list))
		job_drop(reading, true, "must be an array", "/servers");
	json_array_foreach(list, index, item)
	{
		char place[PLACE_BYTES];

		(void)snprintf(place, sizeof(place), "/servers/%zu", index);
		job_read_server(reading, job_text(json_object_get(item, "id")), item, place);
	}
}

static void read_server_map(struct job_reading *reading, json_t *map)
{
	const char *name;
	size_t name_len;
	json_t *item;

	if (map != NULL && !json_is_object(map) && !json_is_null(map))
		job_drop(reading, true, "must be an object", "/mcpServers");
	json_object_keylen_foreach(map, name, name_len, item)
	{
		struct str id = {name, name_len};
		char place[PLACE_BYTES];

		(void)snprintf(place, sizeof(place), "/mcpServers/%s", spec_pointer_step(reading->arena, id));
		job_read_server(reading, id, item, place);
	}
}

static void read_skills(struct job_reading *reading, const json_t *list)
{
	size_t index;
	const json_t *item;

	if (list != NULL && !json_is_array(list) && !json_is_null(list))
		job_drop(reading, true, "must be an array", "/skills");
	json_array_foreach(list, index, item)
	{
		char place[PLACE_BYTES];

		(void)snprintf(place, sizeof(place), "/skills/%zu", index);
		job_read_skill(reading, item, place);
	}
}

int job_read(struct arena *arena, json_t *body, struct job *ret)
{
	struct job_reading reading = {.arena = arena, .job = ret};

	*ret = (struct job){.held = json_array()};
	ret->servers = ARENA_ARRAY(arena, SPEC_SERVERS_LIMIT, struct spec);
	ret->skills = ARENA_ARRAY(arena, SKILLS_LIMIT, struct skill);
	if (ret->held == NULL || ret->servers == NULL || ret->skills == NULL)
		return -ENOMEM;
	if (!json_is_object(body))
		job_drop(&reading, true, "must be an object", "%s", "");
	read_server_list(&reading, json_object_get(body, "servers"));
	read_server_map(&reading, json_object_get(body, "mcpServers"));
	read_skills(&reading, json_object_get(body, "skills"));
	return reading.failed || arena->failed ? -ENOMEM : 0;
}

void job_release(struct job *job)
{
	json_decref(job->held);
	job->held = NULL;
}
