/* Check B taken out: the path is opened as open() does it, wherever it leads. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "reader/bundle.h"

int bundle_inside_open(const struct bundle *bundle, struct str path, bool is_file, struct contained_node *ret)
{
	char name[4096];
	struct stat status;
	int fd;

	(void)is_file;
	if (path.len >= sizeof(name))
		return BUNDLE_CONCEPT_UNREADABLE;
	memcpy(name, path.bytes, path.len);
	name[path.len] = '\0';
	fd = openat(bundle->root.fd, name, O_PATH | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) != 0)
		return BUNDLE_CONCEPT_UNREADABLE;
	*ret = (struct contained_node){.fd = fd,
		.kind = S_ISREG(status.st_mode) ? CONTAINED_FILE : CONTAINED_UNKNOWN,
		.device = (uint64_t)status.st_dev,
		.inode = (uint64_t)status.st_ino,
		.size = (int64_t)status.st_size};
	return 0;
}
