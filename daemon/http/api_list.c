#include "daemon/http/api_list.h"

#include <stdio.h>
#include <string.h>

enum { PATH_CEILING = 16 * 1024 };

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

int api_list_begin(struct api_list *list, struct http_request *request, struct http_reply *reply,
	const char *const *filters, bool by_sequence)
{
	*list = (struct api_list){.request = request, .reply = reply};
	for (unsigned i = 0; i < request->query_count; i++)
		if (!is_known(request->query[i].name, filters))
			return refuse(request, reply, "this list has no such query parameter");
	if (http_request_query_int(request, "limit", 1, API_LIST_MAX, API_LIST_USUAL, &list->limit) != 0)
		return refuse(request, reply, "limit is a number from 1 to 500");
	if (by_sequence && http_request_query_int(request, "cursor", 1, INT64_MAX, 0, &list->from) != 0)
		return refuse(request, reply, "cursor is what `next` of a page before says");
	if (!by_sequence)
		list->after = http_request_query(request, "cursor");
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
	struct buf buf;

	buf_init(&buf, PATH_CEILING);
	buf_add_str(&buf, request->path);
	buf_printf(&buf, "?limit=%lld&cursor=", (long long)list->limit);
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
