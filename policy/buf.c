#include "policy/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { SMALLEST = 256 };

void buf_init(struct buf *buf, size_t ceiling)
{
	*buf = (struct buf){.ceiling = ceiling};
}

void buf_release(struct buf *buf)
{
	free(buf->bytes);
	buf_init(buf, buf->ceiling);
}

void buf_reset(struct buf *buf)
{
	buf->len = 0;
	buf->error = 0;
	if (buf->bytes != NULL)
		buf->bytes[0] = '\0';
}

int buf_reserve(struct buf *buf, size_t more)
{
	size_t size = buf->size ? buf->size : SMALLEST;
	char *bytes;

	if (buf->error)
		return buf->error;
	if (more > buf->ceiling - buf->len)
		return buf->error = -EMSGSIZE;
	while (size - buf->len <= more)
		size *= 2;
	/* The room itself stays within the ceiling, so that appending into it needs no second look. */
	if (size > buf->ceiling + 1)
		size = buf->ceiling + 1;
	if (size == buf->size)
		return 0;
	bytes = realloc(buf->bytes, size);
	if (!bytes)
		return buf->error = -ENOMEM;
	buf->bytes = bytes;
	buf->size = size;
	return 0;
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	CHECK(len >= 0);
	if (buf_reserve(buf, (size_t)len))
		return;
	va_start(args, format);
	(void)vsnprintf(buf->bytes + buf->len, (size_t)len + 1, format, args);
	va_end(args);
	buf->len += (size_t)len;
}

int buf_error(const struct buf *buf)
{
	return buf->error;
}

struct str buf_str(const struct buf *buf)
{
	return (struct str){buf->bytes ? buf->bytes : "", buf->len};
}

char *buf_take(struct buf *buf, size_t *ret_len)
{
	char *bytes = NULL;

	if (!buf->error && buf->bytes) {
		bytes = buf->bytes;
		*ret_len = buf->len;
		buf->bytes = NULL;
	}
	buf_release(buf);
	return bytes;
}

void buf_fail(struct buf *buf, int error)
{
	if (!buf->error)
		buf->error = error;
}
