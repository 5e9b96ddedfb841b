#include "daemon/audit/audit_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "policy/cleanup.h"

enum { LINE_CEILING = 16 * 1024 * 1024, ARENA_BYTES = 512 * 1024 * 1024, PAGE = 200, MARK_BYTES = 4096 };

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static void close_file(FILE **file)
{
	if (*file != NULL)
		(void)fclose(*file);
}

static int open_folder(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int write_all(int fd, struct str text)
{
	while (text.len > 0) {
		ssize_t wrote = write(fd, text.bytes, text.len);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0)
			return -errno;
		text.bytes += wrote;
		text.len -= (size_t)wrote;
	}
	return 0;
}

/* ---- checkpoints.jsonl */

struct last {
	struct str store_id;
	struct store_checkpoint row;
	off_t whole; /* bytes of whole lines */
	bool is_cut;
};

static int read_line(struct last *last, const char *text, size_t len)
{
	CLEANUP(arena_release) struct arena arena = {.ceiling = MARK_BYTES * 16};
	struct audit_line line;
	int r = 0;

	last->is_cut = text[len - 1] != '\n';
	if (last->is_cut)
		return 0;
	last->whole += (off_t)len;
	r = audit_line_read((struct str){text, len - 1}, &arena, &line);
	if (r != 0)
		return r;
	if (line.kind != AUDIT_LINE_CHECKPOINT)
		return AUDIT_FILE_DAMAGED;
	if (!str_equal(line.store_id, last->store_id))
		return AUDIT_FILE_FOREIGN;
	last->row = line.checkpoint;
	last->row.key_id = (struct str){0};
	return 0;
}

