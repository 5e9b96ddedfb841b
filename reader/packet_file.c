/* What is given of one file: its line of the inventory, its hits, its contents. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/redact.h"
#include "reader/packet_parts.h"
#include "reader/shown.h"
#include "reader/snippet.h"

/* A file as it was read. */
struct file {
	struct str path;
	struct str bytes;
	int64_t size;
	struct redact_report report; /* of packet->redacted */
};

/* What an earlier walk over the root counted isn't counted again where it is asked for by its path. */
void packet_omit(struct packet *packet, enum packet_omission omission)
{
	bool is_by_name = omission < PACKET_LARGE && omission != PACKET_BINARY;

	packet->was_omitted = true;
	packet->omission = omission;
	if (!(packet->is_named && is_by_name && (packet->request->lists || packet->request->searches)))
		packet->facts->omitted[omission]++;
}

static int grow(struct packet *packet, size_t size)
{
	char *bytes = NULL;

	if (size <= packet->size)
		return 0;
	bytes = realloc(packet->bytes, size);
	if (bytes == NULL)
		return -ENOMEM;
	packet->bytes = bytes;
	packet->size = size;
	return 0;
}

/* How much of a file is of use: more may be searched than is given. */
static int64_t limit_of(const struct packet *packet)
{
	if (packet->request->searches && !packet->is_named)
		return PACKET_SEARCHED_FILE_BYTES;
	return packet->request->limits.file_bytes;
}

/* 0; 1 and *ret_omission; or -errno. */
static int read_file(
	struct packet *packet, const struct contained_node *node, struct file *file, enum packet_omission *ret_omission)
{
	size_t limit = (size_t)limit_of(packet);
	size_t len = 0;
	int r = 0;

	*ret_omission = PACKET_LARGE;
	file->size = node->size;
	if (node->size > (int64_t)limit)
		return 1;
	r = grow(packet, limit + 1);
	if (r == 0)
		r = contained_read_node(packet->root, node, packet->bytes, limit + 1, &len);
	if (r < 0)
		return r;
	if (r > 0)
		*ret_omission = PACKET_UNREADABLE;
	if (r > 0 || len > limit)
		return 1;
	*ret_omission = PACKET_BINARY;
	packet->read_bytes += (int64_t)len;
	file->size = (int64_t)len;
	file->bytes = (struct str){packet->bytes, len};
	return len > 0 && memchr(packet->bytes, '\0', len) != NULL;
}

static int redact(struct packet *packet, struct file *file)
{
	buf_reset(&packet->redacted);
	return redact_body(file->bytes, &packet->redacted, &file->report);
}

/* ---- hits */

static bool has_hit(const struct packet_request *request, struct str bytes)
{
	for (size_t i = 0; i < request->pattern_count; i++)
		if (memmem(bytes.bytes, bytes.len, request->patterns[i].bytes, request->patterns[i].len) != NULL)
			return true;
	return false;
}

/* Whether it fits into what is left, and then takes it. */
static bool take_bytes(struct packet *packet, size_t len)
{
	if ((int64_t)len > packet->request->limits.bytes - packet->facts->bytes) {
		packet->fired[PACKET_BOUND_BYTES] = true;
		return false;
	}
	packet->facts->bytes += (int64_t)len;
	return true;
}

static bool add_hit(struct packet *packet, const struct file *file, size_t pattern, int64_t line)
{
	struct json_out *out = &packet->hits;
	struct str snippet = buf_str(&packet->scratch);

	if (packet->facts->hits == PACKET_HITS_LIMIT) {
		packet->fired[PACKET_BOUND_HITS] = true;
		return false;
	}
	if (!take_bytes(packet, snippet.len))
		return false;
	packet->facts->hits++;
	json_out_begin_object(out);
	json_out_member_int(out, "pattern", (int64_t)pattern);
	json_out_member_int(out, "line", line);
	json_out_member_str(out, "snippet", snippet);
	shown_name(out, &packet->scratch, "file", file->path);
	json_out_end_object(out);
	return true;
}

/* Found in what is given, so that no snippet begins inside of a secret. */
static bool find_hits(struct packet *packet, const struct file *file, size_t pattern)
{
	struct str wanted = packet->request->patterns[pattern];
	struct str text = buf_str(&packet->redacted);
	struct snippet_place place = {.bytes = text, .line = 1};
	size_t at = 0;

	while (at < text.len) {
		const char *found = memmem(text.bytes + at, text.len - at, wanted.bytes, wanted.len);

		if (found == NULL)
			return true;
		at = (size_t)(found - text.bytes);
		snippet_make(&packet->scratch, text, at, wanted.len);
		if (!add_hit(packet, file, pattern, snippet_line(&place, at)))
			return false;
		at += wanted.len;
	}
	return true;
}

