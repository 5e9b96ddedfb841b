#include "agents/import_entry.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agents/url_rule.h"
#include "policy/cleanup.h"
#include "policy/redact.h"

enum { BODY_CEILING = SPEC_BYTES_LIMIT, LINE_SIZE = 1024 };

/* One entry on its way. */
struct entry {
	struct import *import;
	struct import_server *server;
	const json_t *value;
	json_t *spec;    /* what the strict door shall be shown */
	json_t *secrets; /* its secretKeys */
	bool is_http;
};

/* ---- telling */

void import_tell(struct import *import, struct import_server *server, enum import_kind kind, const char *format, ...)
{
	char text[LINE_SIZE];
	va_list args;

	server->is_refused = server->is_refused || kind == IMPORT_FAULT;
	if (server->line_count == IMPORT_LINES_LIMIT)
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	server->lines[server->line_count++] =
		(struct import_line){kind, arena_str(import->arena, (struct str){text, strlen(text)})};
}

const char *import_shown(struct import *import, struct str text)
{
	struct str shown = {0};

	if (redact_copy(import->arena, text, REDACT_LABEL, &shown) != 0 || shown.bytes == NULL)
		return REDACT_MASK;
	return shown.bytes;
}

/* ---- names */

/* An id out of a name: what an id can't have becomes a hyphen. */
static struct str id_of(struct arena *arena, struct str name)
{
	char id[SPEC_ID_LIMIT];
	size_t len = 0;

	for (size_t i = 0; i < name.len && len < sizeof(id); i++) {
		char byte = name.bytes[i];
		bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9');

		if (byte >= 'A' && byte <= 'Z')
			byte = (char)(byte | 0x20);
		else if (!is_letter && byte != '_')
			byte = '-';
		if ((byte == '-' || byte == '_') && (len == 0 || id[len - 1] == '-' || id[len - 1] == '_'))
			continue;
		id[len++] = byte;
	}
	while (len > 0 && (id[len - 1] == '-' || id[len - 1] == '_'))
		len--;
	return len == 0 ? STR("server") : arena_str(arena, (struct str){id, len});
}

static void name_server(struct entry *entry, struct str name)
{
	struct import_server *server = entry->server;

	server->name = (struct str){import_shown(entry->import, name), 0};
	server->name.len = strlen(server->name.bytes);
	server->id = spec_id_is_valid(name) ? arena_str(entry->import->arena, name) : id_of(entry->import->arena, name);
	if (server->id.bytes != NULL && !str_equal(server->id, name))
		import_tell(entry->import, server, IMPORT_NOTE, "called %.*s here, since %s can't be an id",
			(int)server->id.len, server->id.bytes, server->name.bytes);
}

/* ---- values */

static struct str text_of(const json_t *value)
{
	return json_is_string(value) ? (struct str){json_string_value(value), json_string_length(value)}
				     : (struct str){0};
}

static bool has_reference(struct str text)
{
	return memmem(text.bytes, text.len, "${", 2) != NULL;
}

/* What can be told from a secret by its form alone: a word, a path, an address without one. */
static bool is_plain(struct str text)
{
	bool is_word = true;

	if (text.len < SPEC_SECRET_LEAST)
		return true;
	if (redact_finds_secret(text))
		return false;
	if (text.bytes[0] == '/' || url_rule_judge(text) != URL_RULE_REFUSED)
		return memchr(text.bytes, '?', text.len) == NULL;
	for (size_t i = 0; i < text.len; i++)
		is_word = is_word &&
			((text.bytes[i] >= 'a' && text.bytes[i] <= 'z') ||
				(text.bytes[i] >= 'A' && text.bytes[i] <= 'Z') || text.bytes[i] == '-' ||
				text.bytes[i] == '_');
	return is_word && text.len <= 16;
}

static int add_secret(struct entry *entry, struct str name)
{
	size_t index;
	json_t *known;

	json_array_foreach(entry->secrets, index, known) if (str_equal(text_of(known), name)) return 0;
	return json_array_append_new(entry->secrets, json_stringn(name.bytes, name.len)) == 0 ? 0 : -ENOMEM;
}

/* A variable or header of theirs: carried over, proposed as a credential, or left to be set. */
static int take_pair(struct entry *entry, json_t *ours, struct str name, json_t *value)
{
	struct str text = text_of(value);
	int r = 0;

	if (text.bytes != NULL && has_reference(text)) {
		import_tell(entry->import, entry->server, IMPORT_NOTE,
			"%s comes from the environment of the client there; here it isn't set before you give it",
			import_shown(entry->import, name));
		return add_secret(entry, name);
	}
	if (text.bytes != NULL && text.len >= SPEC_SECRET_LEAST && (entry->is_http || !is_plain(text)))
		r = add_secret(entry, name);
	if (r == 0 && json_object_setn(ours, name.bytes, name.len, value) != 0)
		r = -ENOMEM;
	return r;
}

