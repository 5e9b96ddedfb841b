/* The console (chapter 7): what scripts/embed-web makes of web/, compiled in, gzipped for who takes that. Whoever asks may have
 * them: what they show comes from the API, with the reader's own token.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "daemon/http/api.h"

struct web_file {
	const char *path;
	const char *type;
	const char *tag;
	struct str plain;
	struct str packed;
};

#include "daemon/http/web_bytes.h"

enum { FILES = sizeof(web_files) / sizeof(web_files[0]), TAG_SIZE = 64 };

static const struct web_file *find(const char *path)
{
	for (size_t i = 0; i < FILES; i++) {
		if (strcmp(web_files[i].path, path) == 0)
			return &web_files[i];
	}
	return NULL;
}

static bool is_named(struct str word, const char *name)
{
	return word.len == strlen(name) && strncasecmp(word.bytes, name, word.len) == 0;
}

static struct str trimmed(struct str text)
{
	while (text.len > 0 && text.bytes[0] == ' ')
		text = (struct str){text.bytes + 1, text.len - 1};
	while (text.len > 0 && text.bytes[text.len - 1] == ' ')
		text.len--;
	return text;
}

/* One coding with its parameters. Only a weight of nothing refuses it. */
static bool offers_gzip(struct str item)
{
	const char *mark = memchr(item.bytes, ';', item.len);
	size_t name_len = mark != NULL ? (size_t)(mark - item.bytes) : item.len;
	struct str weight = trimmed((struct str){item.bytes + name_len, item.len - name_len});

	if (!is_named(trimmed((struct str){item.bytes, name_len}), "gzip"))
		return false;
	for (size_t i = 0; i < weight.len; i++) {
		if (weight.bytes[i] >= '1' && weight.bytes[i] <= '9')
			return true;
	}
	return weight.len == 0;
}

static bool takes_gzip(struct str header)
{
	while (header.len > 0) {
		const char *comma = memchr(header.bytes, ',', header.len);
		size_t len = comma != NULL ? (size_t)(comma - header.bytes) : header.len;

		if (offers_gzip((struct str){header.bytes, len}))
			return true;
		len = comma != NULL ? len + 1 : len;
		header = (struct str){header.bytes + len, header.len - len};
	}
	return false;
}

/* `tag` as it stands between its quotation marks. */
static bool is_known(struct str header, const char *tag)
{
	size_t len = strlen(tag);

	return header.len == len + 2 && memcmp(header.bytes + 1, tag, len) == 0;
}

static void add_headers(struct http_reply *reply, const char *tag)
{
	http_reply_header(reply, "ETag", "\"%s\"", tag);
	http_reply_header(reply, "Vary", "Accept-Encoding");
	http_reply_header(reply, "Cache-Control", "no-cache");
	http_reply_header(reply, "Content-Security-Policy", "%s", web_policy);
	http_reply_header(reply, "Cross-Origin-Opener-Policy", "same-origin");
}

static void answer_file(const struct web_file *file, const struct http_request *request, struct http_reply *reply)
{
	bool is_packed = takes_gzip(http_request_header(request, "Accept-Encoding"));
	char tag[TAG_SIZE];

	(void)snprintf(tag, sizeof(tag), "%s%s", file->tag, is_packed ? "-gzip" : "");
	if (is_known(http_request_header(request, "If-None-Match"), tag)) {
		http_reply_empty(reply, 304);
	} else {
		http_reply_raw(reply, 200, file->type, is_packed ? file->packed : file->plain);
		if (is_packed)
			http_reply_header(reply, "Content-Encoding", "gzip");
	}
	add_headers(reply, tag);
}

static int get_console(void *ctx, struct http_request *request, struct http_reply *reply)
{
	(void)ctx;
	answer_file(find("index.html"), request, reply);
	return 0;
}

/* The folder is the pattern's, so that no path of the tree is made from what was sent but for one name. */
static int get_file(void *ctx, struct http_request *request, struct http_reply *reply)
{
	static const size_t web_len = sizeof("/web/") - 1;
	const char *folder = request->route->pattern + web_len;
	struct str path = arena_printf(&request->arena, "%.*s%s", (int)(strchr(folder, '{') - folder), folder,
		http_request_param(request, "file").bytes);
	const struct web_file *file = path.bytes != NULL ? find(path.bytes) : NULL;

	(void)ctx;
	if (path.bytes == NULL)
		return -ENOMEM;
	if (file != NULL)
		answer_file(file, request, reply);
	else
		http_reply_problem(reply, request, HTTP_PROBLEM_NOT_FOUND, "the console has no such file");
	return 0;
}

static const struct http_route rows[] = {
	{HTTP_GET, "/", 0, HTTP_NO_AUTH, 0, get_console},
	{HTTP_GET, "/web/{file}", 0, HTTP_NO_AUTH, 0, get_file},
	{HTTP_GET, "/web/vendor/{file}", 0, HTTP_NO_AUTH, 0, get_file},
};

const struct http_routes api_console_routes = API_ROUTES(rows);
