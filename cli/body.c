#include "cli/body.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/document.h"
#include "policy/cleanup.h"
#include "policy/health_row.h"
#include "policy/json_parse.h"

enum { BODY_CEILING = 8 * 1024 * 1024, LONGEST_DAYS = 3650 };

void body_begin(struct body *body)
{
	buf_init(&body->buf, BODY_CEILING);
	json_out_init(&body->out, &body->buf);
	json_out_begin_object(&body->out);
}

struct str body_end(struct body *body)
{
	json_out_end_object(&body->out);
	return buf_str(&body->buf);
}

void body_release(struct body *body)
{
	buf_release(&body->buf);
}

void body_option(struct body *body, const struct cli *cli, const char *member, const char *option)
{
	const char *value = args_text(&cli->args, option);

	if (value != NULL)
		json_out_member_text(&body->out, member, value);
}

void body_list(struct body *body, const struct cli *cli, const char *member, const char *option)
{
	size_t at = 0;
	const char *value = args_next(&cli->args, option, &at);

	if (value == NULL)
		return;
	json_out_key(&body->out, member);
	json_out_begin_array(&body->out);
	for (; value != NULL; value = args_next(&cli->args, option, &at))
		json_out_text(&body->out, value);
	json_out_end_array(&body->out);
}

/* Seconds of "7d" and the like; 0 when it is no such text or too long a time. */
static int64_t duration_s(const char *text)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
	char *end = NULL;
	long long count = *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : 0;

	if (count <= 0 || count > (long long)LONGEST_DAYS * 86400)
		return 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (*end == units[i].unit && end[1] == '\0')
			return count <= LONGEST_DAYS * INT64_C(86400) / units[i].seconds ? count * units[i].seconds : 0;
	}
	return 0;
}

int body_expiry(struct body *body, const struct cli *cli)
{
	const char *text = args_text(&cli->args, "expires");
	char written[64];
	struct tm parts;
	time_t end;

	if (text == NULL)
		return 0;
	if (health_time_is_valid((struct str){text, strlen(text)})) {
		json_out_member_text(&body->out, "expiresAt", text);
		return 0;
	}
	end = time(NULL) + duration_s(text);
	if (duration_s(text) == 0 || gmtime_r(&end, &parts) == NULL ||
		strftime(written, sizeof(written), "%Y-%m-%dT%H:%M:%S.000Z", &parts) == 0) {
		cli_say("--expires takes 90s, 30m, 12h, 7d (up to ten years), or a time like 2026-12-07T00:00:00Z");
		return CLI_USAGE;
	}
	json_out_member_text(&body->out, "expiresAt", written);
	return 0;
}

int body_read_file(const char *path, json_t **ret_json)
{
	CLEANUP(cli_buf_drop) struct buf bytes = {0};
	struct json_parse_fault fault;
	int result;

	buf_init(&bytes, DOCUMENT_LIMIT);
	result = document_read(path, &bytes);
	if (result < 0)
		return cli_say_error(path, result);
	result = json_parse(buf_str(&bytes), ret_json, &fault);
	if (result < 0)
		return cli_say_error(path, result);
	if (result > 0) {
		cli_say("%s: line %d, column %d: not the JSON that admitd takes%s", path, fault.line, fault.column,
			fault.kind == JSON_PARSE_DUPLICATE ? ", a key stands twice" : "");
		return CLI_USAGE;
	}
	return 0;
}
