/* Writing a plan into its folder. */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/materialize.h"
#include "policy/cleanup.h"

enum { FILE_CEILING = 64 * 1024 * 1024 };

static int say(const char *what, int r)
{
	if (r == RUN_FOLDER_UNSAFE) {
		cli_say("%s: a link, or not this user's alone: nothing is written there", what);
		return CLI_REFUSED;
	}
	return cli_say_error(what, r);
}

/* ---- files, and their place in the note */

static int keep_file(struct materialize *plan, const char *place, int folder, const char *path, struct str bytes)
{
	struct materialize_file *file = &plan->files[plan->file_count];
	unsigned char digest[crypto_hash_sha256_BYTES];
	int r = plan->file_count < MATERIALIZE_FILES_MOST ? run_folder_write(folder, path, bytes) : -EMFILE;

	if (r != 0)
		return say(path, r);
	crypto_hash_sha256(digest, (const unsigned char *)bytes.bytes, bytes.len);
	sodium_bin2hex(file->digest, sizeof(file->digest), digest, sizeof(digest));
	file->place = place;
	file->path = path;
	plan->file_count++;
	return 0;
}

static int keep_buf(struct materialize *plan, const char *place, int folder, const char *path, const struct buf *buf)
{
	if (buf_error(buf) != 0)
		return cli_say_error(path, buf_error(buf));
	return keep_file(plan, place, folder, path, buf_str(buf));
}

/* ---- tool servers */

static int write_servers(struct materialize *plan)
{
	bool is_claude = plan->agent == AGENT_CLAUDE_CODE;
	const char *name = is_claude ? AGENT_CLAUDE_FILE : AGENT_CODEX_FILE;
	CLEANUP(cli_buf_drop) struct buf buf = {0};
	struct str path = {0};
	int r = 0;

	buf_init(&buf, FILE_CEILING);
	if (is_claude && plan->server_count > 0)
		agent_config_write_claude(plan->servers, plan->server_count, &buf);
	if (!is_claude)
		agent_config_write_codex(plan->servers, plan->server_count, &buf);
	if (!is_claude || plan->server_count > 0)
		r = keep_buf(plan, "folder", plan->folder.descriptor, name, &buf);
	if (r != 0 || !is_claude)
		return r;
	if (plan->server_count > 0)
		path = arena_printf(&plan->cli->arena, "%s/%s", plan->directory, name);
	r = agent_config_claude_arguments(&plan->cli->arena, path, plan->servers, plan->server_count, &plan->arguments);
	return r == 0 ? 0 : cli_say_error("the arguments", r);
}

/* What a filter of the agent's output must know. */
static int write_secrets(struct materialize *plan)
{
	CLEANUP(cli_buf_drop) struct buf buf = {0};
	struct json_out out;
	int result = 0;

	buf_init(&buf, FILE_CEILING);
	json_out_init(&out, &buf);
	json_out_begin_array(&out);
	for (size_t i = 0; i < plan->server_count; i++) {
		for (size_t k = 0; result == 0 && k < plan->servers[i].value_count; k++) {
			if (!plan->servers[i].values[k].is_credential)
				continue;
			result = secrets_add(
				plan->cli, &plan->secrets, plan->servers[i].values[k].value, "a credential");
			json_out_str(&out, plan->servers[i].values[k].value);
		}
	}
	json_out_end_array(&out);
	buf_putc(&buf, '\n');
	if (result != 0 || plan->secrets.count == 0)
		return result;
	return keep_buf(plan, "folder", plan->folder.descriptor, "secrets.json", &buf);
}

/* ---- skills */

static int write_resources(
	struct materialize *plan, const char *place, int folder, const char *prefix, const struct skill *skill)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < skill->resource_count; i++)
		r = keep_file(plan, place, folder,
			cli_printf(plan->cli, "%s/%s", prefix, skill->resources[i].path.bytes),
			skill->resources[i].content);
	return r;
}

/* Something has the name already, a link too: nothing of it is touched. */
static bool is_taken(int folder, const char *path)
{
	const char *slash = strrchr(path, '/');
	CLEANUP(free_drop) char *parent = strndup(path, (size_t)(slash - path));
	int below = parent != NULL ? run_folder_below(folder, parent, false) : -ENOMEM;
	struct stat info;
	bool is_there = false;

	if (below < 0)
		return below != -ENOENT;
	is_there = fstatat(below, slash + 1, &info, AT_SYMLINK_NOFOLLOW) == 0;
	close(below);
	return is_there;
}

