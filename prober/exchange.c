#include "prober/exchange.h"

#include <string.h>

#include "policy/cleanup.h"
#include "policy/json_parse.h"

struct str exchange_message(enum exchange_step step)
{
	static const char *const messages[EXCHANGE_STEPS] = {
		[EXCHANGE_INITIALIZE] =
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
			"\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"admitd-prober\",\"version\":"
			"\"" PACKAGE_VERSION "\"}}}",
		[EXCHANGE_INITIALIZED] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
		[EXCHANGE_LIST] = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{}}",
	};

	return (struct str){messages[step], strlen(messages[step])};
}

const char *exchange_name(enum exchange_step step)
{
	static const char *const names[EXCHANGE_STEPS] = {"initialize", "initialized", "tools/list"};

	return names[step];
}

static int refuse(struct finding *finding, enum exchange_step step, const char *how)
{
	finding_set(finding, HEALTH_UNHEALTHY, "its answer to %s %s", exchange_name(step), how);
	return EXCHANGE_FAILED;
}

static int read_error(struct finding *finding, enum exchange_step step, const json_t *error)
{
	const json_t *message = json_object_get(error, "message");
	const char *text = step == EXCHANGE_INITIALIZE ? "it refuses initialize" : "it refuses tools/list";
	struct str sent = {json_string_value(message), json_string_length(message)};

	finding_quote(finding, HEALTH_UNHEALTHY, text, sent);
	return EXCHANGE_FAILED;
}

static bool is_answer(const json_t *message, enum exchange_step step)
{
	const json_t *id = json_object_get(message, "id");

	return json_is_integer(id) && json_integer_value(id) == (step == EXCHANGE_INITIALIZE ? 1 : 2) &&
		json_object_get(message, "method") == NULL;
}

static int read_result(struct finding *finding, enum exchange_step step, const json_t *result, struct str *ret_version)
{
	const json_t *version = json_object_get(result, "protocolVersion");

	if (step == EXCHANGE_LIST)
		return json_is_array(json_object_get(result, "tools")) ? 0 : refuse(finding, step, "lists no tools");
	if (!json_is_string(version))
		return refuse(finding, step, "names no protocol version");
	if (ret_version != NULL)
		*ret_version = arena_str(
			finding->arena, (struct str){json_string_value(version), json_string_length(version)});
	return 0;
}

int exchange_read(struct finding *finding, enum exchange_step step, struct str text, struct str *ret_version)
{
	CLEANUP(json_drop) json_t *message = NULL;

	if (json_parse(text, &message, NULL) != 0)
		return refuse(finding, step, "isn't JSON");
	if (!json_is_object(message))
		return refuse(finding, step, "isn't a message");
	if (!is_answer(message, step))
		return EXCHANGE_GOES_ON;
	if (json_object_get(message, "error") != NULL)
		return read_error(finding, step, json_object_get(message, "error"));
	return read_result(finding, step, json_object_get(message, "result"), ret_version);
}
