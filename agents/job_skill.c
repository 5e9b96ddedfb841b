/* The lenient door: one skill. */
#include <string.h>

#include "agents/job_private.h"

/* The same path, or one of them would have to be a file and a folder. */
static bool is_taken(const struct skill *skill, struct str path)
{
	for (size_t i = 0; i < skill->resource_count; i++) {
		struct str other = skill->resources[i].path;
		struct str longer = path.len > other.len ? path : other;
		struct str shorter = path.len > other.len ? other : path;

		if (memcmp(longer.bytes, shorter.bytes, shorter.len) == 0 &&
			(longer.len == shorter.len || longer.bytes[shorter.len] == '/'))
			return true;
	}
	return false;
}

static void read_resource(struct job_reading *reading, struct skill *skill, const json_t *value, const char *place)
{
	struct str content = job_text(json_object_get(value, "content"));
	struct str path = {0};
	const char *why = NULL;
	int r = skill_path(reading->arena, job_text(json_object_get(value, "relPath")), &path, &why);

	if (r < 0)
		reading->failed = true;
	else if (r == SKILL_PATH_REFUSED)
		job_drop(reading, false, why, "%s/relPath", place);
	else if (content.bytes == NULL)
		job_drop(reading, false, "must be a text", "%s/content", place);
	else if (content.len > SKILL_BYTES_LIMIT)
		job_drop(reading, false, "is longer than 1 MiB", "%s/content", place);
	else if (is_taken(skill, path))
		job_drop(reading, false, "another resource has this path", "%s/relPath", place);
	else if (skill->resource_count == SKILL_RESOURCES_LIMIT)
		job_drop(reading, false, "there are 256 resources already", "%s", place);
	else
		skill->resources[skill->resource_count++] = (struct skill_resource){path, content};
}

static void read_resources(struct job_reading *reading, struct skill *skill, const json_t *list, const char *place)
{
	size_t size = json_array_size(list) < SKILL_RESOURCES_LIMIT ? json_array_size(list) : SKILL_RESOURCES_LIMIT;
	size_t index;
	const json_t *item;

	skill->resources = ARENA_ARRAY(reading->arena, size, struct skill_resource);
	if (skill->resources == NULL) {
		reading->failed = true;
		return;
	}
	if (list != NULL && !json_is_array(list) && !json_is_null(list))
		job_drop(reading, false, "must be an array", "%s/resources", place);
	json_array_foreach(list, index, item)
	{
		struct str at = arena_printf(reading->arena, "%s/resources/%zu", place, index);

		if (at.bytes != NULL)
			read_resource(reading, skill, item, at.bytes);
	}
}

static const char *refusal_of(const struct job *job, const struct skill *skill, const json_t *value)
{
	if (!json_is_object(value))
		return "must be an object";
	if (skill->instructions.len == 0)
		return "it has no instructions";
	if (skill->instructions.len > SKILL_BYTES_LIMIT || skill->description.len > SKILL_BYTES_LIMIT)
		return "its instructions or description are longer than 1 MiB";
	for (size_t i = 0; i < job->skill_count; i++)
		if (str_equal(job->skills[i].name, skill->name))
			return "another skill has this name";
	return job->skill_count == SKILLS_LIMIT ? "there are 64 skills already" : NULL;
}

void job_read_skill(struct job_reading *reading, const json_t *value, const char *place)
{
	struct job *job = reading->job;
	struct skill skill = {
		.name = skill_name(reading->arena, job_text(json_object_get(value, "name"))),
		.description = job_text(json_object_get(value, "description")),
		.instructions = job_text(json_object_get(value, "instructions")),
	};
	const char *refusal = NULL;

	if (skill.name.bytes == NULL) {
		reading->failed = true;
		return;
	}
	refusal = refusal_of(job, &skill, value);
	if (refusal != NULL) {
		job_drop(reading, true, refusal, "%s", place);
		return;
	}
	read_resources(reading, &skill, json_object_get(value, "resources"), place);
	job->skills[job->skill_count++] = skill;
}
