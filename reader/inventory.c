#include "reader/inventory.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "reader/credential_file.h"
#include "reader/inventory_folder.h"
#include "reader/name.h"
#include "reader/shown.h"
#include "reader/walk_names.h"

enum { SCRATCH_CEILING = 4 * INVENTORY_CONTENT_BYTES_LIMIT + 4096 };

/* Which bound cut something; the words are those of the arguments. */
enum bound { BOUND_NONE = 0, BOUND_CONTENT, BOUND_TOTAL, BOUND_ENTRIES, BOUND_TOTAL_ENTRIES, BOUNDS };

static const char *const bound_words[BOUNDS] = {
	NULL, "max-content-bytes", "max-total-bytes", "max-entries", "max-total-entries"};

enum type { TYPE_ABSENT = 0, TYPE_SYMLINK, TYPE_DIRECTORY, TYPE_FILE, TYPE_SPECIAL, TYPE_UNREADABLE, TYPES };

static const char *const type_words[TYPES] = {"absent", "symlink", "directory", "file", "special", "unreadable"};

/* One call. */
struct inventory {
	const struct contained_root *root;
	const struct inventory_request *request;
	struct json_out out;
	struct buf scratch;
	struct walk_names names;
	struct inventory_folder folder;
	char *bytes; /* of the file that is being read */
	size_t size;
	int64_t total_bytes;
	int64_t total_entries;
	size_t counts[TYPES];
	bool fired[BOUNDS];
};

void inventory_request_init(struct inventory_request *request)
{
	*request = (struct inventory_request){
		.max_content_bytes = INVENTORY_CONTENT_BYTES_USUAL,
		.max_entries = INVENTORY_ENTRIES_USUAL,
		.max_total_bytes = INVENTORY_TOTAL_BYTES_USUAL,
		.max_total_entries = INVENTORY_TOTAL_ENTRIES_USUAL,
	};
}

static void write_type(struct inventory *inventory, enum type type)
{
	inventory->counts[type]++;
	json_out_member_text(&inventory->out, "type", type_words[type]);
}

static void write_bound(struct inventory *inventory, enum bound bound)
{
	if (bound == BOUND_NONE)
		return;
	inventory->fired[bound] = true;
	json_out_member_text(&inventory->out, "bound", bound_words[bound]);
}

static int write_unreadable(struct inventory *inventory, int result)
{
	if (result == CONTAINED_ABSENT) {
		write_type(inventory, TYPE_ABSENT);
		return 0;
	}
	write_type(inventory, TYPE_UNREADABLE);
	json_out_member_text(&inventory->out, "reason", contained_result_word(result));
	json_out_member_text(&inventory->out, "message", contained_result_text(result));
	return 0;
}

/* ---- links */

/* Where it leads is asked of the kernel and never looked at; outside of the root not even whether something is there. */
static int write_link(struct inventory *inventory, struct str target)
{
	CLEANUP(contained_node_close) struct contained_node node = CONTAINED_NODE_NONE;
	int r = contained_open(inventory->root, target, CONTAINED_FOLLOW_ALL, &node);

	if (r < 0)
		return r;
	if (r == CONTAINED_LOOP || r == CONTAINED_DENIED || r == CONTAINED_FAILED || r == CONTAINED_TOO_LONG)
		return write_unreadable(inventory, r);
	write_type(inventory, TYPE_SYMLINK);
	json_out_key(&inventory->out, "resolves");
	if (r == CONTAINED_LINKED)
		json_out_null(&inventory->out);
	else
		json_out_bool(&inventory->out, r != CONTAINED_ABSENT);
	json_out_member_bool(&inventory->out, "leavesRoot", r == CONTAINED_OUTSIDE);
	return 0;
}

/* ---- directories */

static void write_entries(struct inventory *inventory)
{
	struct walk_names *names = &inventory->names;

	json_out_begin_array(&inventory->out);
	for (size_t i = 0; i < names->count; i++) {
		struct str name = {walk_names_get(names, i), names->items[i].len};

		json_out_begin_object(&inventory->out);
		shown_name(&inventory->out, &inventory->scratch, "name", name);
		json_out_member_text(
			&inventory->out, "type", contained_kind_word((enum contained_kind)names->items[i].kind));
		json_out_end_object(&inventory->out);
	}
	json_out_end_array(&inventory->out);
}

static enum bound directory_bound(const struct inventory *inventory)
{
	int64_t total = (int64_t)inventory->names.total;

	if (total > inventory->request->max_entries)
		return BOUND_ENTRIES;
	return total > inventory->request->max_total_entries - inventory->total_entries ? BOUND_TOTAL_ENTRIES
											: BOUND_NONE;
}

