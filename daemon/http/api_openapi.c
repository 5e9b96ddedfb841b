/* What the daemon says of itself: docs/openapi.json, and its table of routes. */
#include <string.h>

#include "daemon/http/api.h"
#include "daemon/http/openapi_bytes.h"
#include "policy/decision_id.h"

static int get_openapi(void *ctx, struct http_request *request, struct http_reply *reply)
{
	const struct str document = {(const char *)openapi_json, sizeof(openapi_json)};
	struct str known = http_request_header(request, "If-None-Match");
	char tag[DIGEST_TEXT_SIZE];

	(void)ctx;
	digest_text(document, tag);
	if (known.len == strlen(tag) + 2 && memcmp(known.bytes + 1, tag, strlen(tag)) == 0)
		http_reply_empty(reply, 304);
	else
		http_reply_raw(reply, 200, "application/json", document);
	http_reply_header(reply, "ETag", "\"%s\"", tag);
	return 0;
}

static const struct http_route rows[] = {
	{HTTP_GET, "/v1/openapi.json", 0, HTTP_NO_AUTH, 0, get_openapi},
};

const struct http_routes api_openapi_routes = API_ROUTES(rows);

/* ---- the table, for people and tests */

static void write_who(const struct http_route *row, struct buf *out)
{
	bool is_first = true;

	if (row->flags & HTTP_NO_AUTH) {
		buf_puts(out, "none");
		return;
	}
	if (row->roles == 0)
		buf_puts(out, "any");
	for (unsigned i = 0; i < AUTH_ROLES; i++) {
		if (!(row->roles & (1u << i)))
			continue;
		buf_printf(out, "%s%s", is_first ? "" : ",", auth_role_name(1u << i));
		is_first = false;
	}
	if (row->flags & HTTP_RUN_TOKEN)
		buf_puts(out, ",run");
}

static const char *body_word(const struct http_route *row)
{
	if (row->flags & HTTP_NEEDS_BODY)
		return "body";
	return row->flags & HTTP_OPTIONAL_BODY ? "body?" : "-";
}

void api_write_routes(struct buf *out)
{
	size_t count = 0;
	const struct http_routes *tables = api_tables(&count);

	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < tables[i].count; k++) {
			const struct http_route *row = &tables[i].rows[k];

			buf_printf(out, "%s\t%s\t%s\t", http_method_name(row->method), row->pattern, body_word(row));
			write_who(row, out);
			buf_putc(out, '\n');
		}
	}
}
