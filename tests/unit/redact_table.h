/* redact_table.h - what the redactor must hide and must leave alone, for its tests. */
#ifndef ADMITD_TESTS_UNIT_REDACT_TABLE_H
#define ADMITD_TESTS_UNIT_REDACT_TABLE_H

#include <stddef.h>

/* Its two characters stand nowhere else in a template. */
#define REDACT_CANARY "Z7"

struct redact_secret {
	const char *text;
	const char *shown;
};

/* %s is where the canary goes, with at least so many characters where a shape asks for them. */
struct redact_template {
	const char *text;
	size_t shortest;
};

extern const struct redact_secret redact_secrets[];
extern const size_t redact_secret_count;

extern const struct redact_template redact_templates[];
extern const size_t redact_template_count;

extern const char *const redact_kept[];
extern const size_t redact_kept_count;

/* The capabilities of the decision vectors that are unsafe for what they hold. */
extern const char *const redact_vector_secrets[];
extern const size_t redact_vector_secret_count;

#endif
