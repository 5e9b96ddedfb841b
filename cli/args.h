/* args.h - options and words of a command line, read by getopt_long from one declarative table.
 *
 * The table that is parsed is the table that --help prints, so the two cannot differ. Values are borrowed from
 * argv, which must outlive the struct. One thread at a time. May use nothing of the program but policy/check.h.
 */
#ifndef ADMITD_CLI_ARGS_H
#define ADMITD_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/check.h"

/* How many different options one command may have, and how many may be given at once. */
enum { ARGS_OPTIONS = 40, ARGS_GIVEN = 128 };

enum args_kind {
	ARGS_FLAG = 0,
	ARGS_TEXT, /* has a value; given twice, the last one counts */
	ARGS_LIST, /* has a value and may be repeated */
};

/* A table ends with an option whose name is NULL. */
struct args_option {
	const char *name; /* long, without its dashes */
	char letter;      /* the short one; 0: none */
	enum args_kind kind;
	const char *value; /* what the help calls the value */
	const char *help;
};

struct args {
	struct {
		const struct args_option *option;
		const char *value; /* NULL for a flag */
	} given[ARGS_GIVEN];
	size_t given_count;
	char **words; /* what is no option, in order */
	size_t word_count;
};

enum args_result { ARGS_USAGE = 1 };

/* Adds what argv gives to `args`, which begins zeroed. argv[0] names the command in getopt's own messages on standard
 * error. `tables` are up to 3 tables, ended by NULL. With `stops_at_word`, the first word and everything behind it are
 * words. 0, or ARGS_USAGE after a message.
 */
int args_parse(
	struct args *args, const struct args_option *const *tables, bool stops_at_word, int argc, char **argv) MUST_USE;

/* Whether the option was given at all. */
bool args_has(const struct args *args, const char *name);

/* The value that counts, or NULL. */
const char *args_text(const struct args *args, const char *name);

/* The values of a list, one a call: *at begins at 0; NULL at the end. */
const char *args_next(const struct args *args, const char *name, size_t *at);

/* The word at that position, or NULL. */
const char *args_word(const struct args *args, size_t position);

#endif
