#include "agents/import.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agents/import_entry.h"
#include "agents/json_scan.h"
#include "agents/toml_read.h"
#include "policy/cleanup.h"
#include "policy/json_parse.h"

static const char shapes[] =
	"no tool servers in a shape that is read: {\"mcpServers\": {...}}, {\"mcp_servers\": {...}}, or one member a "
	"server and nothing else that looks like one";

static int refuse(struct import *import, const char *words)
{
	(void)snprintf(import->fault, sizeof(import->fault), "%s", words);
	return IMPORT_REFUSED;
}

/* ---- finding them */

static bool is_text(const json_t *object, const char *key)
{
	return json_is_string(json_object_get(object, key));
}

/* Has a way to be reached, and no other business: a status line has a command too, and its type says so. */
static bool looks_like_server(const json_t *value)
{
	static const char *const types[] = {"stdio", "http", "sse", "streamable-http", "streamableHttp"};
	const char *type = json_string_value(json_object_get(value, "type"));

	if (!is_text(value, "command") && !is_text(value, "url"))
		return false;
	for (size_t i = 0; type != NULL && i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(type, types[i]) == 0)
			return true;
	return type == NULL;
}

static bool is_settings(const json_t *root)
{
	static const char *const keys[] = {"permissions", "hooks", "enabledMcpjsonServers", "disabledMcpjsonServers",
		"enableAllProjectMcpServers", "statusLine", "env", "model", "approval_policy", "sandbox_mode"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (json_object_get(root, keys[i]) != NULL)
			return true;
	return false;
}

/* How many members of the root look like servers, and how many are objects that don't. */
static void count_flat(const json_t *root, size_t *ret_servers, size_t *ret_others)
{
	const char *key;
	json_t *value;

	*ret_servers = *ret_others = 0;
	json_object_foreach((json_t *)(uintptr_t)root, key, value)
	{
		*ret_servers += looks_like_server(value);
		*ret_others += json_is_object(value) && !looks_like_server(value);
	}
}

/* 0 and the object with the servers; NULL: the file is one that has none. */
static int find_servers(struct import *import, const json_t *root, const json_t **ret)
{
	const json_t *wrapped = json_object_get(root, "mcpServers");
	const json_t *snake = json_object_get(root, "mcp_servers");
	size_t flat;
	size_t others;

	count_flat(root, &flat, &others);
	*ret = wrapped != NULL ? wrapped : snake;
	if (wrapped != NULL && snake != NULL)
		return refuse(import, "it has both mcpServers and mcp_servers; leave one of them");
	if (*ret != NULL && flat > 0)
		return refuse(import, "it has servers both below and beside mcpServers, and no client reads both");
	if (*ret != NULL)
		return json_is_object(*ret) ? 0 : refuse(import, "mcpServers must be an object");
	if (flat > 0 && others == 0) {
		*ret = root;
		return 0;
	}
	return flat == 0 && is_settings(root) ? 0 : refuse(import, shapes);
}

/* ---- reading the file */

static int parse_toml(struct import *import, struct str text, json_t **ret_root)
{
	struct toml_read_fault fault;
	int r = toml_read(text, ret_root, &fault);

	if (r == TOML_READ_REFUSED)
		(void)snprintf(import->fault, sizeof(import->fault), "line %zu, column %zu: %s", fault.line,
			fault.column, fault.words);
	return r == TOML_READ_REFUSED ? IMPORT_REFUSED : r;
}

/* One value by itself; one that our parser can't keep becomes null, which no entry is. */
static int parse_piece(struct str text, const struct json_scan_item *item, json_t **ret)
{
	int r = json_parse(json_scan_slice(text, item), ret, NULL);

	if (r < 0)
		return r;
	if (r != 0)
		*ret = json_null();
	return 0;
}

/* The key of a member, unescaped, as a JSON string; NULL for one that our parser can't keep. */
static json_t *parse_key(struct str text, const struct json_scan_item *item)
{
	json_t *key = NULL;

	if (json_parse((struct str){text.bytes + item->start, item->key_end - item->start}, &key, NULL) != 0)
		return NULL;
	return key;
}

/* The object at `value` with each member parsed by itself, `depth` levels further down for what holds servers. Numbers that our parser
 * can't keep (beside the servers, or in one of them) don't hide the rest. */
static int parse_members(struct str text, size_t value, unsigned depth, json_t **ret)
{
	CLEANUP(json_drop) json_t *object = json_object();
	struct json_scan_item item = {0};
	int r = object == NULL ? -ENOMEM : 0;

	while (r == 0 && json_scan_next(text, value, &item)) {
		CLEANUP(json_drop) json_t *key = parse_key(text, &item);
		json_t *member = NULL;

		if (key == NULL)
			continue;
		r = depth > 0 && json_scan_type(text, item.value) == JSON_SCAN_OBJECT
			? parse_members(text, item.value, depth - 1, &member)
			: parse_piece(text, &item, &member);
		if (r == 0 &&
			json_object_setn_new(object, json_string_value(key), json_string_length(key), member) != 0)
			r = -ENOMEM;
	}
	if (r == 0)
		*ret = TAKE(object);
	return r;
}

static int parse_json(struct import *import, struct str text, json_t **ret_root)
{
	struct json_scan_fault fault;
	int r = json_scan_check(text, &fault);

	if (r == JSON_SCAN_REFUSED) {
		(void)snprintf(import->fault, sizeof(import->fault), "line %zu, column %zu: %s", fault.line,
			fault.column, json_scan_words(fault.kind));
		return IMPORT_REFUSED;
	}
	if (r != 0)
		return r;
	if (json_scan_type(text, json_scan_root(text)) != JSON_SCAN_OBJECT)
		return refuse(import, "must hold an object");
	return parse_members(text, json_scan_root(text), 1, ret_root);
}

/* ---- the whole */

/* Two names can come to one id; the first has it. */
static void check_id(struct import *import, struct import_server *server)
{
	for (const struct import_server *other = import->servers; other < server; other++) {
		if (!other->is_refused && !server->is_refused && str_equal(other->id, server->id)) {
			server->is_refused = true;
			import_tell(import, server, IMPORT_FAULT, "its id, %.*s, is taken by another of this file",
				(int)server->id.len, server->id.bytes);
		}
	}
}

/* Where servers stand beside metadata, what is no object is metadata. */
static int read_servers(struct import *import, const json_t *servers, bool is_flat)
{
	const char *name;
	size_t name_len;
	json_t *value;

	if (json_object_size(servers) > IMPORT_SERVERS_LIMIT)
		return refuse(import, "more than 256 tool servers");
	import->servers = ARENA_ARRAY(import->arena, json_object_size(servers), struct import_server);
	import->kept = json_array();
	if (import->servers == NULL || import->kept == NULL)
		return -ENOMEM;
	json_object_keylen_foreach((json_t *)(uintptr_t)servers, name, name_len, value)
	{
		struct import_server *server = &import->servers[import->count];
		int r;

		if (is_flat && !json_is_object(value))
			continue;
		r = import_entry_read(import, (struct str){name, name_len}, value, server);
		if (r != 0)
			return r;
		check_id(import, server);
		import->count++;
	}
	return import->arena->failed ? -ENOMEM : 0;
}

int import_read(struct import *import, struct str text, enum import_format format)
{
	CLEANUP(json_drop) json_t *root = NULL;
	const json_t *servers = NULL;
	int r = format == IMPORT_TOML ? parse_toml(import, text, &root) : parse_json(import, text, &root);

	if (r == 0)
		r = find_servers(import, root, &servers);
	if (r != 0 || servers == NULL)
		return r;
	return read_servers(import, servers, servers == root);
}

void import_release(struct import *import)
{
	json_decref(import->kept);
	import->kept = NULL;
}
