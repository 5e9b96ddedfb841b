#include "daemon/http/condition.h"

#include <sodium.h>
#include <string.h>

enum { TAG_BYTES = 16, REVISION_DIGITS = 18 };

enum kind { KIND_NONE = 0, KIND_REVISION, KIND_ANY, KIND_MALFORMED };

/* One entity tag as we write it, "7", or a star. */
static enum kind read_field(const struct http_request *request, const char *name, int64_t *ret_revision)
{
	struct str text = http_request_header(request, name);

	*ret_revision = 0;
	if (text.bytes == NULL)
		return KIND_NONE;
	if (str_is(text, "*"))
		return KIND_ANY;
	if (text.len < 3 || text.len > REVISION_DIGITS + 2 || text.bytes[0] != '"' || text.bytes[text.len - 1] != '"')
		return KIND_MALFORMED;
	for (size_t i = 1; i + 1 < text.len; i++) {
		if (text.bytes[i] < '0' || text.bytes[i] > '9')
			return KIND_MALFORMED;
		*ret_revision = *ret_revision * 10 + (text.bytes[i] - '0');
	}
	return KIND_REVISION;
}

int condition_read(struct http_request *request, struct http_reply *reply, struct lifecycle_condition *ret)
{
	int64_t ignored = 0;
	int64_t revision = 0;
	enum kind match = read_field(request, "If-Match", &revision);
	enum kind none = read_field(request, "If-None-Match", &ignored);

	*ret = (struct lifecycle_condition){
		.has_revision = match == KIND_REVISION,
		.revision = revision,
		.only_there = match == KIND_ANY,
		.only_new = none == KIND_ANY,
	};
	if (match != KIND_MALFORMED && (none == KIND_NONE || none == KIND_ANY))
		return 0;
	http_reply_problem(reply, request, HTTP_PROBLEM_BAD_REQUEST,
		"If-Match is one revision in quotes or a star, and If-None-Match is a star");
	return HTTP_BAD_VALUE;
}

/* Whether a list of tags has this one: a weak one is as good (RFC 9110, 13.1.2). */
static bool has_tag(struct str list, const char *tag)
{
	return list.bytes != NULL && (str_is(list, "*") || memmem(list.bytes, list.len, tag, strlen(tag)) != NULL);
}

void condition_tag_body(const struct http_request *request, struct http_reply *reply)
{
	unsigned char hash[TAG_BYTES];
	char hex[2 * TAG_BYTES + 1];
	char tag[2 * TAG_BYTES + 3];
	struct str body = buf_str(&reply->body);

	if (buf_error(&reply->body) != 0 || reply->status != 200)
		return;
	(void)crypto_generichash(hash, sizeof(hash), (const unsigned char *)body.bytes, body.len, NULL, 0);
	(void)sodium_bin2hex(hex, sizeof(hex), hash, sizeof(hash));
	(void)snprintf(tag, sizeof(tag), "\"%s\"", hex);
	if (has_tag(http_request_header(request, "If-None-Match"), tag)) {
		http_reply_reset(reply);
		http_reply_empty(reply, 304);
	}
	http_reply_header(reply, "ETag", "%s", tag);
}