static int write_directory(struct inventory *inventory, const struct contained_node *node)
{
	CLEANUP(contained_fd_drop) int fd = -1;
	enum bound bound = BOUND_NONE;
	int r = contained_directory_open(node, &fd);

	if (r == 0)
		r = walk_names_read(&inventory->names, fd, WALK_NAMES_BY_NAME, (size_t)inventory->request->max_entries);
	if (r < 0)
		r = contained_result_of(r);
	if (r != 0)
		return r < 0 ? r : write_unreadable(inventory, r);
	bound = directory_bound(inventory);
	write_type(inventory, TYPE_DIRECTORY);
	json_out_member_int(&inventory->out, "count", (int64_t)inventory->names.total);
	json_out_key(&inventory->out, "entries");
	if (bound != BOUND_NONE) {
		json_out_null(&inventory->out);
		write_bound(inventory, bound);
		return 0;
	}
	inventory->total_entries += (int64_t)inventory->names.total;
	write_entries(inventory);
	return 0;
}

/* ---- files */

struct file {
	struct str bytes; /* what was read */
	int64_t size;
	bool is_withheld; /* it holds credentials */
	bool is_cut;      /* there is more than a bound lets be read */
	bool is_binary;   /* a NUL was seen */
	enum bound bound;
};

static int grow(struct inventory *inventory, size_t size)
{
	char *bytes = NULL;

	if (size <= inventory->size)
		return 0;
	bytes = realloc(inventory->bytes, size);
	if (bytes == NULL)
		return -ENOMEM;
	inventory->bytes = bytes;
	inventory->size = size;
	return 0;
}

/* How much of a file may still be read, and which bound says so. */
static int64_t limit_of(const struct inventory *inventory, enum bound *ret_bound)
{
	int64_t left = inventory->request->max_total_bytes - inventory->total_bytes;

	*ret_bound = left < inventory->request->max_content_bytes ? BOUND_TOTAL : BOUND_CONTENT;
	return left < inventory->request->max_content_bytes ? left : inventory->request->max_content_bytes;
}

/* Reads up to the limit and one byte; a file that grew since it was classified is read again with more room. */
static int read_file(struct inventory *inventory, const struct contained_node *node, struct file *file)
{
	enum bound bound = BOUND_NONE;
	int64_t limit = limit_of(inventory, &bound);
	size_t len = 0;
	size_t room = 0;
	int r = 0;

	file->size = node->size;
	file->is_cut = node->size > limit;
	for (room = (size_t)node->size + 1; !file->is_cut && r == 0; room = (size_t)limit + 1) {
		r = grow(inventory, room);
		if (r == 0)
			r = contained_read_node(inventory->root, node, inventory->bytes, room, &len);
		file->is_cut = len > (size_t)limit;
		if (len < room)
			break;
	}
	if (r != 0)
		return r;
	if (file->is_cut) {
		file->bound = bound;
		return 0;
	}
	file->size = (int64_t)len;
	file->bytes = (struct str){inventory->bytes, len};
	file->is_binary = len > 0 && memchr(inventory->bytes, '\0', len) != NULL;
	inventory->total_bytes += (int64_t)len;
	return 0;
}

/* Sixteen bytes are compared at once, and each of them counts its own line feeds until it could overflow. */
typedef uint8_t lanes __attribute__((vector_size(16)));

static int64_t count_in_lanes(const char *bytes, size_t blocks)
{
	const lanes feeds = (lanes){0} + '\n';
	lanes counts = {0};
	int64_t lines = 0;

	CHECK(blocks <= UINT8_MAX);
	for (size_t i = 0; i < blocks; i++) {
		lanes block;

		memcpy(&block, bytes + i * sizeof(block), sizeof(block));
		counts -= (lanes)(block == feeds); /* true is all ones, which is -1 */
	}
	for (size_t lane = 0; lane < sizeof(counts); lane++)
		lines += counts[lane];
	return lines;
}

static int64_t count_lines(struct str bytes)
{
	int64_t lines = 0;
	size_t at = 0;

	while (bytes.len - at >= sizeof(lanes)) {
		size_t blocks = (bytes.len - at) / sizeof(lanes);

		blocks = blocks < UINT8_MAX ? blocks : UINT8_MAX;
		lines += count_in_lanes(bytes.bytes + at, blocks);
		at += blocks * sizeof(lanes);
	}
	for (; at < bytes.len; at++)
		lines += bytes.bytes[at] == '\n';
	return lines;
}

static void write_contents(struct inventory *inventory, const struct file *file)
{
	if (file->is_cut || file->is_binary || file->is_withheld) {
		json_out_member_null(&inventory->out, "contents");
		return;
	}
	if (!shown_text(&inventory->out, &inventory->scratch, "contents", file->bytes))
		json_out_member_text(&inventory->out, "encoding", "escaped");
}

static void write_file(struct inventory *inventory, const struct file *file)
{
	struct json_out *out = &inventory->out;
	bool is_unknown = file->is_cut || file->is_withheld;

	write_type(inventory, TYPE_FILE);
	json_out_member_int(out, "bytes", file->size);
	if (is_unknown) {
		json_out_member_null(out, "lines");
		json_out_member_null(out, "binary");
	} else {
		json_out_member_int(out, "lines", count_lines(file->bytes));
		json_out_member_bool(out, "binary", file->is_binary);
	}
	if (inventory->request->contents)
		write_contents(inventory, file);
	if (file->is_withheld)
		json_out_member_text(out, "withheld", "credential_file");
	write_bound(inventory, file->bound);
}

