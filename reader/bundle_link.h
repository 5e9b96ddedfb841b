/* bundle_link.h - the links in a page of Markdown, and where in a bundle they lead, by the text alone (chapter 5.4).
 *
 * A link is `[text](target)`, outside of fenced code. Where it leads is worked out on the text and nothing is opened: a target
 * that begins with `/` starts at the bundle, any other at the page's own folder; `.` and `..` are resolved segment by segment, and
 * a path that is above the bundle at any point is outside, even if it came back. An address (`https:`, `mailto:`, `//host`) or a
 * mere `#part` leads to no file. %XX is decoded; a NUL, or %XX that stands for `/` or a NUL, is outside.
 *
 * Pure functions, linear in the text. Any thread.
 */
#ifndef ADMITD_READER_BUNDLE_LINK_H
#define ADMITD_READER_BUNDLE_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/arena.h"

struct bundle_links {
	struct str text;
	size_t at;
	size_t line_end; /* of the line that `at` lies in; 0 before the first */
	bool is_fenced;
};

/* Begins over a page. */
static inline struct bundle_links bundle_links_of(struct str text)
{
	return (struct bundle_links){.text = text};
}

/* The next link's target as it was written, without `<>`, a title behind it, `?query` and `#part`; false at the end. */
bool bundle_links_next(struct bundle_links *links, struct str *ret_target);

enum bundle_link_result {
	BUNDLE_LINK_ELSEWHERE = 1, /* an address, or nothing */
	BUNDLE_LINK_OUTSIDE,       /* above the bundle, or no path */
};

/* Where a target leads that stands on a page in `folder` ("" or "tables", without a slash at its end): 0 and *ret_path, relative
 * to the bundle, "" for its own folder, in the arena; a result; or -ENOMEM. *ret_is_folder: it ends in a slash or is empty.
 */
int bundle_link_resolve(
	struct arena *arena, struct str folder, struct str target, struct str *ret_path, bool *ret_is_folder) MUST_USE;

/* The string rule for what a caller asks for: relative, no empty segment, none of `.` and `..`, no NUL. */
bool bundle_link_is_plain(struct str path);

#endif
