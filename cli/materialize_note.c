/* What a folder's note says, and what is done by it: checking, removing, sweeping. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/document.h"
#include "cli/materialize.h"
#include "cli/show.h"
#include "policy/cleanup.h"
#include "policy/json_parse.h"

enum { NOTE_LIMIT = 16 * 1024 * 1024, PROC_LIMIT = 4096, STARTED_FIELD = 22 };

static void arena_drop(struct arena *arena)
{
	arena_release(arena);
}

static void descriptor_drop(int *descriptor)
{
	if (*descriptor >= 0)
		close(*descriptor);
}

/* ---- what was done */

static void write_strs(const char *key, const struct str *items, size_t count, struct json_out *out)
{
	json_out_key(out, key);
	json_out_begin_array(out);
	for (size_t i = 0; i < count; i++)
		json_out_str(out, items[i]);
	json_out_end_array(out);
}

static void write_withheld(const struct materialize *plan, struct json_out *out)
{
	json_out_key(out, "withheld");
	json_out_begin_array(out);
	for (size_t i = 0; i < plan->withheld_count; i++) {
		const struct materialize_withheld *withheld = &plan->withheld[i];

		json_out_begin_object(out);
		json_out_member_text(out, "kind", withheld->kind);
		json_out_member_str(out, "name", withheld->name);
		json_out_member_str(out, "reason", withheld->reason);
		if (withheld->detail.bytes != NULL)
			json_out_member_str(out, "detail", withheld->detail);
		json_out_end_object(out);
	}
	json_out_end_array(out);
	json_out_key(out, "dropped");
	json_out_begin_array(out);
	for (size_t i = 0; i < plan->job.drop_count; i++) {
		json_out_begin_object(out);
		json_out_member_str(out, "pointer", plan->job.drops[i].pointer);
		json_out_member_str(out, "reason", plan->job.drops[i].reason);
		json_out_member_bool(out, "whole", plan->job.drops[i].is_whole);
		json_out_end_object(out);
	}
	json_out_end_array(out);
}

const char *materialize_environment(const struct materialize *plan)
{
	if (plan->agent == AGENT_CODEX)
		return cli_printf(plan->cli, "CODEX_HOME=%s", plan->directory);
	if (plan->has_own_home)
		return cli_printf(plan->cli, "CLAUDE_CONFIG_DIR=%s/home", plan->directory);
	return plan->home_path != NULL ? cli_printf(plan->cli, "CLAUDE_CONFIG_DIR=%s", plan->home_path) : NULL;
}

static void write_environment(const struct materialize *plan, struct json_out *out)
{
	const char *variable = materialize_environment(plan);
	const char *sign = variable != NULL ? strchr(variable, '=') : NULL;

	json_out_key(out, "environment");
	json_out_begin_object(out);
	if (sign != NULL) {
		json_out_key_str(out, (struct str){variable, (size_t)(sign - variable)});
		json_out_text(out, sign + 1);
	}
	json_out_end_object(out);
}

void materialize_write_summary(const struct materialize *plan, struct json_out *out)
{
	struct str names[SPEC_SERVERS_LIMIT];
	struct str skills[SKILLS_LIMIT];

	for (size_t i = 0; i < plan->server_count; i++)
		names[i] = plan->servers[i].id;
	for (size_t i = 0; i < plan->skill_count; i++)
		skills[i] = plan->skills[i]->name;
	json_out_member_text(out, "directory", plan->directory);
	json_out_member_text(out, "agent", agent_kind_name(plan->agent));
	json_out_member_bool(out, "ungoverned", plan->run == NULL);
	json_out_member_str(out, "run", (struct str){plan->run, plan->run != NULL ? strlen(plan->run) : 0});
	json_out_member_str(out, "decisionId", plan->decision_id);
	write_strs("arguments", plan->arguments.items, plan->arguments.count, out);
	write_environment(plan, out);
	write_strs("servers", names, plan->server_count, out);
	write_strs("skills", skills, plan->skill_count, out);
	write_withheld(plan, out);
}

/* ---- whose it is */