/* A name that is harmless may lead through links to one that isn't. */
static int look_where_it_leads(const struct inventory *inventory, const struct contained_node *node, bool *ret)
{
	char path[PATH_MAX];
	struct str real = {0};
	int r = contained_real_path(inventory->root, node, path, &real);

	if (r == 0 && real.bytes == NULL)
		r = CONTAINED_OUTSIDE;
	*ret = r == 0 && credential_file_is(real);
	return r;
}

static int add_file(struct inventory *inventory, const struct contained_node *node, bool is_withheld)
{
	struct file file = {.size = node->size, .is_withheld = is_withheld};
	int r = is_withheld ? 0 : read_file(inventory, node, &file);

	if (r != 0)
		return r < 0 ? r : write_unreadable(inventory, r);
	write_file(inventory, &file);
	return 0;
}

/* One that the caller named, by whatever name and through whatever links. */
static int judge_file(struct inventory *inventory, const struct contained_node *node, struct str target, bool is_linked)
{
	bool is_withheld = credential_file_is(target);
	int r = is_linked && !is_withheld ? look_where_it_leads(inventory, node, &is_withheld) : 0;

	if (r != 0)
		return r < 0 ? r : write_unreadable(inventory, r);
	return add_file(inventory, node, is_withheld);
}

/* ---- the call */

static int write_special(struct inventory *inventory, enum contained_kind kind)
{
	write_type(inventory, TYPE_SPECIAL);
	json_out_member_text(&inventory->out, "kind", contained_kind_word(kind));
	return 0;
}

static int add_what_it_is(struct inventory *inventory, struct str target)
{
	CLEANUP(contained_node_close) struct contained_node node = CONTAINED_NODE_NONE;
	bool is_linked = false;
	int r = 0;

	if (inventory_folder_open(&inventory->folder, inventory->root, target, &node))
		return add_file(inventory, &node, false);
	r = contained_open(inventory->root, target, CONTAINED_FOLLOW_NONE, &node);
	is_linked = r == CONTAINED_LINKED;
	if (is_linked)
		r = contained_open(inventory->root, target, CONTAINED_FOLLOW_ABOVE, &node);
	if (r != 0)
		return r < 0 ? r : write_unreadable(inventory, r);
	switch (node.kind) {
	case CONTAINED_FILE:
		return judge_file(inventory, &node, target, is_linked);
	case CONTAINED_DIRECTORY:
		return write_directory(inventory, &node);
	case CONTAINED_LINK:
		return write_link(inventory, target);
	case CONTAINED_UNKNOWN:
	case CONTAINED_FIFO:
	case CONTAINED_SOCKET:
	case CONTAINED_CHARACTER_DEVICE:
	case CONTAINED_BLOCK_DEVICE:
	case CONTAINED_KINDS:
		break;
	}
	return write_special(inventory, node.kind);
}

static int add_target(struct inventory *inventory, struct str target)
{
	int r = 0;

	json_out_begin_object(&inventory->out);
	shown_name(&inventory->out, &inventory->scratch, "path", target);
	r = add_what_it_is(inventory, target);
	json_out_end_object(&inventory->out);
	return r;
}

static void write_totals(struct inventory *inventory)
{
	struct json_out *out = &inventory->out;

	json_out_key(out, "counts");
	json_out_begin_object(out);
	for (int type = 0; type < TYPES; type++)
		json_out_member_int(out, type_words[type], (int64_t)inventory->counts[type]);
	json_out_end_object(out);
	json_out_member_int(out, "bytesRead", inventory->total_bytes);
	json_out_member_int(out, "entriesListed", inventory->total_entries);
	json_out_key(out, "bounds");
	json_out_begin_array(out);
	for (int bound = BOUND_NONE + 1; bound < BOUNDS; bound++)
		if (inventory->fired[bound])
			json_out_text(out, bound_words[bound]);
	json_out_end_array(out);
}

static int add_all(struct inventory *inventory)
{
	const struct arguments_names *paths = &inventory->request->paths;
	int r = 0;

	json_out_begin_object(&inventory->out);
	json_out_key(&inventory->out, "targets");
	json_out_begin_array(&inventory->out);
	for (size_t i = 0; i < paths->count && r == 0; i++) {
		r = add_target(inventory, paths->items[i]);
		if (r == 0)
			r = buf_error(inventory->out.buf);
	}
	json_out_end_array(&inventory->out);
	write_totals(inventory);
	json_out_end_object(&inventory->out);
	return r != 0 ? r : buf_error(inventory->out.buf);
}

int inventory_run(const struct contained_root *root, const struct inventory_request *request, struct buf *answer)
{
	struct inventory inventory = {.root = root, .request = request};
	int r = 0;

	json_out_init(&inventory.out, answer);
	buf_init(&inventory.scratch, SCRATCH_CEILING);
	walk_names_init(&inventory.names);
	inventory_folder_init(&inventory.folder);
	r = add_all(&inventory);
	walk_names_release(&inventory.names);
	inventory_folder_release(&inventory.folder);
	buf_release(&inventory.scratch);
	free(inventory.bytes);
	return r;
}