static int take_values(struct entry *entry, const char *theirs, const char *ours)
{
	json_t *values = json_object_get(entry->value, theirs);
	json_t *taken;
	const char *name;
	size_t name_len;
	json_t *value;
	int r = 0;

	if (values == NULL)
		return 0;
	if (!json_is_object(values)) {
		import_tell(entry->import, entry->server, IMPORT_FAULT, "/%s must be an object", theirs);
		return 0;
	}
	taken = json_object();
	if (taken == NULL || json_object_set_new(entry->spec, ours, taken) != 0)
		return -ENOMEM;
	json_object_keylen_foreach(values, name, name_len, value)
	{
		r = take_pair(entry, taken, (struct str){name, name_len}, value);
		if (r != 0)
			return r;
	}
	return 0;
}

/* Codex names variables of its own environment, whose values it sends. */
static int take_names(struct entry *entry, const char *key)
{
	const json_t *names = json_object_get(entry->value, key);
	size_t index;
	json_t *name;
	int r = 0;

	json_array_foreach(names, index, name) if (r == 0 && json_is_string(name)) r = add_secret(entry, text_of(name));
	if (json_array_size(names) > 0)
		import_tell(entry->import, entry->server, IMPORT_NOTE,
			"%s are taken from the client's environment there; here they aren't set before you give them",
			key);
	return r;
}

static int take_header_names(struct entry *entry)
{
	json_t *names = json_object_get(entry->value, "env_http_headers");
	const char *header;
	json_t *variable;
	int r = 0;

	if (json_object_get(entry->value, "bearer_token_env_var") != NULL) {
		import_tell(entry->import, entry->server, IMPORT_NOTE,
			"the client makes Authorization from a variable of its own; here it isn't set before you give "
			"it");
		r = add_secret(entry, STR("Authorization"));
	}
	json_object_foreach(names, header, variable)
	{
		if (r == 0)
			r = add_secret(entry, (struct str){header, strlen(header)});
		import_tell(entry->import, entry->server, IMPORT_NOTE, "%s isn't set before you give it",
			import_shown(entry->import, (struct str){header, strlen(header)}));
	}
	return r;
}

/* ---- members */

static int copy_member(struct entry *entry, const char *theirs, const char *ours)
{
	json_t *value = json_object_get(entry->value, theirs);

	if (value == NULL)
		return 0;
	return json_object_set(entry->spec, ours, value) == 0 ? 0 : -ENOMEM;
}

/* What is read of an entry; the rest is told. */
static void tell_unknown(struct entry *entry)
{
	static const char *const common[] = {
		"type", "transport", "enabled", "disabled", "enabled_tools", "allowedTools", NULL};
	static const char *const stdio[] = {"command", "args", "env", "env_vars", NULL};
	static const char *const http[] = {
		"url", "headers", "http_headers", "env_http_headers", "bearer_token_env_var", NULL};
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)entry->value, name, value)
	{
		bool is_known = false;

		for (const char *const *key = common; *key != NULL; key++)
			is_known = is_known || strcmp(name, *key) == 0;
		for (const char *const *key = entry->is_http ? http : stdio; *key != NULL; key++)
			is_known = is_known || strcmp(name, *key) == 0;
		if (strcmp(name, "disabled_tools") == 0 || strcmp(name, "disabledTools") == 0)
			import_tell(entry->import, entry->server, IMPORT_RISK,
				"%s takes tools away there and isn't carried over: name the allowed ones in "
				"allowedTools",
				name);
		else if (!is_known)
			import_tell(entry->import, entry->server, IMPORT_NOTE, "%s isn't carried over",
				import_shown(entry->import, (struct str){name, strlen(name)}));
	}
}