static int add_hits(struct packet *packet, struct file *file, bool *is_redacted)
{
	int r = 0;

	if (packet->fired[PACKET_BOUND_HITS] || !has_hit(packet->request, file->bytes))
		return 0;
	r = redact(packet, file);
	*is_redacted = true;
	for (size_t i = 0; i < packet->request->pattern_count && r == 0; i++)
		if (!find_hits(packet, file, i))
			break;
	return r != 0 ? r : buf_error(&packet->scratch);
}

/* ---- contents */

static void add_redactions(struct packet *packet, const struct file *file)
{
	struct json_out *out = &packet->files;

	json_out_key(out, "redactions");
	json_out_begin_object(out);
	for (int i = 0; i < REDACT_CATEGORIES; i++) {
		size_t count = file->report.counts[i];

		if (count > 0)
			json_out_member_int(out, redact_category_name((enum redact_category)i), (int64_t)count);
		packet->facts->redactions[i] += count;
	}
	json_out_end_object(out);
}

static void omit_beyond(struct packet *packet, enum packet_bound bound, enum packet_omission omission)
{
	packet->fired[bound] = true;
	packet_omit(packet, omission);
}

static int add_contents(struct packet *packet, struct file *file, bool is_redacted)
{
	const struct packet_limits *limits = &packet->request->limits;
	struct json_out *out = &packet->files;
	int r = 0;

	if (file->size > limits->file_bytes) {
		omit_beyond(packet, PACKET_BOUND_FILE_BYTES, PACKET_LARGE);
		return 0;
	}
	if (packet->facts->included == limits->files) {
		omit_beyond(packet, PACKET_BOUND_FILES, PACKET_BEYOND_FILES);
		return 0;
	}
	r = is_redacted ? 0 : redact(packet, file);
	if (r != 0)
		return r;
	if (!take_bytes(packet, packet->redacted.len)) {
		packet_omit(packet, PACKET_BEYOND_BYTES);
		return 0;
	}
	packet->facts->included++;
	json_out_begin_object(out);
	shown_name(out, &packet->scratch, "path", file->path);
	json_out_member_int(out, "bytes", file->size);
	json_out_member_str(out, "contents", buf_str(&packet->redacted));
	add_redactions(packet, file);
	json_out_end_object(out);
	return buf_error(out->buf);
}

/* ---- all of it */

static void add_line(struct packet *packet, const struct contained_node *node, struct str path)
{
	struct json_out *out = &packet->lists;

	packet->facts->listed++;
	json_out_begin_object(out);
	shown_name(out, &packet->scratch, "path", path);
	json_out_member_text(out, "type", "file");
	json_out_member_int(out, "bytes", node->size);
	json_out_end_object(out);
}

static int give(struct packet *packet, struct file *file)
{
	bool is_redacted = false;
	int r = 0;

	if (packet->request->searches && !packet->is_named)
		r = add_hits(packet, file, &is_redacted);
	if (r == 0 && packet->wants_contents)
		r = add_contents(packet, file, is_redacted);
	return r;
}

int packet_file_add(struct packet *packet, const struct contained_node *node, struct str path)
{
	struct file file = {.path = path};
	enum packet_omission omission = PACKET_LARGE;
	bool is_searched = packet->request->searches && !packet->is_named;
	int r = 0;

	r = packet->is_named ? seen_add(&packet->given, &packet->arena, path) : 1;
	if (r <= 0)
		return r;
	if (packet->request->lists && !packet->is_named)
		add_line(packet, node, path);
	if (!packet->wants_contents && !is_searched)
		return 0;
	if (packet->read_bytes + node->size > PACKET_READ_BYTES) {
		omit_beyond(packet, PACKET_BOUND_READ, PACKET_BEYOND_BYTES);
		return 0;
	}
	r = read_file(packet, node, &file, &omission);
	if (r > 0) {
		packet->fired[PACKET_BOUND_FILE_BYTES] |= omission == PACKET_LARGE;
		packet_omit(packet, omission);
	}
	return r != 0 ? (r < 0 ? r : 0) : give(packet, &file);
}
