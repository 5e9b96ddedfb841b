/* buf.h - a byte buffer that grows by doubling up to a ceiling it is born with (chapter 3.3, after curl).
 *
 * Appending never returns an error: the first failure is kept, later appends do nothing, and whoever uses the
 * bytes asks buf_error() first. The bytes are always followed by a NUL that is not counted. Not thread-safe.
 */
#ifndef ADMITD_POLICY_BUF_H
#define ADMITD_POLICY_BUF_H

#include <stddef.h>
#include <string.h>

#include "policy/arena.h"
#include "policy/check.h"

struct buf {
	char *bytes; /* owned; NULL while nothing was added */
	size_t len;
	size_t size;
	size_t ceiling; /* len never grows beyond it */
	int error;      /* 0, -ENOMEM, or -EMSGSIZE when the ceiling was reached */
};

void buf_init(struct buf *buf, size_t ceiling);
void buf_release(struct buf *buf);
/* Forgets the content and the error, keeps the memory. */
void buf_reset(struct buf *buf);

/* Makes room for `more` bytes and the NUL. 0, or the error that is now kept. */
int buf_reserve(struct buf *buf, size_t more) MUST_USE;

static inline void buf_add(struct buf *buf, const void *bytes, size_t len)
{
	if ((buf->size - buf->len <= len || buf->error) && buf_reserve(buf, len))
		return;
	if (len)
		memcpy(buf->bytes + buf->len, bytes, len);
	buf->len += len;
	buf->bytes[buf->len] = '\0';
}

static inline void buf_putc(struct buf *buf, char byte)
{
	buf_add(buf, &byte, 1);
}

static inline void buf_add_str(struct buf *buf, struct str text)
{
	buf_add(buf, text.bytes, text.len);
}

static inline void buf_puts(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Marks the buffer broken with a negative errno, unless it is already. */
void buf_fail(struct buf *buf, int error);

/* 0, or the negative errno of the first append that failed. */
int buf_error(const struct buf *buf) MUST_USE;

/* The bytes, still owned by the buffer; never NULL. Valid until the next append. */
struct str buf_str(const struct buf *buf);

/* Takes the bytes out: the caller frees them. NULL when the buffer is empty or broken. */
char *buf_take(struct buf *buf, size_t *ret_len);

#endif
