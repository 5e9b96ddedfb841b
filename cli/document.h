/* document.h - files and JSON that this program reads, and looking into JSON that it got.
 *
 * Parsing is as strict as the daemon's (chapter 4.1): duplicate keys, NUL escapes, lone surrogates and a depth over 64 are
 * refused, and a refusal is an offset, never the parser's words, which quote the input. One thread at a time.
 */
#ifndef ADMITD_CLI_DOCUMENT_H
#define ADMITD_CLI_DOCUMENT_H

#include <jansson.h>
#include <stddef.h>

#include "policy/buf.h"
#include "policy/check.h"

/* A document may have 4 MiB (4.1); a stream of them 1 GiB. */
enum { DOCUMENT_LIMIT = 4 * 1024 * 1024, DOCUMENT_DEPTH = 64, DOCUMENT_STREAM_LIMIT = 1024 * 1024 * 1024 };

enum document_result {
	DOCUMENT_MALFORMED = 1,
	DOCUMENT_CUT_OFF, /* what is there could go on */
};

/* Reads a file, or standard input for "-", into `ret_bytes`, a buffer of the caller whose ceiling counts. 0 or -errno. */
int document_read(const char *path, struct buf *ret_bytes) MUST_USE;

/* Parses one value, and white space around it, that fills `text`. 0 and *ret_json, owned by the caller; a result and
 * *ret_offset, the byte at which it is wrong; -ENOMEM. */
int document_parse(struct str text, json_t **ret_json, size_t *ret_offset) MUST_USE;

/* Parses the first value of `text`, whatever follows. *ret_used: bytes up to its end. */
int document_parse_first(struct str text, json_t **ret_json, size_t *ret_used) MUST_USE;

/* The member's text; NULL when `object` is no object, has no such member or one that is no text. */
const char *document_text(const json_t *object, const char *key);

/* The same, and "" instead of NULL. */
const char *document_text_or_empty(const json_t *object, const char *key);

#endif
