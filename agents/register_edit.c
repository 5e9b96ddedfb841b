#include "agents/register_edit.h"

#include <errno.h>
#include <stdio.h>

#include "policy/cleanup.h"
#include "policy/json_out.h"
#include "policy/json_parse.h"

enum { PIECE_CEILING = 256 * 1024, RULE_SIZE = 192 };

static void edit_drop(struct json_edit *edit)
{
	json_edit_release(edit);
}

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

/* ---- finding our places */

/* The value at up to two names from the root; false where there is none. */
static bool find(struct str text, const char *first, const char *second, struct json_scan_item *ret)
{
	return json_scan_find(text, json_scan_root(text), first, ret) &&
		(second == NULL || json_scan_find(text, ret->value, second, ret));
}

static bool find_text(struct str text, size_t array, struct str wanted, struct json_scan_item *ret)
{
	struct json_scan_item item = {0};

	while (json_scan_next(text, array, &item)) {
		if (json_scan_is(text, item.value, wanted)) {
			*ret = item;
			return true;
		}
	}
	return false;
}

static bool has_items(struct str text, size_t container)
{
	struct json_scan_item item = {0};

	return json_scan_next(text, container, &item);
}

static int check_type(struct register_job *job, const struct register_file *file, const char *first, const char *second,
	enum json_scan_type wanted)
{
	struct json_scan_item item;

	if (file->now.class != PROJECT_FILE_REGULAR || !find(file->now.text, first, second, &item) ||
		json_scan_type(file->now.text, item.value) == wanted)
		return 0;
	return register_refuse(job, REGISTER_MALFORMED, file, "%s%s%s must be an %s", first, second == NULL ? "" : ".",
		second == NULL ? "" : second, wanted == JSON_SCAN_OBJECT ? "object" : "array");
}

int register_edit_check_mcp(struct register_job *job)
{
	return check_type(job, &job->mcp, "mcpServers", NULL, JSON_SCAN_OBJECT);
}

int register_edit_check_settings(struct register_job *job)
{
	int r = check_type(job, &job->settings, "enabledMcpjsonServers", NULL, JSON_SCAN_ARRAY);

	if (r == 0)
		r = check_type(job, &job->settings, "permissions", NULL, JSON_SCAN_OBJECT);
	return r == 0 ? check_type(job, &job->settings, "permissions", "allow", JSON_SCAN_ARRAY) : r;
}

/* ---- what is written */

static struct str rule_of(struct register_job *job, size_t tool)
{
	return arena_printf(job->arena, "mcp__" REGISTER_NAME "__%s", job->tools[tool]);
}

/* A JSON string of a text of ours, in the arena. */
static struct str quoted(struct register_job *job, struct str text)
{
	return arena_printf(job->arena, "\"%.*s\"", (int)text.len, text.bytes);
}

static void add_change(struct register_job *job, struct register_file *file, const char *where, struct str what)
{
	if (file->change_count < REGISTER_GAINS_LIMIT)
		file->changes[file->change_count++] =
			arena_printf(job->arena, "%s: %.*s", where, (int)what.len, what.bytes);
}

static int keep_text(struct register_job *job, struct register_file *file, struct str text)
{
	file->after = arena_str(job->arena, text);
	return file->after.bytes == NULL || job->arena->failed ? -ENOMEM : 0;
}

/* `{"mcpServers":{"admitd":…}}`, or what is inside of it. */
static void write_servers(const struct register_job *job, struct buf *out)
{
	buf_puts(out, "{\"" REGISTER_NAME "\":");
	buf_add_str(out, job->entry);
	buf_puts(out, "}");
}

static void write_rules(struct register_job *job, struct buf *out)
{
	for (size_t i = 0; i < job->tool_count; i++) {
		buf_puts(out, i == 0 ? "[" : ",");
		buf_add_str(out, quoted(job, rule_of(job, i)));
	}
	buf_puts(out, job->tool_count == 0 ? "[]" : "]");
}

/* The whole of a file that isn't there yet. */
static void write_new_mcp(struct register_job *job, struct buf *out)
{
	CLEANUP(buf_drop) struct buf piece = {0};

	buf_init(&piece, PIECE_CEILING);
	buf_puts(&piece, "{\"mcpServers\":");
	write_servers(job, &piece);
	buf_puts(&piece, "}");
	json_edit_write(out, buf_str(&piece));
}

