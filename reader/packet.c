#include "reader/packet.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "policy/cleanup.h"
#include "reader/name.h"
#include "reader/packet_parts.h"
#include "reader/shown.h"

enum {
	ARENA_CEILING = 256 * 1024 * 1024,
	SCRATCH_CEILING = 1024 * 1024,
	REDACTED_CEILING = 4 * PACKET_SEARCHED_FILE_BYTES
};

static const char *const omission_words[PACKET_OMISSIONS] = {"secretName", "credentialFile", "binary", "symlink",
	"special", "ignoredFolder", "gitignored", "large", "unreadable", "beyondFiles", "beyondBytes"};
static const char *const bound_words[PACKET_BOUNDS] = {
	"files", "bytes", "file-bytes", "depth", "entries", "hits", "read-bytes"};

void packet_request_init(struct packet_request *request)
{
	*request = (struct packet_request){
		.limits =
			{
				.files = PACKET_FILES_USUAL,
				.bytes = PACKET_BYTES_USUAL,
				.file_bytes = PACKET_FILE_BYTES_USUAL,
				.depth = PACKET_DEPTH_USUAL,
				.entries = PACKET_ENTRIES_USUAL,
			},
	};
}

const char *packet_omission_word(enum packet_omission omission)
{
	CHECK((unsigned)omission < PACKET_OMISSIONS);
	return omission_words[omission];
}

/* ---- the walk */

static void add_directory(struct packet *packet, struct str path)
{
	struct json_out *out = &packet->lists;

	packet->facts->listed++;
	json_out_begin_object(out);
	shown_name(out, &packet->scratch, "path", path);
	json_out_member_text(out, "type", "directory");
	json_out_end_object(out);
}

static int visit_directory(struct packet *packet, const struct walk_entry *entry)
{
	if (packet->request->lists && !packet->is_named)
		add_directory(packet, entry->path);
	if (entry->depth > (unsigned)packet->request->limits.depth)
		return WALK_ON; /* the walk names its bound */
	return packet_ignore_load(packet, entry->path, entry->depth);
}

static int visit_other(struct packet *packet, const struct walk_entry *entry)
{
	CLEANUP(contained_node_close) struct contained_node node = CONTAINED_NODE_NONE;
	int r = walk_open(entry, &node);

	if (r < 0)
		return r;
	if (r == 0 && node.kind == CONTAINED_FILE)
		return packet_file_add(packet, &node, entry->path);
	packet_omit(packet, r > 0 ? PACKET_UNREADABLE : node.kind == CONTAINED_LINK ? PACKET_SYMLINK : PACKET_SPECIAL);
	return 0;
}

static int visit(void *arg, const struct walk_entry *entry)
{
	struct packet *packet = arg;
	enum packet_omission omission = PACKET_SECRET_NAME;

	if (packet_judge(
		    packet, entry->path, entry->name, entry->depth, entry->kind == CONTAINED_DIRECTORY, &omission)) {
		packet_omit(packet, omission);
		return WALK_SKIP;
	}
	return entry->kind == CONTAINED_DIRECTORY ? visit_directory(packet, entry) : visit_other(packet, entry);
}

static void note_failure(void *arg, struct str path, int result)
{
	(void)path;
	(void)result;
	packet_omit(arg, PACKET_UNREADABLE);
}

static int walk_root(struct packet *packet)
{
	CLEANUP(contained_node_close) struct contained_node node = CONTAINED_NODE_NONE;
	int r = contained_open(packet->root, STR("."), CONTAINED_FOLLOW_NONE, &node);

	packet->wants_contents = packet->request->reads && packet->request->path_count == 0;
	if (r == 0)
		r = walk_run(&packet->walk, &node, STR("."));
	if (r > 0)
		packet_omit(packet, PACKET_UNREADABLE);
	return r < 0 ? r : 0;
}

/* ---- paths that were asked for */

static void leave_out(struct packet *packet, struct str path, const char *reason)
{
	struct json_out *out = &packet->left_out;

	json_out_begin_object(out);
	shown_name(out, &packet->scratch, "path", path);
	json_out_member_text(out, "reason", reason);
	json_out_end_object(out);
}

static struct str component_at(struct str path, size_t at)
{
	const char *slash = memchr(path.bytes + at, '/', path.len - at);

	return (struct str){path.bytes + at, slash != NULL ? (size_t)(slash - path.bytes) - at : path.len - at};
}

/* Judges a path as a walk from the root would have: every directory above it, then itself. 0, 1 and *ret_omission, or -errno. */
static int judge_way(struct packet *packet, struct str path, bool is_directory, unsigned *ret_depth,
	enum packet_omission *ret_omission)
{
	unsigned depth = 0;
	size_t at = 0;