/* When a process began, in ticks since the machine did; 0: there is none. A number that a later process gets again has another. */
static unsigned long long started_at(long pid)
{
	char path[64];
	char text[PROC_LIMIT];
	CLEANUP(descriptor_drop) int file = -1;
	const char *at = NULL;
	ssize_t len = 0;

	(void)snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	len = file >= 0 ? read(file, text, sizeof(text) - 1) : -1;
	if (len <= 0)
		return 0;
	text[len] = '\0';
	/* The second field is the program's name, in brackets, and may hold anything. */
	at = strrchr(text, ')');
	for (int field = 2; at != NULL && field < STARTED_FIELD; field++)
		at = strchr(at + 1, ' ');
	return at != NULL ? strtoull(at, NULL, 10) : 0;
}

static void boot_id(char ret[static 64])
{
	CLEANUP(descriptor_drop) int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t len = file >= 0 ? read(file, ret, 63) : 0;

	ret[len > 0 ? len : 0] = '\0';
	ret[strcspn(ret, "\n")] = '\0';
}

bool materialize_write_owner(long pid, struct json_out *out)
{
	unsigned long long started = started_at(pid);
	char boot[64];

	if (started == 0)
		return false;
	boot_id(boot);
	json_out_member_int(out, "pid", pid);
	json_out_member_int(out, "started", (int64_t)started);
	json_out_member_text(out, "boot", boot);
	return true;
}

static bool is_owner_there(const json_t *owner)
{
	long pid = (long)json_integer_value(json_object_get(owner, "pid"));
	char boot[64];

	boot_id(boot);
	return pid > 0 && strcmp(document_text_or_empty(owner, "boot"), boot) == 0 &&
		(long long)started_at(pid) == json_integer_value(json_object_get(owner, "started"));
}

/* ---- reading a note */

static int read_note(struct arena *arena, int folder, json_t **ret)
{
	struct str text = {0};
	int r = run_folder_read(arena, folder, RUN_FOLDER_NOTE, NOTE_LIMIT, &text, NULL);

	*ret = NULL;
	if (r == 0)
		r = json_parse(text, ret, NULL);
	return r > 0 ? -EUCLEAN : r;
}

static int open_path(const char *path)
{
	return path != NULL ? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
}

static void clear_skills(const json_t *note, const char *place, const char *path)
{
	CLEANUP(descriptor_drop) int folder = open_path(document_text(note, place));
	CLEANUP(descriptor_drop) int below = folder >= 0 ? run_folder_below(folder, path, false) : -1;
	const json_t *name;
	size_t index;

	if (below < 0)
		return;
	json_array_foreach(json_object_get(note, "skills"), index, name) if (json_is_string(name) &&
		strchr(json_string_value(name), '/') == NULL)(void) !run_folder_clear(below, json_string_value(name));
}

void materialize_clear_outside(int folder)
{
	CLEANUP(arena_drop) struct arena arena = {0};
	CLEANUP(json_drop) json_t *note = NULL;

	arena_init(&arena, 4 * (size_t)NOTE_LIMIT);
	if (read_note(&arena, folder, &note) != 0)
		return;
	if (document_text(note, "home") != NULL)
		clear_skills(note, "home", "skills");
	else if (document_text(note, "checkout") != NULL && !json_is_true(json_object_get(note, "ownHome")))
		clear_skills(note, "checkout", MATERIALIZE_CONTEXT "/skill");
}

bool materialize_is_wanted(int folder)
{
	CLEANUP(arena_drop) struct arena arena = {0};
	CLEANUP(json_drop) json_t *note = NULL;

	arena_init(&arena, 4 * (size_t)NOTE_LIMIT);
	if (read_note(&arena, folder, &note) == 0 && is_owner_there(json_object_get(note, "owner")))
		return true;
	materialize_clear_outside(folder);
	return false;
}

/* ---- drift */

struct checking {
	struct cli *cli;
	int folder;
	int home;
	int checkout;
	struct json_out out;
	size_t faults;
};

static void tell(struct checking *checking, const char *path, const char *what)
{
	if (checking->cli->json) {
		json_out_begin_object(&checking->out);
		json_out_member_text(&checking->out, "path", path);
		json_out_member_text(&checking->out, "drift", what);
		json_out_end_object(&checking->out);
	} else {
		show_line(checking->cli, what, path);
	}
	checking->faults++;
}

static int place_of(const struct checking *checking, const char *place)
{
	return strcmp(place, "home") == 0        ? checking->home
		: strcmp(place, "checkout") == 0 ? checking->checkout
						 : checking->folder;
}

