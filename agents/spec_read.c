/* The strict door: a stranger's JSON becomes a spec, or a list of faults. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agents/spec.h"
#include "agents/url_rule.h"
#include "policy/redact.h"
#include "policy/text.h"

enum { POINTER_BYTES = 1024 };

struct reading {
	struct spec_faults *faults;
	struct arena *arena;
	const json_t *value;
	struct spec *spec;
};

/* ---- faults */

static struct str literal(const char *text)
{
	return (struct str){text, strlen(text)};
}

__attribute__((format(printf, 3, 4))) static void fault(
	struct spec_faults *faults, const char *text, const char *format, ...)
{
	char pointer[POINTER_BYTES];
	struct spec_fault *item = NULL;
	va_list args;

	if (faults->count == SPEC_FAULTS_LIMIT)
		return;
	if (faults->items == NULL)
		faults->items = ARENA_ARRAY(faults->arena, SPEC_FAULTS_LIMIT, struct spec_fault);
	va_start(args, format);
	(void)vsnprintf(pointer, sizeof(pointer), format, args);
	va_end(args);
	faults->failed = faults->failed || faults->items == NULL;
	if (faults->failed)
		return;
	item = &faults->items[faults->count++];
	item->text = literal(text);
	item->pointer = arena_str(faults->arena, literal(pointer));
	faults->failed = item->pointer.bytes == NULL;
}

const char *spec_unreachable_words(const json_t *entry)
{
	return json_object_get(entry, "container") == NULL
		? "it has no command and no url"
		: "it names a container, which isn't started here: give the command that starts it";
}

const char *spec_pointer_step(struct arena *arena, struct str name)
{
	char *text = arena_alloc(arena, 2 * name.len + 1);
	size_t len = 0;

	if (text == NULL || name.len > POINTER_BYTES / 4 || redact_finds_secret(name))
		return REDACT_MASK;
	for (size_t i = 0; i < name.len; i++) {
		if (name.bytes[i] == '~' || name.bytes[i] == '/') {
			text[len++] = '~';
			text[len++] = name.bytes[i] == '~' ? '0' : '1';
		} else {
			text[len++] = name.bytes[i];
		}
	}
	text[len] = '\0';
	return text;
}

static const char *step(struct spec_faults *faults, struct str name)
{
	return spec_pointer_step(faults->arena, name);
}

/* ---- texts */

static struct str text_of(const json_t *value)
{
	return json_is_string(value) ? (struct str){json_string_value(value), json_string_length(value)}
				     : (struct str){0};
}

/* Line feeds and tabs are data of an argument; other control characters are data too, but for NUL, which no argument can hold. */
static bool has_nul(struct str text)
{
	return memchr(text.bytes, '\0', text.len) != NULL;
}

static bool has_control(struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.bytes[i] < 0x20 || text.bytes[i] == 0x7f)
			return true;
	return false;
}

static bool is_id_byte(char byte, bool is_first)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') ||
		(!is_first && (byte == '_' || byte == '-'));
}

bool spec_id_is_valid(struct str id)
{
	if (id.bytes == NULL || id.len == 0 || id.len > SPEC_ID_LIMIT)
		return false;
	for (size_t i = 0; i < id.len; i++)
		if (!is_id_byte(id.bytes[i], i == 0) || (i > 0 && id.bytes[i] == '_' && id.bytes[i - 1] == '_'))
			return false;
	return true;
}

static bool is_letter_or_digit(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9');
}

bool spec_tool_name_is_valid(struct str name)
{
	if (name.len == 0 || name.len > SPEC_TOOL_NAME_LIMIT || !is_letter_or_digit(name.bytes[0]))
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (!is_letter_or_digit(name.bytes[i]) && strchr("._-", name.bytes[i]) == NULL)
			return false;
	return true;
}

/* A token of RFC 9110. */
bool spec_header_name_is_valid(struct str name)
{
	if (name.len == 0 || name.len > 256)
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (!is_letter_or_digit(name.bytes[i]) && strchr("!#$%&'*+-.^_`|~", name.bytes[i]) == NULL)
			return false;
	return memchr(name.bytes, '\0', name.len) == NULL;
}

/* Headers that say how the message itself is sent, and not what is asked. */
static bool is_message_header(struct str name)
{
	static const char *const names[] = {"host", "content-length", "transfer-encoding", "connection", "upgrade",
		"te", "trailer", "expect", "content-type", "accept", "proxy-authorization", "proxy-connection",
		"mcp-session-id", "mcp-protocol-version", NULL};

	for (const char *const *known = names; *known != NULL; known++)
		if (strlen(*known) == name.len && strncasecmp(*known, name.bytes, name.len) == 0)
			return true;
	return false;
}