	*ret_depth = 0;
	if (str_is(path, "."))
		return 0;
	while (at < path.len) {
		struct str name = component_at(path, at);
		struct str so_far = {path.bytes, at + name.len};
		bool is_last = so_far.len == path.len;
		int r = 0;

		if (++depth > (unsigned)packet->request->limits.depth + 1) {
			packet->fired[PACKET_BOUND_DEPTH] = true;
			*ret_omission = PACKET_UNREADABLE;
			return 1;
		}
		if (packet_judge(packet, so_far, name, depth, is_directory || !is_last, ret_omission))
			return 1;
		if (is_directory || !is_last)
			r = packet_ignore_load(packet, so_far, depth);
		if (r != 0)
			return r;
		at += name.len + 1;
	}
	*ret_depth = depth;
	return 0;
}

/* Below a directory that was asked for, depth is counted from the root as everywhere. */
static int walk_named(struct packet *packet, const struct contained_node *node, struct str path, unsigned depth)
{
	int r = 0;

	packet->walk.max_depth = (unsigned)packet->request->limits.depth + 1;
	packet->walk.first_depth = depth;
	r = walk_run(&packet->walk, node, path);
	packet->walk.first_depth = 0;
	return r;
}

static int add_named_file(struct packet *packet, const struct contained_node *node, struct str asked, struct str path)
{
	int r = 0;

	packet->was_omitted = false;
	r = packet_file_add(packet, node, path);
	if (r == 0 && packet->was_omitted)
		leave_out(packet, asked, omission_words[packet->omission]);
	return r;
}

static int add_opened(struct packet *packet, const struct contained_node *node, struct str asked, struct str path)
{
	enum packet_omission omission = PACKET_SPECIAL;
	unsigned depth = 0;
	int r = judge_way(packet, path, node->kind == CONTAINED_DIRECTORY, &depth, &omission);

	if (r == 0 && node->kind == CONTAINED_FILE)
		return add_named_file(packet, node, asked, path);
	if (r == 0 && node->kind == CONTAINED_DIRECTORY)
		r = walk_named(packet, node, path, depth);
	else if (r == 0)
		r = 1;
	if (r <= 0)
		return r;
	packet_omit(packet, omission);
	leave_out(packet, asked, omission_words[omission]);
	return 0;
}

static int add_path(struct packet *packet, struct str shown)
{
	CLEANUP(contained_node_close) struct contained_node node = CONTAINED_NODE_NONE;
	struct str name = {0};
	struct str path = {0};
	int r = name_read(&packet->arena, shown, &name);

	if (r == 0)
		r = contained_open(packet->root, name, CONTAINED_FOLLOW_NONE, &node);
	if (r == 0)
		r = contained_path_clean(&packet->arena, packet->root, name, &path);
	if (r <= 0)
		return r < 0 ? r : add_opened(packet, &node, name, path);
	packet_omit(packet, r == CONTAINED_LINKED ? PACKET_SYMLINK : PACKET_UNREADABLE);
	leave_out(packet, name, contained_result_word(r));
	return 0;
}

static int add_paths(struct packet *packet)
{
	int r = 0;

	packet->is_named = packet->wants_contents = true;
	for (size_t i = 0; i < packet->request->path_count && r == 0; i++)
		r = add_path(packet, packet->request->paths[i]);
	return r;
}

/* ---- the whole */

static void write_counts(const size_t *counts, const char *const *words, size_t count, struct json_out *out)
{
	json_out_begin_object(out);
	for (size_t i = 0; i < count; i++)
		if (counts[i] > 0)
			json_out_member_int(out, words[i], (int64_t)counts[i]);
	json_out_end_object(out);
}

static void write_array(struct json_out *out, const char *key, const struct buf *items)
{
	json_out_member_raw(out, key, buf_str(items));
}

static void write_packet(struct packet *packet, struct json_out *out)
{
	const struct packet_request *request = packet->request;

	json_out_begin_object(out);
	if (request->lists)
		write_array(out, "inventory", packet->lists.buf);
	if (request->searches)
		write_array(out, "hits", packet->hits.buf);
	if (request->reads)
		write_array(out, "files", packet->files.buf);
	write_array(out, "notGiven", packet->left_out.buf);
	json_out_key(out, "omitted");
	write_counts(packet->facts->omitted, omission_words, PACKET_OMISSIONS, out);
	json_out_member_int(out, "bytes", packet->facts->bytes);
	json_out_member_int(out, "entriesWalked", packet->facts->walked);
	json_out_key(out, "bounds");
	json_out_begin_array(out);
	for (int i = 0; i < PACKET_BOUNDS; i++)
		if (packet->fired[i])
			json_out_text(out, bound_words[i]);
	json_out_end_array(out);
	json_out_end_object(out);
}

