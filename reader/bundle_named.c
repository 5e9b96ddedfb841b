/* Check A: the index names it, and the walk met the file. Nothing here opens or resolves anything. */
#include <stdlib.h>

#include "reader/bundle.h"

bool bundle_named_has(const struct bundle *bundle, struct str id)
{
	return bundle->named_count > 0 &&
		bsearch(&id, bundle->named, bundle->named_count, sizeof(*bundle->named), bundle_compare_ids) != NULL;
}

bool bundle_named_owns(const struct bundle *bundle, const struct contained_node *node)
{
	struct bundle_inode wanted = {node->device, node->inode};

	return bundle->inode_count > 0 &&
		bsearch(&wanted, bundle->inodes, bundle->inode_count, sizeof(*bundle->inodes), bundle_compare_inodes) !=
		NULL;
}