static int write_in_home(struct materialize *plan, const struct skill *skill)
{
	const char *prefix = cli_printf(plan->cli, "skills/%s", skill->name.bytes);
	CLEANUP(cli_buf_drop) struct buf buf = {0};
	int r = 0;

	if (is_taken(plan->home, prefix)) {
		materialize_withhold(plan, "skill", skill->name, "name_taken", STR("something lies there already"));
		return 0;
	}
	buf_init(&buf, FILE_CEILING);
	skill_write_manifest(skill, &buf);
	plan->skills[plan->skill_count++] = skill;
	r = keep_buf(plan, "home", plan->home, cli_printf(plan->cli, "%s/%s", prefix, SKILL_MANIFEST), &buf);
	return r != 0 ? r : write_resources(plan, "home", plan->home, prefix, skill);
}

static int write_in_checkout(struct materialize *plan, const struct skill *skill)
{
	const char *prefix = cli_printf(plan->cli, MATERIALIZE_CONTEXT "/skill/%s", skill->name.bytes);

	if (is_taken(plan->checkout, prefix)) {
		materialize_withhold(plan, "skill", skill->name, "name_taken", STR("something lies there already"));
		return 0;
	}
	materialize_withhold(
		plan, "skill", skill->name, "resources_only", STR("its instructions need a home of its own"));
	plan->skills[plan->skill_count++] = skill;
	return write_resources(plan, "checkout", plan->checkout, prefix, skill);
}

static int write_skills(struct materialize *plan)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->job.skill_count; i++) {
		const struct skill *skill = &plan->job.skills[i];

		if (plan->home >= 0)
			r = write_in_home(plan, skill);
		else if (plan->checkout >= 0)
			r = write_in_checkout(plan, skill);
		else
			materialize_withhold(
				plan, "skill", skill->name, "no_place", STR("neither a home nor a checkout was named"));
	}
	return r;
}

/* ---- keeping the checkout's commits clean */

static bool has_line(struct str text, const char *line)
{
	size_t len = strlen(line);

	for (size_t at = 0; at < text.len;) {
		const char *end = memchr(text.bytes + at, '\n', text.len - at);
		size_t stop = end != NULL ? (size_t)(end - text.bytes) : text.len;

		if (stop - at == len && memcmp(text.bytes + at, line, len) == 0)
			return true;
		at = stop + 1;
	}
	return false;
}

/* Appends our folder to .git/info/exclude, once. A checkout without a .git folder of its own has none to append to. */
static int exclude_context(struct materialize *plan)
{
	static const char line[] = MATERIALIZE_CONTEXT "/";
	int info = run_folder_below(plan->checkout, ".git", false);
	struct str text = {0};
	int r = 0;

	if (info < 0)
		return 0;
	close(info);
	r = run_folder_read(&plan->cli->arena, plan->checkout, ".git/info/exclude", FILE_CEILING, &text, NULL);
	if (r != 0 && r != -ENOENT)
		return say(".git/info/exclude", r == -ELOOP ? RUN_FOLDER_UNSAFE : r);
	if (has_line(text, line))
		return 0;
	info = run_folder_below(plan->checkout, ".git/info", true);
	r = info >= 0 ? openat(info, "exclude", O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666) : -1;
	if (info >= 0)
		close(info);
	if (r < 0)
		return say(".git/info/exclude", -errno);
	if (dprintf(r, "%s%s\n", text.len > 0 && text.bytes[text.len - 1] != '\n' ? "\n" : "", line) < 0) {
		close(r);
		return say(".git/info/exclude", -errno);
	}
	return close(r) == 0 ? 0 : say(".git/info/exclude", -errno);
}

/* ---- the note */

static void write_file(const struct materialize_file *file, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_member_text(out, "place", file->place);
	json_out_member_text(out, "path", file->path);
	json_out_member_text(out, "sha256", file->digest);
	json_out_end_object(out);
}