static struct json_out *const *sections(struct packet *packet, struct json_out *ret[4])
{
	ret[0] = &packet->lists;
	ret[1] = &packet->hits;
	ret[2] = &packet->files;
	ret[3] = &packet->left_out;
	return ret;
}

static void packet_init(struct packet *packet)
{
	struct json_out *outs[4];

	arena_init(&packet->arena, ARENA_CEILING);
	buf_init(&packet->scratch, SCRATCH_CEILING);
	buf_init(&packet->redacted, REDACTED_CEILING);
	for (size_t i = 0; i < 4; i++) {
		buf_init(&packet->parts[i], PACKET_ANSWER_BYTES);
		json_out_init(sections(packet, outs)[i], &packet->parts[i]);
		json_out_begin_array(outs[i]);
	}
	walk_init(&packet->walk, packet->root);
	packet->walk.max_entries = (size_t)packet->request->limits.entries;
	packet->walk.max_depth = (unsigned)packet->request->limits.depth + 1;
	packet->walk.visit = visit;
	packet->walk.failed = note_failure;
	packet->walk.arg = packet;
}

static void packet_release(struct packet *packet)
{
	seen_release(&packet->given);
	walk_release(&packet->walk);
	for (size_t i = 0; i < 4; i++)
		buf_release(&packet->parts[i]);
	buf_release(&packet->redacted);
	buf_release(&packet->scratch);
	arena_release(&packet->arena);
	free(packet->bytes);
}

static void digest(struct str bytes, char ret[static PACKET_DIGEST_SIZE])
{
	static const char prefix[] = "sha256:";
	unsigned char hash[crypto_hash_sha256_BYTES];

	(void)crypto_hash_sha256(hash, (const unsigned char *)bytes.bytes, bytes.len);
	memcpy(ret, prefix, sizeof(prefix));
	(void)sodium_bin2hex(ret + sizeof(prefix) - 1, PACKET_DIGEST_SIZE - sizeof(prefix) + 1, hash, sizeof(hash));
}

static int fill(struct packet *packet)
{
	const struct packet_request *request = packet->request;
	int r = packet_ignore_load(packet, STR(""), 0);

	if (r == 0 && (request->lists || request->searches || (request->reads && request->path_count == 0)))
		r = walk_root(packet);
	if (r == 0 && request->reads && request->path_count > 0)
		r = add_paths(packet);
	packet->facts->walked = (int64_t)packet->walk.entries;
	packet->fired[PACKET_BOUND_ENTRIES] |= packet->walk.reached_entries;
	packet->fired[PACKET_BOUND_DEPTH] |= packet->walk.reached_depth;
	return r;
}

static int finish(struct packet *packet, struct buf *answer)
{
	struct json_out *outs[4];
	struct json_out out;

	for (size_t i = 0; i < 4; i++) {
		json_out_end_array(sections(packet, outs)[i]);
		if (buf_error(outs[i]->buf) != 0)
			return buf_error(outs[i]->buf);
	}
	json_out_init(&out, answer);
	write_packet(packet, &out);
	digest(buf_str(answer), packet->facts->digest);
	return buf_error(answer);
}

int packet_make(const struct contained_root *root, const struct packet_request *request, struct buf *packet,
	struct packet_facts *ret_facts)
{
	struct packet_facts facts = {0};
	struct packet making = {.root = root, .request = request, .facts = &facts};
	int r = 0;

	CHECK(request->limits.depth >= 0 && request->limits.depth <= PACKET_DEPTH_LIMIT);
	CHECK(request->pattern_count <= PACKET_PATTERNS_LIMIT && request->path_count <= PACKET_PATHS_LIMIT);
	CHECK(request->limits.file_bytes <= PACKET_FILE_BYTES_LIMIT && request->limits.bytes <= PACKET_BYTES_LIMIT);
	packet_init(&making);
	r = fill(&making);
	if (r == 0)
		r = finish(&making, packet);
	packet_release(&making);
	if (r == 0)
		*ret_facts = facts;
	return r;
}

void packet_facts_write(const struct packet_facts *facts, struct json_out *out)
{
	const char *categories[REDACT_CATEGORIES];

	for (int i = 0; i < REDACT_CATEGORIES; i++)
		categories[i] = redact_category_name((enum redact_category)i);
	json_out_member_int(out, "included", facts->included);
	json_out_member_int(out, "listed", facts->listed);
	json_out_member_int(out, "hits", facts->hits);
	json_out_member_int(out, "bytes", facts->bytes);
	json_out_member_int(out, "walked", facts->walked);
	json_out_key(out, "omitted");
	write_counts(facts->omitted, omission_words, PACKET_OMISSIONS, out);
	json_out_key(out, "redactions");
	write_counts(facts->redactions, categories, REDACT_CATEGORIES, out);
	json_out_member_text(out, "digest", facts->digest);
}
