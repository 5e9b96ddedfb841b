#include "daemon/http/api_list.h"

#include <stdio.h>
#include <string.h>

enum { PATH_CEILING = 16 * 1024, MARK_SIZE = 10, CURSOR_DIGITS = 18 };

static bool is_known(struct str name, const char *const *filters)
{
	if (str_is(name, "limit") || str_is(name, "cursor"))
		return true;
	for (; *filters != NULL; filters++)
		if (str_is(name, *filters))
			return true;
	return false;
}

static int refuse(struct http_request *request, struct http_reply *reply, const char *detail)
{
	http_reply_problem(reply, request, HTTP_PROBLEM_BAD_REQUEST, detail);
	return API_LIST_REFUSED;
}

/* ---- cursors: which list and filters they are of, a hyphen, and where the store goes on */

static uint32_t add_hash(uint32_t hash, struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		hash = (hash ^ (unsigned char)text.bytes[i]) * UINT32_C(16777619);
	return (hash ^ UINT32_C(256)) * UINT32_C(16777619);
}

/* FNV-1a: it finds mistakes, nobody is kept out by it. In whatever order the filters are given. */
static uint32_t mark_of(const struct http_request *request)
{
	const uint32_t begin = UINT32_C(2166136261);
	uint32_t mark = add_hash(begin, request->path);

	for (unsigned i = 0; i < request->query_count; i++)
		if (!str_is(request->query[i].name, "limit") && !str_is(request->query[i].name, "cursor"))
			mark += add_hash(add_hash(begin, request->query[i].name), request->query[i].value);
	return mark;
}

static struct str write_mark(const struct http_request *request, char ret_text[static MARK_SIZE])
{
	int len = snprintf(ret_text, MARK_SIZE, "%08lx-", (unsigned long)mark_of(request));

	return (struct str){ret_text, (size_t)len};
}

static bool read_number(struct str text, int64_t *ret)
{
	*ret = 0;
	if (text.len == 0 || text.len > CURSOR_DIGITS)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		if (text.bytes[i] < '0' || text.bytes[i] > '9')
			return false;
		*ret = *ret * 10 + (text.bytes[i] - '0');
	}
	return *ret > 0;
}

/* False: it is no cursor of this list. */
static bool read_cursor(struct api_list *list, bool by_sequence)
{
	char mark[MARK_SIZE];
	struct str wanted = write_mark(list->request, mark);
	struct str given = http_request_query(list->request, "cursor");

	if (given.bytes == NULL)
		return true;
	if (given.len <= wanted.len || memcmp(given.bytes, wanted.bytes, wanted.len) != 0)
		return false;
	list->after = (struct str){given.bytes + wanted.len, given.len - wanted.len};
	return !by_sequence || read_number(list->after, &list->from);
}

int api_list_begin(struct api_list *list, struct http_request *request, struct http_reply *reply,
	const char *const *filters, bool by_sequence)
{
	*list = (struct api_list){.request = request, .reply = reply};
	for (unsigned i = 0; i < request->query_count; i++)
		if (!is_known(request->query[i].name, filters))
			return refuse(request, reply, "this list has no such query parameter");
	if (http_request_query_int(request, "limit", 1, API_LIST_MAX, API_LIST_USUAL, &list->limit) != 0)
		return refuse(request, reply, "limit is a number from 1 to 500");
	if (!read_cursor(list, by_sequence))
		return refuse(
			request, reply, "cursor is what `next` of a page of this list says, with the same filters");
	return 0;
}

size_t api_list_wanted(const struct api_list *list)
{
	return (size_t)list->limit + 1;
}

size_t api_list_shown(const struct api_list *list, size_t count)
{
	return count < (size_t)list->limit ? count : (size_t)list->limit;
}

size_t api_list_open(struct api_list *list, size_t count)
{
	list->out = http_reply_json(list->reply, 200);
	json_out_begin_object(&list->out);
	json_out_key(&list->out, "items");
	json_out_begin_array(&list->out);
	return api_list_shown(list, count);
}

static void add_encoded(struct buf *buf, struct str text)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < text.len; i++) {
		unsigned char byte = (unsigned char)text.bytes[i];
		bool is_plain = (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') ||
			(byte != '\0' && strchr("-._~", byte) != NULL);

		if (is_plain) {
			buf_putc(buf, (char)byte);
			continue;
		}
		buf_putc(buf, '%');
		buf_putc(buf, digits[byte >> 4]);
		buf_putc(buf, digits[byte & 15]);
	}
}

static void write_next(struct api_list *list, struct str cursor)
{
	const struct http_request *request = list->request;
	char mark[MARK_SIZE];
	struct buf buf;

	buf_init(&buf, PATH_CEILING);
	buf_add_str(&buf, request->path);
	buf_printf(&buf, "?limit=%lld&cursor=", (long long)list->limit);
	add_encoded(&buf, write_mark(request, mark));
	add_encoded(&buf, cursor);
	for (unsigned i = 0; i < request->query_count; i++) {
		if (str_is(request->query[i].name, "limit") || str_is(request->query[i].name, "cursor"))
			continue;
		buf_putc(&buf, '&');
		add_encoded(&buf, request->query[i].name);
		buf_putc(&buf, '=');
		add_encoded(&buf, request->query[i].value);
	}
	if (buf_error(&buf) != 0)
		buf_fail(&list->reply->body, buf_error(&buf));
	json_out_member_str(&list->out, "next", buf_str(&buf));
	buf_release(&buf);
}

void api_list_write_next(struct api_list *list, bool has_more, struct str cursor)
{
	if (has_more)
		write_next(list, cursor);
	else
		json_out_member_null(&list->out, "next");
}

void api_list_close(struct api_list *list, bool has_more, struct str cursor)
{
	json_out_end_array(&list->out);
	api_list_write_next(list, has_more, cursor);
	json_out_end_object(&list->out);
}

void api_list_close_sequence(struct api_list *list, bool has_more, int64_t sequence)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%lld", (long long)sequence);
	api_list_close(list, has_more, api_text(text));
}
