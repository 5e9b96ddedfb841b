/* Check B: the kernel resolves the path and doesn't leave the bundle. Knows nothing of indexes or of which files a walk met. */
#include "reader/bundle.h"

static int result_of(int opened)
{
	switch (opened) {
	case CONTAINED_ABSENT:
	case CONTAINED_LOOP:
	case CONTAINED_DENIED:
	case CONTAINED_TOO_LONG:
	case CONTAINED_FAILED:
		return BUNDLE_CONCEPT_UNREADABLE;
	case CONTAINED_NOT_REGULAR:
		return BUNDLE_CONCEPT_NOT_REGULAR;
	default:
		return BUNDLE_CONCEPT_OUTSIDE;
	}
}

/* Opened to be read at once, or the ordinary way, which alone says what is wrong. */
static int open_path(const struct bundle *bundle, struct str path, bool is_file, struct contained_node *ret)
{
	int result = is_file ? contained_open_file(&bundle->root, path, ret) : CONTAINED_NOT_REGULAR;

	return result <= 0 ? result : contained_open(&bundle->root, path, CONTAINED_FOLLOW_ALL, ret);
}

int bundle_inside_open(const struct bundle *bundle, struct str path, bool is_file, struct contained_node *ret)
{
	int result = open_path(bundle, path, is_file, ret);

	return result > 0 ? result_of(result) : result;
}
