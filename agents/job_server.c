/* The lenient door: one tool server. A copy is made of what can be taken, and the strict door reads that. */
#include <string.h>

#include "agents/job_private.h"
#include "policy/redact.h"

struct copying {
	struct job_reading *reading;
	const json_t *given;
	json_t *copy;
	const char *place;
	bool is_http;
};

static void set(struct copying *copying, const char *key, json_t *value)
{
	if (json_object_set(copying->copy, key, value) != 0)
		copying->reading->failed = true;
}

/* ---- what kind of server it is */

static bool is_word(struct str text, const char *const *words)
{
	for (; text.bytes != NULL && *words != NULL; words++)
		if (str_is(text, *words))
			return true;
	return false;
}

/* False: it can't be told, which was reported. */
static bool copy_transport(struct copying *copying)
{
	static const char *const stdio[] = {"stdio", NULL};
	static const char *const http[] = {"http", "streamable-http", "streamableHttp", NULL};
	const json_t *given = json_object_get(copying->given, "transport");
	struct str word = {0};

	if (given == NULL)
		given = json_object_get(copying->given, "type");
	word = job_text(given);
	copying->is_http = is_word(word, http) ||
		(given == NULL && json_object_get(copying->given, "command") == NULL &&
			json_object_get(copying->given, "url") != NULL);
	if (given != NULL && !copying->is_http && !is_word(word, stdio)) {
		job_drop(copying->reading, true, "its transport is neither stdio nor http", "%s", copying->place);
		return false;
	}
	if (given == NULL && !copying->is_http && json_object_get(copying->given, "command") == NULL) {
		job_drop(copying->reading, true, spec_unreachable_words(copying->given), "%s", copying->place);
		return false;
	}
	if (json_object_set_new(copying->copy, "transport", json_string(copying->is_http ? "http" : "stdio")) != 0)
		copying->reading->failed = true;
	return true;
}

/* ---- members of which a part may go */

static bool is_value_name(const struct copying *copying, struct str name)
{
	return copying->is_http ? spec_header_name_is_valid(name) : spec_variable_name_is_valid(name);
}

static void copy_values(struct copying *copying, const char *key, json_t *values)
{
	json_t *kept = json_object();
	const char *name;
	size_t name_len;
	json_t *value;

	if (kept == NULL)
		copying->reading->failed = true;
	if (!json_is_object(values))
		job_drop(copying->reading, false, "must be an object", "%s/%s", copying->place, key);
	json_object_keylen_foreach(values, name, name_len, value)
	{
		struct str text = {name, name_len};
		const char *reason = !json_is_string(value) ? "must be a text"
			: !is_value_name(copying, text)     ? "isn't the name of a variable or header"
							    : NULL;

		if (reason != NULL)
			job_drop(copying->reading, false, reason, "%s/%s/%s", copying->place, key,
				spec_pointer_step(copying->reading->arena, text));
		else if (json_object_setn(kept, name, name_len, value) != 0)
			copying->reading->failed = true;
	}
	if (json_object_size(kept) > 0)
		set(copying, key, kept);
	json_decref(kept);
}

static bool has_text(const json_t *list, struct str text)
{
	size_t index;
	const json_t *item;

	json_array_foreach(list, index, item) if (str_equal(job_text(item), text)) return true;
	return false;
}

/* A list of which items may go; an empty one stays, and the strict door judges it. */
static void copy_names(struct copying *copying, const char *key, json_t *names, bool (*is_valid)(struct str name))
{
	json_t *kept = json_array();
	size_t index;
	json_t *item;

	if (!json_is_array(names)) {
		set(copying, key, names);
		json_decref(kept);
		return;
	}
	json_array_foreach(names, index, item)
	{
		struct str name = job_text(item);

		if (name.bytes == NULL || !is_valid(name))
			job_drop(copying->reading, false, "isn't a name that can be here", "%s/%s/%zu", copying->place,
				key, index);
		else if (has_text(kept, name))
			job_drop(copying->reading, false, "is named twice", "%s/%s/%zu", copying->place, key, index);
		else if (json_array_append(kept, item) != 0)
			copying->reading->failed = true;
	}
	set(copying, key, kept);
	json_decref(kept);
}

/* A key that names no credential would leave one unprotected: only what stands twice goes. */
static bool is_any(struct str name)
{
	return name.bytes != NULL;
}

/* ---- all members */

static void copy_member(struct copying *copying, struct str key, json_t *value)
{
	static const char *const stdio[] = {"command", "args", NULL};
	static const char *const http[] = {"url", NULL};
	static const char *const seen[] = {"id", "transport", "type", NULL};
	const char *values = copying->is_http ? "headers" : "env";

	if (is_word(key, seen))
		return;
	if (is_word(key, copying->is_http ? http : stdio))
		set(copying, key.bytes, value);
	else if (str_is(key, values))
		copy_values(copying, values, value);
	else if (str_is(key, "allowedTools"))
		copy_names(copying, "allowedTools", value, spec_tool_name_is_valid);
	else if (str_is(key, "secretKeys"))
		copy_names(copying, "secretKeys", value, is_any);
	else
		job_drop(copying->reading, false, "isn't a member of such a spec", "%s/%s", copying->place,
			spec_pointer_step(copying->reading->arena, key));
}

static void copy_members(struct copying *copying)
{
	json_t *object = (json_t *)(uintptr_t)copying->given;
	const char *name;
	size_t name_len;
	json_t *value;

	json_object_keylen_foreach(object, name, name_len, value)
		copy_member(copying, (struct str){name, name_len}, value);
}

/* ---- the whole */

static const char *refusal_of(const struct job *job, struct str id, const json_t *value)
{
	if (!json_is_object(value))
		return "must be an object";
	if (!spec_id_is_valid(id))
		return "its id isn't 1 to 64 lower-case letters, digits, hyphens or underscores, not two of these "
		       "together";
	if (redact_finds_secret(id))
		return "its id looks like a secret";
	for (size_t i = 0; i < job->server_count; i++)
		if (str_equal(job->servers[i].id, id))
			return "another server has this id";
	return job->server_count == SPEC_SERVERS_LIMIT ? "there are 64 servers already" : NULL;
}

/* Through the strict door. */
static void take(struct copying *copying, struct str id)
{
	struct job_reading *reading = copying->reading;
	struct job *job = reading->job;
	struct spec_faults faults = {.arena = reading->arena};
	int r = 0;

	if (json_array_append(job->held, copying->copy) != 0) {
		reading->failed = true;
		return;
	}
	r = spec_read(id, copying->copy, &faults, &job->servers[job->server_count]);
	if (r == 0)
		job->server_count++;
	else if (r < 0)
		reading->failed = true;
	for (size_t i = 0; i < faults.count; i++)
		job_drop(reading, true, faults.items[i].text.bytes, "%s%s", copying->place,
			faults.items[i].pointer.bytes);
}

void job_read_server(struct job_reading *reading, struct str id, json_t *value, const char *place)
{
	struct copying copying = {.reading = reading, .given = value, .place = place};
	const char *refusal = refusal_of(reading->job, id, value);

	if (refusal != NULL) {
		job_drop(reading, true, refusal, "%s", place);
		return;
	}
	copying.copy = json_object();
	if (copying.copy == NULL) {
		reading->failed = true;
		return;
	}
	if (copy_transport(&copying)) {
		copy_members(&copying);
		take(&copying, id);
	}
	json_decref(copying.copy);
}
