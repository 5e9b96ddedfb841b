#include "daemon/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Atomic(enum log_level) log_level_now = LOG_LINE_INFO;

static const char *const level_names[] = {"error", "warning", "info", "debug"};

void log_set_level(enum log_level level)
{
	atomic_store(&log_level_now, level);
}

/* Copies `text` so that it stays on its line; returns the end. The last byte before `end` is kept for the line feed. */
static char *add_escaped(char *at, const char *end, const char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (; *text && end - at > 5; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte >= 0x20 && byte < 0x7f && byte != '\\') {
			*at++ = (char)byte;
			continue;
		}
		*at++ = '\\';
		*at++ = 'x';
		*at++ = digits[byte >> 4];
		*at++ = digits[byte & 15];
	}
	return at;
}

void log_line(enum log_level level, const char *event, const char *format, ...)
{
	char text[LOG_LINE_MAX];
	char line[LOG_LINE_MAX];
	char *at;
	va_list args;
	ssize_t written;
	int head;

	if (level > atomic_load(&log_level_now))
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	head = snprintf(line, 128, "admitd: %s %s ", level_names[level], event);
	at = add_escaped(line + (head < 128 ? head : 127), line + sizeof(line), text);
	*at++ = '\n';
	/* Where standard error is gone there is nobody left to tell. */
	written = write(STDERR_FILENO, line, (size_t)(at - line));
	(void)written;
}