static const char *drift_of(struct checking *checking, const json_t *file)
{
	int folder = place_of(checking, document_text_or_empty(file, "place"));
	unsigned char digest[crypto_hash_sha256_BYTES];
	char hex[2 * sizeof(digest) + 1];
	struct str bytes = {0};
	mode_t mode = 0;
	int r = folder >= 0 ? run_folder_read(&checking->cli->arena, folder, document_text_or_empty(file, "path"),
				      NOTE_LIMIT, &bytes, &mode)
			    : -ENOENT;

	if (r == -ENOENT)
		return "missing";
	if (r == -ELOOP)
		return "no file";
	if (r != 0)
		return "unreadable";
	crypto_hash_sha256(digest, (const unsigned char *)bytes.bytes, bytes.len);
	sodium_bin2hex(hex, sizeof(hex), digest, sizeof(digest));
	if (strcmp(hex, document_text_or_empty(file, "sha256")) != 0)
		return "changed";
	return mode == 0600 ? NULL : "open to others";
}

static void check_files(struct checking *checking, const json_t *note)
{
	const json_t *file;
	size_t index;

	json_array_foreach(json_object_get(note, "files"), index, file)
	{
		const char *drift = drift_of(checking, file);

		if (drift != NULL)
			tell(checking, document_text_or_empty(file, "path"), drift);
	}
}

static int check_note(struct checking *checking)
{
	CLEANUP(json_drop) json_t *note = NULL;
	CLEANUP(descriptor_drop) int home = -1;
	CLEANUP(descriptor_drop) int checkout = -1;
	int r = read_note(&checking->cli->arena, checking->folder, &note);

	if (r != 0) {
		cli_say("%s: missing or unreadable", RUN_FOLDER_NOTE);
		return CLI_REFUSED;
	}
	home = checking->home = json_is_true(json_object_get(note, "ownHome"))
		? run_folder_below(checking->folder, "home", false)
		: open_path(document_text(note, "home"));
	checkout = checking->checkout = open_path(document_text(note, "checkout"));
	if (checking->cli->json) {
		json_out_init(&checking->out, &checking->cli->out);
		json_out_begin_object(&checking->out);
		json_out_key(&checking->out, "decisionId");
		json_out_canonical(&checking->out, json_object_get(note, "decisionId"));
		json_out_key(&checking->out, "drift");
		json_out_begin_array(&checking->out);
	}
	check_files(checking, note);
	if (checking->cli->json) {
		json_out_end_array(&checking->out);
		json_out_end_object(&checking->out);
		buf_putc(&checking->cli->out, '\n');
	}
	return checking->faults > 0 ? CLI_REFUSED : CLI_DONE;
}

static int open_folder(const char *path, struct run_folder *ret)
{
	int r = run_folder_open(path, ret);

	if (r == RUN_FOLDER_UNSAFE) {
		cli_say("%s: a link, or not this user's alone", path);
		return CLI_REFUSED;
	}
	return r == 0 ? 0 : cli_say_error(path, r);
}

int materialize_check(struct cli *cli, const char *path)
{
	struct run_folder folder;
	struct checking checking = {.cli = cli, .home = -1, .checkout = -1};
	int result = open_folder(path, &folder);

	if (result != 0)
		return result;
	checking.folder = folder.descriptor;
	result = check_note(&checking);
	run_folder_close(&folder);
	return result;
}

int materialize_remove(struct cli *cli, const char *path)
{
	struct run_folder folder;
	CLEANUP(json_drop) json_t *note = NULL;
	int result = open_folder(path, &folder);
	int r = 0;

	if (result != 0)
		return result;
	/* Without its note it may be anybody's folder. */
	if (read_note(&cli->arena, folder.descriptor, &note) != 0) {
		cli_say("%s: has no %s, so it is not removed", path, RUN_FOLDER_NOTE);
		run_folder_close(&folder);
		return CLI_REFUSED;
	}
	materialize_clear_outside(folder.descriptor);
	r = run_folder_remove(&folder);
	return r == 0 ? CLI_DONE : cli_say_error(path, r);
}

int materialize_sweep(struct cli *cli, const char *base)
{
	size_t removed = 0;
	int r = run_folder_sweep(base, materialize_is_wanted, &removed);

	(void)cli;
	if (r == RUN_FOLDER_UNSAFE) {
		cli_say("%s: a link, or not this user's alone", base);
		return CLI_REFUSED;
	}
	if (r != 0)
		return cli_say_error(base, r);
	if (removed > 0)
		cli_say("%zu folder%s of ended runs removed", removed, removed == 1 ? "" : "s");
	return CLI_DONE;
}
