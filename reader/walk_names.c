#include "reader/walk_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BLOCK_BYTES = 32 * 1024, SLACK = 4096, TEXT_CEILING = 1024 * 1024 * 1024 };

void walk_names_init(struct walk_names *names)
{
	*names = (struct walk_names){0};
	buf_init(&names->text, TEXT_CEILING);
}

void walk_names_release(struct walk_names *names)
{
	free(names->items);
	buf_release(&names->text);
	walk_names_init(names);
}

const char *walk_names_get(const struct walk_names *names, size_t at)
{
	return names->text.bytes + names->items[at].offset;
}

static enum contained_kind kind_of_type(unsigned char type)
{
	switch (type) {
	case DT_REG:
		return CONTAINED_FILE;
	case DT_DIR:
		return CONTAINED_DIRECTORY;
	case DT_LNK:
		return CONTAINED_LINK;
	case DT_FIFO:
		return CONTAINED_FIFO;
	case DT_SOCK:
		return CONTAINED_SOCKET;
	case DT_CHR:
		return CONTAINED_CHARACTER_DEVICE;
	case DT_BLK:
		return CONTAINED_BLOCK_DEVICE;
	default:
		return CONTAINED_UNKNOWN;
	}
}

/* Some file systems leave the type out of their directories. */
static enum contained_kind kind_of_entry(int directory_fd, const struct dirent64 *entry)
{
	enum contained_kind kind = kind_of_type(entry->d_type);
	struct stat status;

	if (kind != CONTAINED_UNKNOWN || fstatat(directory_fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return kind;
	return kind_of_type((unsigned char)IFTODT(status.st_mode));
}

/* What stands behind a name that is the beginning of another: what comes below a directory. */
static unsigned char tail_of(const struct walk_names *names, const struct walk_name *name, size_t shorter)
{
	if (name->len > shorter)
		return (unsigned char)names->text.bytes[name->offset + shorter];
	return name->kind == CONTAINED_DIRECTORY && !names->is_by_name ? '/' : 0;
}

static int compare(const void *left, const void *right, void *arg)
{
	const struct walk_name *a = left;
	const struct walk_name *b = right;
	const struct walk_names *names = arg;
	const char *text = names->text.bytes;
	size_t shorter = a->len < b->len ? a->len : b->len;
	int order = memcmp(text + a->offset, text + b->offset, shorter);

	if (order != 0)
		return order;
	return tail_of(names, a, shorter) - tail_of(names, b, shorter);
}

static void sort(struct walk_names *names)
{
	if (names->count > 1)
		qsort_r(names->items, names->count, sizeof(*names->items), compare, names);
}

/* Forgets what comes behind the first `limit`, and its text. */
static int keep_first(struct walk_names *names, size_t limit)
{
	struct buf kept;

	sort(names);
	if (names->count <= limit)
		return 0;
	names->count = limit;
	buf_init(&kept, TEXT_CEILING);
	for (size_t i = 0; i < limit; i++) {
		const char *name = walk_names_get(names, i);

		names->items[i].offset = (uint32_t)kept.len;
		buf_add(&kept, name, names->items[i].len + 1u);
	}
	buf_release(&names->text);
	names->text = kept;
	return buf_error(&kept);
}

static int grow(struct walk_names *names)
{
	size_t size = names->size > 0 ? names->size * 2 : 256;
	struct walk_name *items = reallocarray(names->items, size, sizeof(*items));

	if (items == NULL)
		return -ENOMEM;
	names->items = items;
	names->size = size;
	return 0;
}

static int add(struct walk_names *names, const struct dirent64 *entry, enum contained_kind kind)
{
	size_t len = strlen(entry->d_name);

	if (names->count == names->size && grow(names) != 0)
		return -ENOMEM;
	names->items[names->count++] = (struct walk_name){(uint32_t)names->text.len, (uint16_t)len, (uint8_t)kind};
	names->total++;
	buf_add(&names->text, entry->d_name, len + 1);
	return buf_error(&names->text);
}

static bool is_dots(const char *name)
{
	return name[0] == '.' && (name[1] == '\0' || (name[1] == '.' && name[2] == '\0'));
}

static int add_block(struct walk_names *names, int directory_fd, const char *block, size_t len, size_t limit)
{
	int r = 0;

	for (size_t at = 0; at < len && r == 0;) {
		const struct dirent64 *entry = (const void *)(block + at);

		at += entry->d_reclen;
		if (!is_dots(entry->d_name))
			r = add(names, entry, kind_of_entry(directory_fd, entry));
		if (r == 0 && names->count >= 2 * limit + SLACK)
			r = keep_first(names, limit);
	}
	return r;
}

int walk_names_read(struct walk_names *names, int directory_fd, enum walk_names_order order, size_t limit)
{
	char block[BLOCK_BYTES] __attribute__((aligned(16)));
	ssize_t len = 0;
	int r = 0;

	names->count = names->total = 0;
	names->is_by_name = order == WALK_NAMES_BY_NAME;
	buf_reset(&names->text);
	while (r == 0 && (len = getdents64(directory_fd, block, sizeof(block))) > 0)
		r = add_block(names, directory_fd, block, (size_t)len, limit);
	if (len < 0)
		return -errno;
	return r != 0 ? r : keep_first(names, limit);
}

const struct walk_name *walk_names_find(const struct walk_names *names, struct str name)
{
	size_t low = 0;
	size_t high = names->count;

	CHECK(names->is_by_name);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct str met = {walk_names_get(names, middle), names->items[middle].len};
		int order = str_compare(met, name);

		if (order == 0)
			return &names->items[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}
