/* redact.h - the one redactor that every text from outside passes (chapter 1.10).
 *
 * Text goes in with any bytes and any length; what comes out is valid UTF-8 on one line, without control or bidi
 * characters, in which every secret is REDACT_MASK. What counts as a secret is in redact_patterns.c (shapes) and
 * redact_keys.c (names of keys). It is for what is shown, logged and answered: never for what is kept as policy,
 * written to a config or digested.
 *
 * Invariants:
 *   R1 redacting twice gives the bytes that redacting once gave.
 *   R2 time and memory are linear in the length of the text, whatever it holds.
 *   R3 it fails closed: where a pattern runs into its limit, the whole text becomes one mask.
 *   R4 a mask is written whole or not at all, so a cut never shows part of what it stands for.
 *
 * Uses PCRE2 and threads' once-initialisation; no I/O, no clock, no log. Every function may be called from any
 * thread at any time.
 */
#ifndef ADMITD_POLICY_REDACT_H
#define ADMITD_POLICY_REDACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/arena.h"
#include "policy/buf.h"
#include "policy/check.h"

/* What stands where a secret stood. */
#define REDACT_MASK "***"

/* How long a text may be, in code points (1.10). */
#define REDACT_REASON ((size_t)500)
#define REDACT_FIELD ((size_t)240)
#define REDACT_LABEL ((size_t)160)
/* No cap: for a file or a packet that has its own limits. */
#define REDACT_UNCAPPED SIZE_MAX

enum redact_category {
	REDACT_OVER_LIMIT,      /* the whole text was masked, see R3 */
	REDACT_PRIVATE_KEY,     /* PEM and its like */
	REDACT_DATABASE_URL,    /* from the scheme on */
	REDACT_URL_USER,        /* user info of any other URL */
	REDACT_AUTH_VALUE,      /* Basic, Bearer, Authorization */
	REDACT_TOKEN,           /* GitHub, GitLab, Slack, sk-, AWS, Google, JWT */
	REDACT_CREDENTIAL_FILE, /* netrc and pgpass entries */
	REDACT_KEY_VALUE,       /* a value under a key whose name says so, docker's auth included */
	REDACT_CONTROL,         /* runs of ANSI escapes, control and bidi characters */
	REDACT_CATEGORIES
};

/* How much of each category was taken out; what a cut removed afterwards is counted too. */
struct redact_report {
	size_t counts[REDACT_CATEGORIES];
	bool is_key_open; /* a private key begins in the text and doesn't end there: what follows may be the rest of it */
};

/* The wire name of a category ("private_key", …), static. */
const char *redact_category_name(enum redact_category category);

/* Compiles the patterns, once a process; the functions below do it themselves, a daemon does it at start so that
 * a failure shows there. 0 or -ENOMEM, the same answer every time.
 */
int redact_init(void) MUST_USE;

/* Appends the redacted text to `out`: invalid UTF-8 becomes U+FFFD, ANSI escapes, control and bidi characters go,
 * secrets are masked, white space (Unicode White_Space and U+FEFF) is trimmed and folded to single spaces, and at
 * most `cap_code_points` are written. An absent text writes nothing.
 *
 * `report` may be NULL; else it is overwritten. Returns 0, -ENOMEM, or the error of `out`; on an error nothing of
 * the text was appended.
 */
int redact_text(struct str text, size_t cap_code_points, struct buf *out, struct redact_report *report) MUST_USE;

/* The same for a text of many lines, such as a file's: nothing is folded or cut, white space stays as it is, and a secret over several lines
 * becomes one mask and their line feeds, so that lines keep their numbers. `report` is overwritten, never NULL. R1 to R3 hold.
 */
int redact_body(struct str text, struct buf *out, struct redact_report *report) MUST_USE;

/* Does the redactor find a secret in this text (1.4, unsafe text)? Control and bidi characters alone are none.
 * Fails closed: true when memory or a limit runs out. An ordinary name costs one walk over its bytes.
 */
bool redact_finds_secret(struct str text) MUST_USE;

/* The same into an arena: 0 and *ret_text, or -ENOMEM. An absent text stays absent. */
int redact_copy(struct arena *arena, struct str text, size_t cap_code_points, struct str *ret_text) MUST_USE;

#endif