static void write_new_settings(struct register_job *job, struct buf *out)
{
	CLEANUP(buf_drop) struct buf piece = {0};

	buf_init(&piece, PIECE_CEILING);
	buf_puts(&piece, "{\"enabledMcpjsonServers\":[\"" REGISTER_NAME "\"],\"permissions\":{\"allow\":");
	write_rules(job, &piece);
	buf_puts(&piece, "}}");
	json_edit_write(out, buf_str(&piece));
}

/* Whether the file is, byte for byte, what we write where there is none. */
static int is_ours(struct register_job *job, const struct register_file *file,
	void (*write_new)(struct register_job *, struct buf *), bool *ret)
{
	CLEANUP(buf_drop) struct buf whole = {0};

	buf_init(&whole, PIECE_CEILING);
	write_new(job, &whole);
	*ret = str_equal(buf_str(&whole), file->now.text);
	return buf_error(&whole);
}

/* ---- putting in */

/* One member `key` with a value of ours, at `container`. */
static int add_member(
	struct json_edit *edit, size_t container, const char *key, struct str value, enum json_edit_form form)
{
	const struct json_edit_value member = {{key, strlen(key)}, value};

	return json_edit_add(edit, container, &member, 1, form);
}

static int add_server(struct register_job *job, struct json_edit *edit)
{
	CLEANUP(buf_drop) struct buf piece = {0};
	struct json_scan_item servers;

	if (find(json_edit_text(edit), "mcpServers", NULL, &servers))
		return add_member(edit, servers.value, "\"" REGISTER_NAME "\"", job->entry, JSON_EDIT_FLAT);
	buf_init(&piece, PIECE_CEILING);
	write_servers(job, &piece);
	return add_member(
		edit, json_scan_root(json_edit_text(edit)), "\"mcpServers\"", buf_str(&piece), JSON_EDIT_BLOCK);
}

static int add_enabled(struct register_job *job, struct json_edit *edit)
{
	const struct json_edit_value name = {.value = STR("\"" REGISTER_NAME "\"")};
	struct json_scan_item enabled;

	if (!find(json_edit_text(edit), "enabledMcpjsonServers", NULL, &enabled)) {
		add_change(job, &job->settings, "enabledMcpjsonServers", STR(REGISTER_NAME));
		return add_member(edit, json_scan_root(json_edit_text(edit)), "\"enabledMcpjsonServers\"",
			STR("[\"" REGISTER_NAME "\"]"), JSON_EDIT_BLOCK);
	}
	if (find_text(json_edit_text(edit), enabled.value, STR(REGISTER_NAME), &enabled))
		return 0;
	add_change(job, &job->settings, "enabledMcpjsonServers", STR(REGISTER_NAME));
	return json_edit_add(edit, enabled.value, &name, 1, JSON_EDIT_FLAT);
}

/* The rules that are missing, behind those that are there. */
static int add_rules_to(struct register_job *job, struct json_edit *edit, size_t allow)
{
	struct json_edit_value missing[REGISTER_GAINS_LIMIT] = {0};
	struct json_scan_item item;
	size_t count = 0;

	for (size_t i = 0; i < job->tool_count; i++) {
		struct str rule = rule_of(job, i);

		if (find_text(json_edit_text(edit), allow, rule, &item))
			continue;
		add_change(job, &job->settings, "permissions.allow", rule);
		missing[count++].value = quoted(job, rule);
	}
	return count == 0 ? 0 : json_edit_add(edit, allow, missing, count, JSON_EDIT_FLAT);
}

static int add_rules(struct register_job *job, struct json_edit *edit)
{
	CLEANUP(buf_drop) struct buf rules = {0};
	struct json_scan_item item;
	struct str text = json_edit_text(edit);

	if (find(text, "permissions", "allow", &item))
		return add_rules_to(job, edit, item.value);
	for (size_t i = 0; i < job->tool_count; i++)
		add_change(job, &job->settings, "permissions.allow", rule_of(job, i));
	buf_init(&rules, PIECE_CEILING);
	if (find(text, "permissions", NULL, &item)) {
		write_rules(job, &rules);
		return add_member(edit, item.value, "\"allow\"", buf_str(&rules), JSON_EDIT_BLOCK);
	}
	buf_puts(&rules, "{\"allow\":");
	write_rules(job, &rules);
	buf_puts(&rules, "}");
	return add_member(edit, json_scan_root(text), "\"permissions\"", buf_str(&rules), JSON_EDIT_BLOCK);
}

/* ---- taking out */

/* Whether something of ours that is empty now was made by us: it stands last, where register puts what it makes, and stood on lines of
 * its own, if the file has lines. */
