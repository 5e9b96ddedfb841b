/* document.h - files that this program reads, and looking into JSON that it got. One thread at a time.
 */
#ifndef ADMITD_CLI_DOCUMENT_H
#define ADMITD_CLI_DOCUMENT_H

#include <jansson.h>
#include <stddef.h>

#include "policy/buf.h"
#include "policy/check.h"

/* A document may have 4 MiB (4.1); a stream of them 1 GiB. */
enum { DOCUMENT_LIMIT = 4 * 1024 * 1024, DOCUMENT_STREAM_LIMIT = 1024 * 1024 * 1024 };

/* Reads a file, or standard input for "-", into `ret_bytes`, a buffer of the caller whose ceiling counts. 0 or -errno. */
int document_read(const char *path, struct buf *ret_bytes) MUST_USE;

/* The member's text; NULL when `object` is no object, has no such member or one that is no text. */
const char *document_text(const json_t *object, const char *key);

/* The same, and "" instead of NULL. */
const char *document_text_or_empty(const json_t *object, const char *key);

#endif