/* Sets is_http, or tells why it can't be known. */
static bool judge_transport(struct entry *entry)
{
	static const char *const https[] = {"http", "streamable-http", "streamableHttp", "streamable_http"};
	bool has_command = json_object_get(entry->value, "command") != NULL;
	bool has_url = json_object_get(entry->value, "url") != NULL;
	const json_t *type = json_object_get(entry->value, "type");
	const char *word = json_string_value(type);
	bool is_known = type == NULL || (word != NULL && strcmp(word, "stdio") == 0 && has_command);

	entry->is_http = has_url;
	for (size_t i = 0; word != NULL && i < sizeof(https) / sizeof(https[0]); i++)
		is_known = is_known || (strcmp(word, https[i]) == 0 && has_url);
	if (has_command && has_url)
		import_tell(entry->import, entry->server, IMPORT_FAULT, "it has both command and url");
	else if (!has_command && !has_url)
		import_tell(entry->import, entry->server, IMPORT_FAULT, "%s", spec_unreachable_words(entry->value));
	else if (word != NULL && strcmp(word, "sse") == 0)
		import_tell(entry->import, entry->server, IMPORT_FAULT, "the older transport, sse, isn't supported");
	else if (!is_known)
		import_tell(entry->import, entry->server, IMPORT_FAULT,
			"its type isn't the one of what it has, stdio or http");
	return !entry->server->is_refused;
}

static int take_members(struct entry *entry)
{
	int r = json_object_set_new(entry->spec, "transport", json_string(entry->is_http ? "http" : "stdio")) == 0
		? 0
		: -ENOMEM;

	if (r == 0)
		r = copy_member(entry, "command", "command");
	if (r == 0 && !entry->is_http)
		r = copy_member(entry, "args", "args");
	if (r == 0)
		r = copy_member(entry, "url", "url");
	if (r == 0)
		r = copy_member(entry, "enabled_tools", "allowedTools");
	if (r == 0)
		r = copy_member(entry, "allowedTools", "allowedTools");
	if (r == 0)
		r = entry->is_http ? take_values(entry, "headers", "headers") : take_values(entry, "env", "env");
	if (r == 0 && entry->is_http)
		r = take_values(entry, "http_headers", "headers");
	if (r == 0)
		r = entry->is_http ? take_header_names(entry) : take_names(entry, "env_vars");
	return r;
}

/* ---- the strict door */

static int write_body(struct entry *entry)
{
	struct json_out out;
	struct buf body;

	buf_init(&body, BODY_CEILING);
	json_out_init(&out, &body);
	json_out_canonical(&out, entry->spec);
	if (buf_error(&body) == -EMSGSIZE)
		import_tell(entry->import, entry->server, IMPORT_FAULT, "it is too large");
	else if (buf_error(&body) == 0)
		entry->server->body = arena_str(entry->import->arena, buf_str(&body));
	buf_release(&body);
	return entry->server->body.bytes == NULL && !entry->server->is_refused ? -ENOMEM : 0;
}

static int show_strict_door(struct entry *entry)
{
	struct spec_faults faults = {.arena = entry->import->arena};
	int r = spec_read(entry->server->id, entry->spec, &faults, &entry->server->spec);

	if (r < 0)
		return r;
	for (size_t i = 0; i < faults.count; i++)
		import_tell(entry->import, entry->server, IMPORT_FAULT, "%s %.*s",
			import_shown(entry->import, faults.items[i].pointer), (int)faults.items[i].text.len,
			faults.items[i].text.bytes);
	return entry->server->is_refused ? 0 : write_body(entry);
}

static int read_entry(struct entry *entry)
{
	int r;

	if (!json_is_object(entry->value)) {
		import_tell(entry->import, entry->server, IMPORT_FAULT,
			json_is_null(entry->value) ? "it is null, or holds a number or text that can't be kept"
						   : "it must be an object");
		return 0;
	}
	entry->server->is_off = json_is_false(json_object_get(entry->value, "enabled")) ||
		json_is_true(json_object_get(entry->value, "disabled"));
	if (!judge_transport(entry))
		return 0;
	tell_unknown(entry);
	r = take_members(entry);
	if (r == 0 && json_array_size(entry->secrets) > 0 &&
		json_object_set(entry->spec, "secretKeys", entry->secrets) != 0)
		r = -ENOMEM;
	return r == 0 ? show_strict_door(entry) : r;
}

int import_entry_read(struct import *import, struct str name, const json_t *value, struct import_server *server)
{
	CLEANUP(json_drop) json_t *secrets = json_array();
	struct entry entry = {
		.import = import, .server = server, .value = value, .spec = json_object(), .secrets = secrets};
	int r;

	if (secrets == NULL || entry.spec == NULL || json_array_append_new(import->kept, entry.spec) != 0)
		return -ENOMEM;
	name_server(&entry, name);
	r = read_entry(&entry);
	if (r == 0 && !server->is_refused)
		import_risk_tell(import, server);
	return r == 0 && import->arena->failed ? -ENOMEM : r;
}