int audit_file_last(const char *folder, struct str store_id, struct store_checkpoint *ret)
{
	CLEANUP(close_fd) int at = open_folder(folder);
	CLEANUP(close_file) FILE *file = NULL;
	CLEANUP(free_drop) char *text = NULL;
	struct last last = {.store_id = store_id};
	size_t size = 0;
	ssize_t len = 0;
	int fd = -1;
	int r = 0;

	*ret = (struct store_checkpoint){0};
	if (at < 0)
		return at;
	fd = openat(at, AUDIT_FILE_CHECKPOINTS, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	file = fdopen(fd, "r");
	if (file == NULL) {
		(void)close(fd);
		return -ENOMEM;
	}
	while (r == 0 && (len = getline(&text, &size, file)) > 0)
		r = read_line(&last, text, (size_t)len);
	if (r == 0 && last.is_cut && (ftruncate(fd, last.whole) != 0 || fsync(fd) != 0))
		r = -errno;
	if (r == 0)
		*ret = last.row;
	return r;
}

int audit_file_append(const char *folder, struct str store_id, const struct store_checkpoint *row)
{
	CLEANUP(close_fd) int at = open_folder(folder);
	CLEANUP(close_fd) int fd = -1;
	CLEANUP(buf_release) struct buf buf = {0};
	struct json_out out;
	int r = 0;

	if (at < 0)
		return at;
	fd = openat(at, AUDIT_FILE_CHECKPOINTS, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	buf_init(&buf, MARK_BYTES);
	json_out_init(&out, &buf);
	audit_line_checkpoint(&out, store_id, row);
	buf_putc(&buf, '\n');
	r = buf_error(&buf);
	if (r == 0)
		r = write_all(fd, buf_str(&buf));
	if (r == 0 && (fsync(fd) != 0 || fsync(at) != 0))
		r = -errno;
	return r;
}

/* ---- segments */

struct exporting {
	const struct store_segment *segment;
	struct str store_id;
	struct buf buf;
	int64_t at; /* the last row written */
	struct store_checkpoint before;
};

static int read_before(struct store_tx *tx, void *arg)
{
	struct exporting *exporting = arg;
	struct store_checkpoint_list list = {0};
	int r = 0;

	if (exporting->segment->after == 0)
		return 0;
	r = store_checkpoint_list(tx, exporting->segment->checkpoint.number - 2, 1, &list);
	if (r == 0 && (list.count == 0 || list.items[0].sequence != exporting->segment->after))
		return -EUCLEAN;
	if (r == 0)
		exporting->before = list.items[0];
	return r;
}

static void end_line(struct buf *buf)
{
	buf_putc(buf, '\n');
}

static void write_start(struct exporting *exporting)
{
	struct store_chain chain = {.sequence = exporting->before.sequence};
	struct json_out out;

	memcpy(chain.hash, exporting->before.hash, sizeof(chain.hash));
	json_out_init(&out, &exporting->buf);
	audit_line_start(&out, exporting->store_id, &chain);
	end_line(&exporting->buf);
	if (exporting->segment->after == 0)
		return;
	json_out_init(&out, &exporting->buf);
	audit_line_checkpoint(&out, exporting->store_id, &exporting->before);
	end_line(&exporting->buf);
}

static int read_rows(struct store_tx *tx, void *arg)
{
	struct exporting *exporting = arg;
	struct store_event_filter filter = {0};
	struct store_event_list list = {0};
	int64_t left = exporting->segment->through - exporting->at;
	int r = store_event_list(tx, &filter, exporting->at, left < PAGE ? (size_t)left : PAGE, &list);

	if (r == 0 && list.count == 0)
		return -EUCLEAN;
	for (size_t i = 0; r == 0 && i < list.count; i++) {
		struct json_out out;

		json_out_init(&out, &exporting->buf);
		json_out_begin_object(&out);
		audit_line_event(&out, &list.items[i]);
		json_out_end_object(&out);
		end_line(&exporting->buf);
		exporting->at = list.items[i].sequence;
	}
	return r != 0 ? r : buf_error(&exporting->buf);
}

static int flush_lines(struct exporting *exporting, int fd)
{
	int r = buf_error(&exporting->buf);

	if (r == 0)
		r = write_all(fd, buf_str(&exporting->buf));
	buf_reset(&exporting->buf);
	return r;
}

static int write_segment(struct exporting *exporting, struct store *store, int fd)
{
	CLEANUP(arena_release) struct arena arena = {.ceiling = ARENA_BYTES};
	struct json_out out;
	int r = store_read(store, &arena, read_before, exporting);

	if (r == 0)
		write_start(exporting);
	while (r == 0 && exporting->at < exporting->segment->through) {
		arena_reset(&arena);
		r = store_read(store, &arena, read_rows, exporting);
		if (r == 0)
			r = flush_lines(exporting, fd);
	}
	if (r != 0)
		return r > 0 ? -EIO : r;
	json_out_init(&out, &exporting->buf);
	audit_line_checkpoint(&out, exporting->store_id, &exporting->segment->checkpoint);
	end_line(&exporting->buf);
	r = flush_lines(exporting, fd);
	return r == 0 && fsync(fd) != 0 ? -errno : r;
}

int audit_file_segment(const char *folder, struct store *store, const struct store_segment *segment)
{
	CLEANUP(close_fd) int at = open_folder(folder);
	CLEANUP(close_fd) int fd = -1;
	struct exporting exporting = {.segment = segment, .store_id = store_identity(store), .at = segment->after};
	char name[NAME_MAX];
	char aside[NAME_MAX + 8];
	int r = 0;

	if (at < 0)
		return at;
	(void)snprintf(name, sizeof(name), "log-%012lld-%012lld.jsonl", (long long)segment->after + 1,
		(long long)segment->through);
	(void)snprintf(aside, sizeof(aside), ".%s.new", name);
	fd = openat(at, aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	buf_init(&exporting.buf, LINE_CEILING * 4);
	r = write_segment(&exporting, store, fd);
	buf_release(&exporting.buf);
	if (r == 0 && (renameat(at, aside, at, name) != 0 || fsync(at) != 0))
		r = -errno;
	if (r != 0)
		(void)unlinkat(at, aside, 0);
	return r;
}
