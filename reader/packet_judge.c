/* What a context packet leaves out by name, before anything is opened. */
#include <errno.h>
#include <string.h>

#include "policy/cleanup.h"
#include "policy/redact.h"
#include "reader/credential_file.h"
#include "reader/packet_parts.h"
#include "reader/secret_name.h"

/* Other people's files and what a build makes. */
static const char *const ignored_folders[] = {".git", ".hg", ".svn", ".jj", "node_modules", "bower_components", "build",
	"dist", "out", "target", "obj", ".venv", "venv", "__pycache__", ".tox", ".nox", ".mypy_cache", ".pytest_cache",
	".ruff_cache", ".gradle", ".next", ".nuxt", ".svelte-kit", ".terraform", ".cache", ".parcel-cache", ".turbo",
	"coverage", "htmlcov"};

static bool is_ignored_folder(struct str name)
{
	for (size_t i = 0; i < sizeof(ignored_folders) / sizeof(ignored_folders[0]); i++)
		if (str_is(name, ignored_folders[i]))
			return true;
	return false;
}

/* The nearest file that says something decides. */
static bool is_gitignored(const struct packet *packet, struct str path, unsigned depth, bool is_directory)
{
	for (unsigned above = depth; above > 0; above--) {
		enum ignore_verdict verdict = ignore_judge(&packet->ignores[above - 1], path, is_directory);

		if (verdict != IGNORE_NOTHING_SAID)
			return verdict == IGNORE_EXCLUDED;
	}
	return false;
}

int packet_judge(const struct packet *packet, struct str path, struct str name, unsigned depth, bool is_directory,
	enum packet_omission *ret_omission)
{
	if ((is_directory && is_ignored_folder(name)) || str_is(name, ".git"))
		*ret_omission = PACKET_IGNORED_FOLDER;
	else if (is_gitignored(packet, path, depth, is_directory))
		*ret_omission = PACKET_GITIGNORED;
	else if (credential_file_is(path))
		*ret_omission = PACKET_CREDENTIAL_FILE;
	else if (secret_name_is(name) || redact_finds_secret(name))
		*ret_omission = PACKET_SECRET_NAME;
	else
		return 0;
	return 1;
}

/* ---- .gitignore */

static const struct ignore_rule everything = {.pattern = {"*", 1}};

/* A file that can't be followed excludes everything: what it would have said isn't known. */
static void exclude_all(struct ignore_list *list, struct str directory)
{
	*list = (struct ignore_list){directory, (struct ignore_rule *)(uintptr_t)&everything, 1};
}

static int read_text(struct packet *packet, const struct contained_node *node, struct str *ret)
{
	char *bytes = arena_alloc(&packet->arena, IGNORE_BYTES_LIMIT + 1);
	size_t len = 0;
	int r = 0;

	if (bytes == NULL)
		return -ENOMEM;
	r = contained_read_node(packet->root, node, bytes, IGNORE_BYTES_LIMIT + 1, &len);
	*ret = (struct str){bytes, len};
	return r != 0 ? r : len > IGNORE_BYTES_LIMIT ? CONTAINED_TOO_LONG : 0;
}

static int load(struct packet *packet, struct str directory, const struct contained_node *node, struct ignore_list *ret)
{
	struct str text = {0};
	int r = read_text(packet, node, &text);

	if (r == 0)
		r = ignore_read(&packet->arena, directory, text, ret);
	if (r != 0 && r != -ENOMEM) {
		exclude_all(ret, directory);
		r = 0;
	}
	return r;
}

int packet_ignore_load(struct packet *packet, struct str directory, unsigned depth)
{
	CLEANUP(contained_node_close) struct contained_node node = CONTAINED_NODE_NONE;
	struct ignore_list *list = &packet->ignores[depth];
	struct str kept = arena_str(&packet->arena, directory);
	struct str path = directory.len > 0
		? arena_printf(&packet->arena, "%.*s/.gitignore", (int)directory.len, directory.bytes)
		: STR(".gitignore");
	int r = 0;

	*list = (struct ignore_list){.directory = kept};
	if (kept.bytes == NULL || path.bytes == NULL)
		return -ENOMEM;
	r = contained_open(packet->root, path, CONTAINED_FOLLOW_NONE, &node);
	if (r == CONTAINED_ABSENT || r < 0)
		return r < 0 ? r : 0;
	if (r == 0 && node.kind == CONTAINED_FILE)
		return load(packet, kept, &node, list);
	exclude_all(list, kept);
	return 0;
}