bool spec_variable_name_is_valid(struct str name)
{
	return name.len > 0 && name.len <= 256 && memchr(name.bytes, '=', name.len) == NULL && !has_control(name);
}

/* ---- members */

static const json_t *member(const struct reading *reading, const char *key)
{
	return json_object_get(reading->value, key);
}

/* A text of 1 to `limit` bytes, or absent and, unless it was absent before, a fault. */
static struct str read_text(struct reading *reading, const char *key, size_t limit)
{
	const json_t *value = member(reading, key);
	struct str text = text_of(value);

	if (value == NULL)
		return text;
	if (text.bytes == NULL)
		fault(reading->faults, "must be a text", "/%s", key);
	else if (text.len == 0)
		fault(reading->faults, "must not be empty", "/%s", key);
	else if (text.len > limit)
		fault(reading->faults, "is too long", "/%s", key);
	else
		return text;
	return (struct str){0};
}

/* A list of texts: how many of them are texts, all faults told. */
static size_t read_list(struct reading *reading, const char *key, size_t limit, const struct str **ret)
{
	const json_t *array = member(reading, key);
	struct str *items = NULL;
	size_t count = 0;
	size_t index;
	const json_t *item;

	if (array != NULL && !json_is_array(array))
		fault(reading->faults, "must be an array", "/%s", key);
	if (json_array_size(array) > limit)
		fault(reading->faults, "has too many items", "/%s", key);
	if (!json_is_array(array) || json_array_size(array) > limit)
		return 0;
	items = ARENA_ARRAY(reading->arena, json_array_size(array), struct str);
	reading->faults->failed = reading->faults->failed || items == NULL;
	json_array_foreach(array, index, item)
	{
		struct str text = text_of(item);

		if (text.bytes == NULL)
			fault(reading->faults, "must be a text", "/%s/%zu", key, index);
		else if (text.len > SPEC_TEXT_LIMIT)
			fault(reading->faults, "is too long", "/%s/%zu", key, index);
		else if (items != NULL)
			items[count++] = text;
	}
	*ret = items;
	return count;
}

static void read_id(struct reading *reading, struct str id)
{
	const json_t *value = member(reading, "id");

	reading->spec->id = id;
	if (!spec_id_is_valid(id))
		fault(reading->faults,
			"an id is 1 to 64 lower-case letters, digits, hyphens or underscores, not two of these "
			"together",
			"/id");
	else if (value != NULL && !str_equal(text_of(value), id))
		fault(reading->faults, "is not the tool server of this address", "/id");
}

static void read_transport(struct reading *reading)
{
	const json_t *value = member(reading, "transport");
	struct str text = text_of(value);

	if (value == NULL)
		fault(reading->faults, "is needed: stdio or http", "/transport");
	else if (text.bytes != NULL && str_is(text, "stdio"))
		reading->spec->transport = SPEC_STDIO;
	else if (text.bytes != NULL && str_is(text, "http"))
		reading->spec->transport = SPEC_HTTP;
	else
		fault(reading->faults, "must be stdio or http", "/transport");
}

/* `--token VALUE`, in two arguments: read together, as the program reads them. A path is where a secret lies, and none itself. */
static bool is_secret_option(struct reading *reading, size_t index)
{
	struct str option = index == 0 ? (struct str){0} : reading->spec->args[index - 1];
	struct str value = reading->spec->args[index];
	struct str pair;

	if (option.len < 2 || option.bytes[0] != '-' || value.len < SPEC_SECRET_LEAST ||
		strchr("-/.~", value.bytes[0]) != NULL || memchr(option.bytes, '=', option.len) != NULL)
		return false;
	while (option.len > 0 && option.bytes[0] == '-')
		option = (struct str){option.bytes + 1, option.len - 1};
	pair = arena_printf(reading->arena, "%.*s=%.*s", (int)option.len, option.bytes, (int)value.len, value.bytes);
	return pair.bytes == NULL || redact_finds_secret(pair);
}

static void read_command(struct reading *reading)
{
	struct spec *spec = reading->spec;

	spec->command = read_text(reading, "command", SPEC_PATH_LIMIT);
	if (member(reading, "command") == NULL)
		fault(reading->faults, "is needed", "/command");
	else if (spec->command.bytes != NULL && has_control(spec->command))
		fault(reading->faults, "has a control character", "/command");
	spec->arg_count = read_list(reading, "args", SPEC_ARGS_LIMIT, &spec->args);
	for (size_t i = 0; i < spec->arg_count; i++) {
		if (has_nul(spec->args[i]))
			fault(reading->faults, "has a NUL", "/args/%zu", i);
		else if (redact_finds_secret(spec->args[i]) || is_secret_option(reading, i))
			fault(reading->faults,
				"looks like a secret, which others can read there: give it in env and name it in "
				"secretKeys",
				"/args/%zu", i);
	}
}