static bool is_made(struct str text, size_t parent, const struct json_scan_item *item, bool had_lines, bool by_default)
{
	struct json_scan_item next = *item;
	struct json_scan_item first = {0};
	size_t root = json_scan_root(text);
	bool has_lines = json_scan_next(text, root, &first) &&
		memchr(text.bytes + root, '\n', json_scan_end(text, root) - root) != NULL;

	return !json_scan_next(text, parent, &next) && (has_lines ? had_lines : by_default);
}

static bool holds_line(struct str text, size_t value)
{
	return memchr(text.bytes + value, '\n', json_scan_end(text, value) - value) != NULL;
}

static void remove_server(struct json_edit *edit)
{
	struct json_scan_item servers;
	struct json_scan_item entry;
	struct json_scan_item args = {0};
	bool had_lines;

	if (!find(json_edit_text(edit), "mcpServers", NULL, &servers) ||
		!find(json_edit_text(edit), "mcpServers", REGISTER_NAME, &entry))
		return;
	had_lines = json_scan_find(json_edit_text(edit), entry.value, "args", &args) &&
		holds_line(json_edit_text(edit), args.value);
	json_edit_remove(edit, servers.value, &entry);
	(void)find(json_edit_text(edit), "mcpServers", NULL, &servers);
	if (!has_items(json_edit_text(edit), servers.value) &&
		is_made(json_edit_text(edit), json_scan_root(json_edit_text(edit)), &servers, had_lines, false))
		json_edit_remove(edit, json_scan_root(json_edit_text(edit)), &servers);
}

/* Takes a text out of the array at first.second, and the array with it if we made it. Whether the array went. */
static bool remove_text(struct register_job *job, struct json_edit *edit, const char *first, const char *second,
	struct str wanted, bool had_lines)
{
	struct json_scan_item parent = {.value = json_scan_root(json_edit_text(edit))};
	struct json_scan_item array;
	struct json_scan_item item;

	if (!find(json_edit_text(edit), first, second, &array) ||
		!find_text(json_edit_text(edit), array.value, wanted, &item))
		return false;
	add_change(job, &job->settings, second == NULL ? first : "permissions.allow", wanted);
	json_edit_remove(edit, array.value, &item);
	(void)find(json_edit_text(edit), first, second, &array);
	if (second != NULL)
		(void)find(json_edit_text(edit), first, NULL, &parent);
	if (has_items(json_edit_text(edit), array.value) ||
		!is_made(json_edit_text(edit), parent.value, &array, had_lines, true))
		return false;
	json_edit_remove(edit, parent.value, &array);
	return true;
}

static void remove_rules(struct register_job *job, struct json_edit *edit)
{
	struct json_scan_item item;
	size_t root;
	bool had_lines = find(json_edit_text(edit), "permissions", "allow", &item) &&
		holds_line(json_edit_text(edit), item.value);
	bool is_gone = false;

	for (size_t i = 0; i < job->tool_count; i++)
		is_gone = remove_text(job, edit, "permissions", "allow", rule_of(job, i), had_lines) || is_gone;
	root = json_scan_root(json_edit_text(edit));
	if (is_gone && find(json_edit_text(edit), "permissions", NULL, &item) &&
		!has_items(json_edit_text(edit), item.value) &&
		is_made(json_edit_text(edit), root, &item, had_lines, true))
		json_edit_remove(edit, root, &item);
}

static void remove_enabled(struct register_job *job, struct json_edit *edit)
{
	struct json_scan_item item;
	bool had_lines = find(json_edit_text(edit), "enabledMcpjsonServers", NULL, &item) &&
		holds_line(json_edit_text(edit), item.value);

	(void)remove_text(job, edit, "enabledMcpjsonServers", NULL, STR(REGISTER_NAME), had_lines);
}

/* ---- the two files */

/* Whether the entry of our name is ours but for the order of its keys. */
static int judge_entry(struct register_job *job, const struct json_scan_item *item)
{
	CLEANUP(json_drop) json_t *theirs = NULL;
	CLEANUP(json_drop) json_t *ours = NULL;
	int r = json_parse(job->entry, &ours, NULL);

	if (r == 0)
		r = json_parse(json_scan_slice(job->mcp.now.text, item), &theirs, NULL);
	if (r < 0)
		return r;
	if (r != 0 || !json_equal(ours, theirs))
		return register_refuse(job, REGISTER_DIFFERS, &job->mcp,
			"mcpServers." REGISTER_NAME " is there and differs from ours; nothing is changed over it");
	return 0;
}

