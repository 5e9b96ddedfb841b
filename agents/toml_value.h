/* toml_value.h - inside toml_read: strings, numbers, dates and keys of TOML (one text that is being read).
 *
 * Every function begins at reading->at and leaves it behind what it took. 0; TOML_READ_REFUSED, with reading->at at the fault and
 * reading->words set; -ENOMEM. May use policy only.
 */
#ifndef ADMITD_AGENTS_TOML_VALUE_H
#define ADMITD_AGENTS_TOML_VALUE_H

#include <stdbool.h>

#include "agents/toml_read.h"
#include "policy/buf.h"

struct toml_note;

struct toml_reading {
	struct str text;
	size_t at;
	unsigned depth;
	const char *words;
	json_t *table;           /* where keys go now; borrowed from the root */
	struct toml_note *notes; /* how each table and array came to be */
	size_t note_count;
};

int toml_refuse(struct toml_reading *reading, const char *words);
/* Is this byte next? */
bool toml_is_at(const struct toml_reading *reading, char byte);
bool toml_begins(const struct toml_reading *reading, const char *literal);
/* Blanks and tabs. */
void toml_skip_blanks(struct toml_reading *reading);
/* A comment up to its line's end, if one stands here. */
int toml_skip_comment(struct toml_reading *reading) MUST_USE;
/* One line end; false where there is none. */
bool toml_take_line_end(struct toml_reading *reading);

/* One part of a key, bare or quoted. */
int toml_take_key(struct toml_reading *reading, struct buf *ret_key) MUST_USE;
/* A string of any of the four kinds; its quote stands here. */
int toml_take_string(struct toml_reading *reading, json_t **ret) MUST_USE;
/* true, false, a number, a date or a time. */
int toml_take_scalar(struct toml_reading *reading, json_t **ret) MUST_USE;

#endif