/* Whether the redactor finds one beside the user, whose name alone is none. */
static bool url_has_secret(struct str url)
{
	const char *user = memrchr(url.bytes, '@', url.len);
	struct str rest = url;

	if (user != NULL)
		rest = (struct str){user + 1, url.len - (size_t)(user + 1 - url.bytes)};
	return url_rule_has_password(url) || redact_finds_secret(rest);
}

static void read_url(struct reading *reading)
{
	struct str url = read_text(reading, "url", SPEC_PATH_LIMIT);

	reading->spec->url = url;
	if (member(reading, "url") == NULL)
		fault(reading->faults, "is needed", "/url");
	else if (url.bytes != NULL && url_rule_judge(url) == URL_RULE_REFUSED)
		fault(reading->faults, "must be https, or http to this machine (localhost, ::1, 127.0.0.0/8)", "/url");
	else if (url.bytes != NULL && url_has_secret(url))
		fault(reading->faults, "holds a secret: give it in headers and name it in secretKeys", "/url");
}

/* ---- the environment and headers */

static bool is_secret_key(const struct spec *spec, struct str name)
{
	for (size_t i = 0; i < spec->secret_key_count; i++)
		if (str_equal(spec->secret_keys[i], name))
			return true;
	return false;
}

/* Named as one, or known by its name or shape. */
static bool is_credential(struct reading *reading, const struct spec_value *value)
{
	struct str pair = {0};

	if (is_secret_key(reading->spec, value->name))
		return true;
	pair = arena_printf(reading->arena, "%.*s: %.*s", (int)value->name.len, value->name.bytes,
		(int)value->value.len, value->value.bytes);
	return pair.bytes == NULL || redact_finds_secret(pair) || redact_finds_secret(value->value);
}

static void check_name(struct reading *reading, const char *key, const struct spec_value *value)
{
	const char *at = step(reading->faults, value->name);

	if (reading->spec->transport == SPEC_STDIO && !spec_variable_name_is_valid(value->name))
		fault(reading->faults, "isn't the name of a variable", "/%s/%s", key, at);
	if (reading->spec->transport != SPEC_HTTP)
		return;
	if (!spec_header_name_is_valid(value->name))
		fault(reading->faults, "isn't the name of a header", "/%s/%s", key, at);
	else if (is_message_header(value->name))
		fault(reading->faults, "is a header that belongs to the connection itself", "/%s/%s", key, at);
}

static void check_value(struct reading *reading, const char *key, const struct spec_value *value)
{
	const char *at = step(reading->faults, value->name);
	bool is_http = reading->spec->transport == SPEC_HTTP;

	if (value->value.len > SPEC_TEXT_LIMIT)
		fault(reading->faults, "is too long", "/%s/%s", key, at);
	else if (is_http ? has_control(value->value) : has_nul(value->value))
		fault(reading->faults, "has a control character", "/%s/%s", key, at);
	else if (value->is_credential && value->value.len < SPEC_SECRET_LEAST)
		fault(reading->faults, "a credential has 6 characters or more, or it can't be kept out of texts",
			"/%s/%s", key, at);
}

static void read_value(struct reading *reading, const char *key, struct str name, const json_t *given)
{
	struct spec_value *value = &reading->spec->values[reading->spec->value_count++];

	*value = (struct spec_value){.name = name, .value = text_of(given)};
	check_name(reading, key, value);
	if (value->value.bytes == NULL) {
		fault(reading->faults, "must be a text", "/%s/%s", key, step(reading->faults, name));
		return;
	}
	value->is_credential = is_credential(reading, value);
	check_value(reading, key, value);
}

static struct spec_value *new_values(struct reading *reading, size_t count)
{
	struct spec_value *values = ARENA_ARRAY(reading->arena, count, struct spec_value);

	reading->faults->failed = reading->faults->failed || values == NULL;
	return values;
}

/* A key that is named as a credential and has no value is one that isn't set. */
static void add_unset(struct reading *reading)
{
	struct spec *spec = reading->spec;

	for (size_t i = 0; i < spec->secret_key_count; i++) {
		bool is_there = false;

		for (size_t k = 0; k < spec->value_count; k++)
			is_there = is_there || str_equal(spec->values[k].name, spec->secret_keys[i]);
		if (!is_there)
			spec->values[spec->value_count++] =
				(struct spec_value){.name = spec->secret_keys[i], .is_credential = true};
	}
}