static int new_file(
	struct register_job *job, struct register_file *file, void (*write_new)(struct register_job *, struct buf *))
{
	CLEANUP(buf_drop) struct buf whole = {0};

	buf_init(&whole, PIECE_CEILING);
	write_new(job, &whole);
	return buf_error(&whole) != 0 ? buf_error(&whole) : keep_text(job, file, buf_str(&whole));
}

static int add_to_mcp(struct register_job *job)
{
	CLEANUP(edit_drop) struct json_edit edit = {0};
	int r;

	if (job->is_entered)
		return 0;
	add_change(job, &job->mcp, "mcpServers", STR(REGISTER_NAME));
	if (job->mcp.now.class == PROJECT_FILE_ABSENT)
		return new_file(job, &job->mcp, write_new_mcp);
	r = json_edit_init(&edit, job->mcp.now.text);
	if (r == 0)
		r = add_server(job, &edit);
	return r == 0 ? keep_text(job, &job->mcp, json_edit_text(&edit)) : r;
}

static int remove_from_mcp(struct register_job *job)
{
	CLEANUP(edit_drop) struct json_edit edit = {0};
	int r;

	if (!job->is_entered)
		return 0;
	add_change(job, &job->mcp, "mcpServers", STR(REGISTER_NAME));
	r = is_ours(job, &job->mcp, write_new_mcp, &job->mcp.is_deleted);
	if (r != 0 || job->mcp.is_deleted)
		return r;
	r = json_edit_init(&edit, job->mcp.now.text);
	if (r != 0)
		return r;
	remove_server(&edit);
	return keep_text(job, &job->mcp, json_edit_text(&edit));
}

int register_edit_mcp(struct register_job *job)
{
	struct json_scan_item entry;
	int r = 0;

	if (job->is_masked)
		return 0;
	job->is_entered = job->mcp.now.class == PROJECT_FILE_REGULAR &&
		find(job->mcp.now.text, "mcpServers", REGISTER_NAME, &entry);
	if (job->is_entered)
		r = judge_entry(job, &entry);
	if (r != 0)
		return r;
	return job->purpose == REGISTER_ADD ? add_to_mcp(job) : remove_from_mcp(job);
}

static int add_to_settings(struct register_job *job)
{
	CLEANUP(edit_drop) struct json_edit edit = {0};
	int r;

	if (job->settings.now.class == PROJECT_FILE_ABSENT) {
		add_change(job, &job->settings, "enabledMcpjsonServers", STR(REGISTER_NAME));
		for (size_t i = 0; i < job->tool_count; i++)
			add_change(job, &job->settings, "permissions.allow", rule_of(job, i));
		return new_file(job, &job->settings, write_new_settings);
	}
	r = json_edit_init(&edit, job->settings.now.text);
	if (r == 0)
		r = add_enabled(job, &edit);
	if (r == 0)
		r = add_rules(job, &edit);
	if (r != 0 || job->settings.change_count == 0)
		return r;
	return keep_text(job, &job->settings, json_edit_text(&edit));
}

static int remove_from_settings(struct register_job *job)
{
	CLEANUP(edit_drop) struct json_edit edit = {0};
	int r;

	if (job->settings.now.class == PROJECT_FILE_ABSENT)
		return 0;
	r = json_edit_init(&edit, job->settings.now.text);
	if (r != 0)
		return r;
	remove_rules(job, &edit);
	remove_enabled(job, &edit);
	if (job->settings.change_count == 0)
		return job->arena->failed ? -ENOMEM : 0;
	r = is_ours(job, &job->settings, write_new_settings, &job->settings.is_deleted);
	if (r != 0 || job->settings.is_deleted)
		return r;
	return keep_text(job, &job->settings, json_edit_text(&edit));
}

int register_edit_settings(struct register_job *job)
{
	struct json_scan_item item;

	CHECK(job->tool_count < REGISTER_GAINS_LIMIT);
	job->is_disabled = job->settings.now.class == PROJECT_FILE_REGULAR &&
		find(job->settings.now.text, "disabledMcpjsonServers", NULL, &item) &&
		json_scan_type(job->settings.now.text, item.value) == JSON_SCAN_ARRAY &&
		find_text(job->settings.now.text, item.value, STR(REGISTER_NAME), &item);
	return job->purpose == REGISTER_ADD ? add_to_settings(job) : remove_from_settings(job);
}
