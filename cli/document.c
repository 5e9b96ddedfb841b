#include "cli/document.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "policy/cleanup.h"

static void descriptor_drop(int *descriptor)
{
	if (*descriptor > STDERR_FILENO)
		close(*descriptor);
	*descriptor = -1;
}

int document_read(const char *path, struct buf *ret_bytes)
{
	CLEANUP(descriptor_drop) int descriptor = STDIN_FILENO;
	char piece[65536];

	if (strcmp(path, "-") != 0)
		descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (descriptor < 0)
		return -errno;
	for (;;) {
		ssize_t got = read(descriptor, piece, sizeof(piece));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : buf_error(ret_bytes);
		buf_add(ret_bytes, piece, (size_t)got);
		if (buf_error(ret_bytes) < 0)
			return buf_error(ret_bytes);
	}
}

const char *document_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

const char *document_text_or_empty(const json_t *object, const char *key)
{
	const char *text = document_text(object, key);

	return text == NULL ? "" : text;
}