static int write_note(struct materialize *plan)
{
	CLEANUP(cli_buf_drop) struct buf buf = {0};
	struct json_out out;
	int r = 0;

	buf_init(&buf, FILE_CEILING);
	json_out_init(&out, &buf);
	json_out_begin_object(&out);
	json_out_member_int(&out, "schemaVersion", 1);
	materialize_write_summary(plan, &out);
	json_out_member_str(&out, "home", (struct str){plan->home_path, plan->home_path ? strlen(plan->home_path) : 0});
	json_out_member_str(&out, "checkout",
		(struct str){plan->checkout_path, plan->checkout_path ? strlen(plan->checkout_path) : 0});
	json_out_member_bool(&out, "ownHome", plan->has_own_home);
	json_out_key(&out, "owner");
	json_out_begin_object(&out);
	if (plan->owner > 0 && !materialize_write_owner(plan->owner, &out)) {
		cli_say("--owner %ld: there is no such process", plan->owner);
		return CLI_USAGE;
	}
	json_out_end_object(&out);
	json_out_key(&out, "files");
	json_out_begin_array(&out);
	for (size_t i = 0; i < plan->file_count; i++)
		write_file(&plan->files[i], &out);
	json_out_end_array(&out);
	json_out_end_object(&out);
	buf_putc(&buf, '\n');
	r = buf_error(&buf);
	if (r == 0)
		r = run_folder_write(plan->folder.descriptor, RUN_FOLDER_NOTE, buf_str(&buf));
	return r == 0 ? 0 : say(RUN_FOLDER_NOTE, r);
}

/* ---- the whole */

static bool is_same(int descriptor, const char *home, const char *name, struct cli *cli)
{
	struct stat one;
	struct stat other;

	return home != NULL && fstat(descriptor, &one) == 0 &&
		stat(cli_printf(cli, "%s/%s", home, name), &other) == 0 && one.st_dev == other.st_dev &&
		one.st_ino == other.st_ino;
}

/* A person's own settings are nobody's to fill. */
static bool is_developers_home(struct materialize *plan)
{
	const struct passwd *user = getpwuid(geteuid());
	const char *homes[] = {getenv("HOME"), user != NULL ? user->pw_dir : NULL};

	for (size_t i = 0; i < 2; i++)
		if (is_same(plan->home, homes[i], ".claude", plan->cli) ||
			is_same(plan->home, homes[i], ".codex", plan->cli) ||
			is_same(plan->home, homes[i], ".", plan->cli))
			return true;
	return false;
}

static int open_place(struct materialize *plan, const char *option, int *ret, const char **ret_path)
{
	const char *path = args_text(&plan->cli->args, option);
	CLEANUP(free_drop) char *whole = path != NULL ? realpath(path, NULL) : NULL;

	if (path == NULL)
		return 0;
	*ret = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (*ret < 0 || whole == NULL)
		return say(path, errno == ELOOP ? RUN_FOLDER_UNSAFE : -errno);
	*ret_path = cli_printf(plan->cli, "%s", whole);
	return 0;
}

static int open_places(struct materialize *plan)
{
	int result = open_place(plan, "home", &plan->home, &plan->home_path);

	if (result == 0)
		result = open_place(plan, "checkout", &plan->checkout, &plan->checkout_path);
	if (result == 0 && plan->home >= 0 && is_developers_home(plan)) {
		cli_say("--home: this is a person's own; name another one, or take --own-home");
		return CLI_USAGE;
	}
	if (result != 0 || !args_has(&plan->cli->args, "own-home"))
		return result;
	plan->has_own_home = true;
	plan->home = run_folder_below(plan->folder.descriptor, "home", true);
	return plan->home >= 0 ? 0 : say("the home", plan->home);
}

int materialize_write(struct materialize *plan, const char *base)
{
	CLEANUP(free_drop) char *whole = NULL;
	int r = run_folder_make(base, &plan->folder);
	int result = 0;

	if (r != 0)
		return say(base, r);
	plan->files = ARENA_ARRAY(&plan->cli->arena, MATERIALIZE_FILES_MOST, struct materialize_file);
	if (plan->files == NULL)
		return cli_say_error("the files", -ENOMEM);
	whole = realpath(base, NULL);
	plan->directory = cli_printf(plan->cli, "%s/%s", whole != NULL ? whole : base, plan->folder.name);
	result = open_places(plan);
	if (result == 0)
		result = write_servers(plan);
	if (result == 0)
		result = write_secrets(plan);
	if (result == 0)
		result = write_skills(plan);
	if (result == 0 && plan->home < 0 && plan->checkout >= 0 && plan->skill_count > 0)
		result = exclude_context(plan);
	return result != 0 ? result : write_note(plan);
}

static void clear(int folder, const char *path, const struct skill *skill)
{
	int below = run_folder_below(folder, path, false);

	if (below < 0)
		return;
	(void)!run_folder_clear(below, skill->name.bytes);
	close(below);
}

void materialize_undo(struct materialize *plan)
{
	for (size_t i = 0; i < plan->skill_count; i++)
		clear(plan->home >= 0 ? plan->home : plan->checkout,
			plan->home >= 0 ? "skills" : MATERIALIZE_CONTEXT "/skill", plan->skills[i]);
	if (plan->folder.base >= 0)
		(void)!run_folder_remove(&plan->folder);
}
