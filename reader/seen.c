#include "reader/seen.h"

#include <errno.h>
#include <search.h>

static int compare(const void *left, const void *right)
{
	return str_compare(*(const struct str *)left, *(const struct str *)right);
}

static void keep(void *key)
{
	(void)key; /* it lies in the arena */
}

int seen_add(struct seen *seen, struct arena *arena, struct str path)
{
	struct str *key = ARENA_NEW(arena, struct str);
	const struct str *const *found = NULL;

	if (key == NULL)
		return -ENOMEM;
	*key = arena_str(arena, path);
	if (key->bytes == NULL)
		return -ENOMEM;
	found = tsearch(key, &seen->tree, compare);
	return found == NULL ? -ENOMEM : *found == key;
}

void seen_release(struct seen *seen)
{
	tdestroy(seen->tree, keep);
	seen->tree = NULL;
}
