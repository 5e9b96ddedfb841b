#include "reader/inventory_folder.h"

#include <limits.h>

#include "reader/credential_file.h"

void inventory_folder_init(struct inventory_folder *folder)
{
	*folder = (struct inventory_folder){.fd = -1};
	walk_names_init(&folder->names);
}

void inventory_folder_release(struct inventory_folder *folder)
{
	contained_fd_drop(&folder->fd);
	walk_names_release(&folder->names);
}

static void begin(struct inventory_folder *folder, struct str path)
{
	contained_fd_drop(&folder->fd);
	folder->path = path;
	folder->targets = 0;
}

/* Any failure leaves the folder unread: the ordinary way meets it again and tells it. */
static void read_names(struct inventory_folder *folder, const struct contained_root *root)
{
	CLEANUP(contained_node_close) struct contained_node node = CONTAINED_NODE_NONE;
	int r = contained_open(root, folder->path, CONTAINED_FOLLOW_NONE, &node);

	if (r != 0 || node.size > INVENTORY_FOLDER_BYTES || contained_directory_open(&node, &folder->fd) != 0)
		return;
	if (walk_names_read(&folder->names, folder->fd, WALK_NAMES_BY_NAME, INVENTORY_FOLDER_NAMES) != 0)
		contained_fd_drop(&folder->fd);
}

/* Its name, ended by NUL, if the folder calls it a file. */
static const char *find_file(const struct inventory_folder *folder, struct str name)
{
	const struct walk_name *found = walk_names_find(&folder->names, name);

	return found != NULL && found->kind == CONTAINED_FILE ? folder->names.text.bytes + found->offset : NULL;
}

static struct str folder_of(struct str target, struct str *ret_name)
{
	size_t at = target.len;

	while (at > 0 && target.bytes[at - 1] != '/')
		at--;
	*ret_name = (struct str){target.bytes + at, target.len - at};
	return at > 0 ? (struct str){target.bytes, at} : STR(".");
}

bool inventory_folder_open(struct inventory_folder *folder, const struct contained_root *root, struct str target,
	struct contained_node *ret)
{
	struct str name = {0};
	struct str path = folder_of(target, &name);
	const char *file = NULL;

	if (!str_equal(path, folder->path))
		begin(folder, path);
	if (++folder->targets == INVENTORY_FOLDER_TARGETS)
		read_names(folder, root);
	if (folder->fd < 0 || target.len >= PATH_MAX || credential_file_is(target))
		return false;
	file = find_file(folder, name);
	if (file == NULL || contained_open_file_entry(folder->fd, file, ret) != 0)
		return false;
	if (ret->is_readable)
		return true;
	contained_node_close(ret);
	return false;
}