static void read_values(struct reading *reading, const char *key)
{
	json_t *object = json_object_get(reading->value, key);
	struct spec *spec = reading->spec;
	const char *name = NULL;
	size_t name_len = 0;
	json_t *value = NULL;

	if (object != NULL && !json_is_object(object))
		fault(reading->faults, "must be an object", "/%s", key);
	if (json_object_size(object) > SPEC_VALUES_LIMIT) {
		fault(reading->faults, "has too many members", "/%s", key);
		object = NULL;
	}
	spec->values = new_values(reading, json_object_size(object) + spec->secret_key_count);
	if (spec->values == NULL)
		return;
	json_object_keylen_foreach(object, name, name_len, value)
		read_value(reading, key, (struct str){name, name_len}, value);
	add_unset(reading);
}

static void read_secret_keys(struct reading *reading)
{
	struct spec *spec = reading->spec;

	spec->secret_key_count = read_list(reading, "secretKeys", SPEC_VALUES_LIMIT, &spec->secret_keys);
	for (size_t i = 0; i < spec->secret_key_count; i++) {
		struct spec_value value = {.name = spec->secret_keys[i]};

		if (spec->transport == SPEC_STDIO ? !spec_variable_name_is_valid(value.name)
						  : !spec_header_name_is_valid(value.name))
			fault(reading->faults, "isn't the name of a variable or header", "/secretKeys/%zu", i);
		for (size_t k = 0; k < i; k++)
			if (str_equal(spec->secret_keys[k], value.name))
				fault(reading->faults, "is named twice", "/secretKeys/%zu", i);
	}
}

static void read_tools(struct reading *reading)
{
	struct spec *spec = reading->spec;

	spec->narrows_tools = member(reading, "allowedTools") != NULL;
	spec->allowed_tool_count = read_list(reading, "allowedTools", SPEC_TOOLS_LIMIT, &spec->allowed_tools);
	for (size_t i = 0; i < spec->allowed_tool_count; i++) {
		if (!spec_tool_name_is_valid(spec->allowed_tools[i]))
			fault(reading->faults, "isn't the name of a tool", "/allowedTools/%zu", i);
		for (size_t k = 0; k < i; k++)
			if (str_equal(spec->allowed_tools[k], spec->allowed_tools[i]))
				fault(reading->faults, "is named twice", "/allowedTools/%zu", i);
	}
	if (json_is_array(member(reading, "allowedTools")) && json_array_size(member(reading, "allowedTools")) == 0)
		fault(reading->faults, "names no tool; leave it out to allow all of them", "/allowedTools");
}

static void refuse_unknown(struct reading *reading)
{
	static const char *const common[] = {"id", "transport", "allowedTools", "secretKeys", NULL};
	static const char *const stdio[] = {"command", "args", "env", NULL};
	static const char *const http[] = {"url", "headers", NULL};
	const char *const *own = reading->spec->transport == SPEC_HTTP ? http : stdio;
	json_t *object = (json_t *)(uintptr_t)reading->value;
	const char *name = NULL;
	size_t name_len = 0;
	json_t *value = NULL;

	json_object_keylen_foreach(object, name, name_len, value)
	{
		struct str key = {name, name_len};
		bool is_known = false;

		for (size_t i = 0; common[i] != NULL; i++)
			is_known = is_known || str_is(key, common[i]);
		for (size_t i = 0; own[i] != NULL; i++)
			is_known = is_known || str_is(key, own[i]);
		/* Without a transport nobody knows which of them are right. */
		for (size_t i = 0; reading->spec->transport == SPEC_NONE && http[i] != NULL; i++)
			is_known = is_known || str_is(key, http[i]);
		if (!is_known)
			fault(reading->faults, "isn't a member of such a spec", "/%s", step(reading->faults, key));
	}
}

int spec_read(struct str id, const json_t *value, struct spec_faults *faults, struct spec *ret)
{
	struct reading reading = {.faults = faults, .arena = faults->arena, .value = value, .spec = ret};

	*ret = (struct spec){0};
	if (!json_is_object(value)) {
		fault(faults, "must be an object", "%s", "");
		return faults->failed ? -ENOMEM : SPEC_REFUSED;
	}
	read_id(&reading, id);
	read_transport(&reading);
	read_secret_keys(&reading);
	if (ret->transport == SPEC_STDIO) {
		read_command(&reading);
		read_values(&reading, "env");
	} else if (ret->transport == SPEC_HTTP) {
		read_url(&reading);
		read_values(&reading, "headers");
	}
	read_tools(&reading);
	refuse_unknown(&reading);
	if (faults->failed)
		return -ENOMEM;
	return faults->count > 0 ? SPEC_REFUSED : 0;
}
