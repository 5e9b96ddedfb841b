/* ignore.h - what a `.gitignore` excludes (chapter 5.2), by git's own rules.
 *
 * A line is a pattern: `!` takes back, `/` at the end means directories only, a `/` elsewhere ties it to the file's own directory, `*` and
 * `?` stop at slashes, `**` between slashes doesn't, brackets are classes, a backslash takes the next byte as it is. In one file the last line
 * that fits decides; of several files, the one nearest to the entry. What lies below an excluded directory isn't looked at, so nothing takes it
 * back. Matching takes time in the product of the two lengths, whatever the pattern. Nothing is opened here. Any thread.
 */
#ifndef ADMITD_READER_IGNORE_H
#define ADMITD_READER_IGNORE_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/arena.h"

enum { IGNORE_BYTES_LIMIT = 64 * 1024, IGNORE_RULES_LIMIT = 2000 };

struct ignore_rule {
	struct str pattern; /* without its marks; borrowed from the text */
	bool is_taken_back;
	bool is_for_directories;
	bool is_tied;
};

/* One file's rules. Zeroed: none. */
struct ignore_list {
	struct str directory; /* of the file, from the root; "" for the root itself */
	struct ignore_rule *rules;
	size_t count;
};

enum ignore_verdict { IGNORE_NOTHING_SAID = 0, IGNORE_EXCLUDED, IGNORE_TAKEN_BACK };

/* Reads a file's text; both texts must outlive the list. 0; -ENOMEM; -E2BIG: more rules than are taken. */
int ignore_read(struct arena *arena, struct str directory, struct str text, struct ignore_list *ret) MUST_USE;

/* What one file says of a path from the root, which lies below the file's directory. */
enum ignore_verdict ignore_judge(const struct ignore_list *list, struct str path, bool is_directory);

/* Whether a pattern fits a path, both without a slash at the beginning. For tests. */
bool ignore_fits(struct str pattern, struct str path);

#endif
