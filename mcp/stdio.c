#include "mcp/stdio.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "policy/cleanup.h"

enum { READ_BYTES = 64 * 1024, KEEP_BYTES = 1024 * 1024 };

struct serving {
	const struct mcp_stdio *stdio;
	struct buf lines; /* what was read and not taken yet */
	size_t looked;    /* bytes of it in which there is no line feed */
	struct buf answer;
	enum mcp_session session;
};

static void serving_release(struct serving *serving)
{
	buf_release(&serving->lines);
	buf_release(&serving->answer);
}

/* ---- out */

static int wait_for(const struct mcp_stdio *stdio, int descriptor, short events)
{
	struct pollfd wanted = {.fd = descriptor, .events = events};
	int found;

	for (;;) {
		found = poll(&wanted, 1, stdio->idle != NULL ? stdio->idle_ms : -1);
		if (found > 0)
			return 0;
		if (found < 0 && errno != EINTR)
			return -errno;
		if (found == 0)
			stdio->idle(stdio->context);
	}
}

/* In pieces that a pipe which is ready takes at once: the waiting is done where `idle` is called. */
static int write_all(const struct mcp_stdio *stdio, struct str bytes)
{
	while (bytes.len > 0) {
		int r = wait_for(stdio, stdio->out, POLLOUT);
		ssize_t count =
			r == 0 ? write(stdio->out, bytes.bytes, bytes.len < PIPE_BUF ? bytes.len : PIPE_BUF) : 0;

		if (r != 0)
			return r;
		if (count < 0 && errno == EPIPE)
			return MCP_STDIO_DEAF;
		if (count < 0 && errno != EINTR && errno != EAGAIN)
			return -errno;
		if (count > 0)
			bytes = (struct str){bytes.bytes + count, bytes.len - (size_t)count};
	}
	return 0;
}

/* A large answer's memory is given back, so that one of them doesn't stay for the life of the process. */
static int send_answer(struct serving *serving)
{
	int r;

	buf_putc(&serving->answer, '\n');
	r = buf_error(&serving->answer);
	if (r == 0)
		r = write_all(serving->stdio, buf_str(&serving->answer));
	if (serving->answer.size > KEEP_BYTES)
		buf_release(&serving->answer);
	else
		buf_reset(&serving->answer);
	return r;
}

/* ---- one line */

/* Whatever fails on our side is told to the client, with the id if there is one: it must not wait in vain. */
static int answer_failure(struct serving *serving, const struct mcp_call *call)
{
	buf_reset(&serving->answer);
	mcp_write_error(&serving->answer, call->id, MCP_INTERNAL, "The server has no memory for this");
	return send_answer(serving);
}

static int serve_line(struct serving *serving, struct str line)
{
	CLEANUP(mcp_call_release) struct mcp_call call = {0};
	const struct mcp_message message = {.text = line, .session = serving->session};
	int r = mcp_take(serving->stdio->mcp, &message, &call, &serving->answer);

	if (r == 0)
		r = mcp_run(serving->stdio->mcp, &call, serving->stdio->context, &serving->answer);
	if (r == MCP_SILENT)
		return 0;
	if (call.opens_session)
		serving->session = MCP_SESSION_OPEN;
	return r < 0 ? answer_failure(serving, &call) : send_answer(serving);
}

/* ---- in */

/* The next whole line, without its end; at the end of the input what is left. False: there is none yet. */
static bool take_line(struct serving *serving, size_t at, bool is_last, struct str *ret)
{
	const struct str all = buf_str(&serving->lines);
	const char *end =
		all.len > serving->looked ? memchr(all.bytes + serving->looked, '\n', all.len - serving->looked) : NULL;

	if (end == NULL && !(is_last && all.len > at)) {
		serving->looked = all.len;
		return false;
	}
	*ret = (struct str){all.bytes + at, end != NULL ? (size_t)(end - (all.bytes + at)) : all.len - at};
	serving->looked = end != NULL ? (size_t)(end - all.bytes) + 1 : all.len;
	return true;
}

static int refuse_length(struct serving *serving)
{
	int r;

	mcp_write_error(
		&serving->answer, NULL, MCP_NO_REQUEST, "A message has at most 4 MiB; nothing behind it is read");
	r = send_answer(serving);
	return r != 0 ? r : MCP_STDIO_TOO_LONG;
}

/* Serves all whole lines and keeps what is behind them. */
static int serve_lines(struct serving *serving, bool is_last)
{
	struct str line;
	size_t at = 0;
	int r = 0;

	while (r == 0 && take_line(serving, at, is_last, &line)) {
		r = line.len > MCP_MESSAGE_BYTES_MAX ? refuse_length(serving) : serve_line(serving, line);
		at = serving->looked;
	}
	if (r != 0)
		return r;
	if (at > 0) {
		serving->lines.len -= at;
		memmove(serving->lines.bytes, serving->lines.bytes + at, serving->lines.len);
		serving->looked -= at;
	}
	return serving->lines.len > MCP_MESSAGE_BYTES_MAX ? refuse_length(serving) : 0;
}

/* Adds what there is to read. *ret_end: that was all. */
static int read_more(struct serving *serving, bool *ret_end)
{
	int r = wait_for(serving->stdio, serving->stdio->in, POLLIN);
	ssize_t count;

	if (r == 0)
		r = buf_reserve(&serving->lines, READ_BYTES);
	if (r != 0)
		return r;
	count = read(serving->stdio->in, serving->lines.bytes + serving->lines.len, READ_BYTES);
	if (count < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	serving->lines.len += (size_t)count;
	*ret_end = count == 0;
	return 0;
}

int mcp_stdio_serve(const struct mcp_stdio *stdio)
{
	CLEANUP(serving_release) struct serving serving = {.stdio = stdio};
	bool is_end = false;
	int r = 0;

	buf_init(&serving.lines, MCP_MESSAGE_BYTES_MAX + 2 * (size_t)READ_BYTES);
	buf_init(&serving.answer, stdio->answer_max);
	while (r == 0 && !is_end) {
		r = read_more(&serving, &is_end);
		if (r == 0)
			r = serve_lines(&serving, is_end);
	}
	return r;
}
