/* redact_internal.h - what the files of the redactor share; nobody else includes it, but for its own tests.
 *
 * One text goes through: redact_look (is there anything to do at all?), redact_clean (one line structure, no
 * control characters), redact_find (spans that hold secrets), and redact.c writes what is left. Positions are
 * bytes in the cleaned text. One thread at a time per struct; the patterns are shared and never change.
 */
#ifndef ADMITD_POLICY_REDACT_INTERNAL_H
#define ADMITD_POLICY_REDACT_INTERNAL_H

#include "policy/redact.h"

/* What redact_look saw: a rule runs only if its bytes are there. */
enum redact_seen {
	REDACT_SEEN_SEPARATOR = 1, /* one of : = % + */
	REDACT_SEEN_SPACE = 2,
	REDACT_SEEN_DASHES = 4, /* two in a row */
	REDACT_SEEN_DASH = 8,
	REDACT_SEEN_TOKEN = 16, /* the letters that a token shape begins with */
	REDACT_SEEN_ODD = 32    /* control characters or bytes beyond ASCII: clean first, then look again */
};

unsigned redact_look(struct str text);

/* Appends the text as valid UTF-8 without escapes, control and bidi characters, trimmed, every run of white space
 * one blank, or one newline where it held a line break. Adds the runs it took out to *controls. Errors are in `out`.
 */
void redact_clean(struct str text, struct buf *out, size_t *controls);

struct redact_span {
	size_t begin;
	size_t end;
	enum redact_category category;
};

struct redact_spans {
	struct redact_span *items; /* owned */
	size_t count;
	size_t size;
	bool is_first_enough; /* stop after the first */
	bool is_out_of_memory;
	bool is_key_open; /* the last private key has no end */
};

void redact_spans_release(struct redact_spans *spans);

/* Where a walk over the heads of one rule stands. Positions only grow, which keeps nested heads linear: what one
 * head has looked up, the next one inside it does not look up again.
 */
struct redact_cursor {
	struct str text;
	struct redact_spans *spans;
	enum redact_category category;
	size_t covered; /* everything before it that is secret is in a span */
	size_t next
		[5]; /* the next ']', '}', newline, '@' and blank from where it was last asked; SIZE_MAX = not asked yet */
	size_t open_key;   /* where a private key began that has not ended; SIZE_MAX = none */
	size_t closed_key; /* where the last one ended */
};

/* Takes one span in, unless it is empty or a mask already. */
void redact_span_add(struct redact_cursor *cursor, size_t begin, size_t end);

/* The position of `byte` (one of ] } newline @ blank) at or after `from`, or the text's length. */
size_t redact_next(struct redact_cursor *cursor, char byte, size_t from);

/* A key and where its value begins, as a pattern saw them. */
struct redact_head {
	size_t begin; /* of the key */
	size_t end;
	size_t value;
	bool is_closed; /* a quote closes the key before the separator */
	char separator; /* its first byte; a blank for `--key value` */
};

/* What the name of a key says about its value. */
enum redact_key_kind {
	REDACT_KEY_SECRET, /* the zero value masks */
	REDACT_KEY_PLAIN,
	REDACT_KEY_COUNTABLE, /* `tokens`, `max_token`: a number or a plain word is no secret */
	REDACT_KEY_LINE,      /* a value of several words: up to the end of the line */
	REDACT_KEY_HEADER,    /* Authorization: a scheme, then the value */
	REDACT_KEY_COOKIE
};

/* `before` is the byte before the key, NUL at the beginning of the text. */
enum redact_key_kind redact_key_kind_of(struct str key, char separator, char before);

/* Masks the value of a head, if it is one: quoted, bracketed, enclosed with its key, a line or a word. */
void redact_value_mask(struct redact_cursor *cursor, const struct redact_head *head, enum redact_key_kind kind);

/* Masks the word that begins at `begin` and ends before white space or a quote; prose (`Bearer tokens are …`) is
 * left alone if `may_be_prose`.
 */
void redact_word_mask(struct redact_cursor *cursor, size_t begin, bool may_be_prose);

/* The limits of one match; the defaults are far beyond what the patterns need. */
struct redact_limits {
	uint32_t match;
	uint32_t heap_kib;
	bool is_interpreted; /* without JIT, which counts its steps more coarsely */
};
extern const struct redact_limits redact_default_limits;

enum { REDACT_LIMIT_HIT = 1 };

/* Adds the spans of every rule that `seen` calls for, in no order. 0, REDACT_LIMIT_HIT or -ENOMEM. */
int redact_find(
	struct str clean, unsigned seen, const struct redact_limits *limits, struct redact_spans *spans) MUST_USE;

/* redact_text under given limits. */
/* What every way of redacting ends with: the text and what was counted, or a fault and neither. 0 or a negative errno; `report` may be NULL. */
int redact_deliver(int result, const struct buf *text, const struct redact_report *counts, struct buf *out,
	struct redact_report *report) MUST_USE;

int redact_text_within(struct str text, size_t cap_code_points, const struct redact_limits *limits, struct buf *out,
	struct redact_report *report) MUST_USE;

#endif
