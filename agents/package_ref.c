#include "agents/package_ref.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* A command line that is taken apart, word by word. */
struct line {
	struct str command;
	const struct str *args;
	size_t count; /* of all words */
	size_t at;
	struct package_refs *refs;
};

enum { COMMIT_LENGTH = 40, LAUNCHERS_LIMIT = 8 };

/* ---- words */

static struct str word_at(const struct line *line, size_t at)
{
	return at >= line->count ? (struct str){"", 0} : at == 0 ? line->command : line->args[at - 1];
}

static bool begins(struct str text, const char *prefix)
{
	return text.len >= strlen(prefix) && memcmp(text.bytes, prefix, strlen(prefix)) == 0;
}

static bool is_any(struct str text, const char *const *words)
{
	for (; *words != NULL; words++)
		if (str_is(text, *words))
			return true;
	return false;
}

#define IS_ANY(text, ...) is_any(text, (const char *const[]){__VA_ARGS__, NULL})

/* The program's own name: no folder, and not what one system puts behind it. */
static struct str program_at(const struct line *line, size_t at)
{
	static const char *const endings[] = {".exe", ".cmd", ".bat"};
	struct str word = word_at(line, at);
	const char *slash = memrchr(word.bytes, '/', word.len);
	const char *back = memrchr(word.bytes, '\\', word.len);

	slash = back > slash ? back : slash;
	if (slash != NULL)
		word = (struct str){slash + 1, word.len - (size_t)(slash + 1 - word.bytes)};
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (word.len > 4 && strncasecmp(word.bytes + word.len - 4, endings[i], 4) == 0)
			word.len -= 4;
	return word;
}

static void add(struct line *line, enum package_ref_kind kind, struct str name)
{
	if (line->refs->count < PACKAGE_REFS_LIMIT)
		line->refs->items[line->refs->count++] = (struct package_ref){kind, name};
}

/* ---- versions */

static bool is_hex(char byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f');
}

/* Ends in the name of a commit, behind `mark`. */
static bool has_commit(struct str name, char mark)
{
	if (name.len <= COMMIT_LENGTH || name.bytes[name.len - COMMIT_LENGTH - 1] != mark)
		return false;
	for (size_t i = name.len - COMMIT_LENGTH; i < name.len; i++)
		if (!is_hex(name.bytes[i]))
			return false;
	return true;
}

static bool is_source(struct str name)
{
	return begins(name, "git+") || begins(name, "git:") || begins(name, "git@") || begins(name, "github:") ||
		begins(name, "gitlab:") || begins(name, "bitbucket:") || begins(name, "gist:") ||
		begins(name, "http:") || begins(name, "https:") || begins(name, "ssh:");
}

/* Digits and dots with at least `dots` of these, and what may follow them. */
static bool is_exact(struct str version, size_t dots)
{
	size_t count = 0;

	if (version.len == 0 || version.bytes[0] < '0' || version.bytes[0] > '9')
		return false;
	for (size_t i = 0; i < version.len; i++) {
		char byte = version.bytes[i];

		count += byte == '.';
		if (byte == '*' || byte == ' ' || byte == '|' || byte == '<' || byte == '>' || byte == ',')
			return false;
		if ((byte == 'x' || byte == 'X') && (i == 0 || version.bytes[i - 1] == '.'))
			return false;
	}
	return count >= dots;
}

static struct str behind(struct str text, const char *mark)
{
	return (struct str){mark, text.len - (size_t)(mark - text.bytes)};
}

/* npm's: [@scope/]name@version; owner/repository without a scope is one of GitHub. */
static enum package_ref_kind judge_npm(struct str name)
{
	const char *version = name.len > 1 ? memrchr(name.bytes + 1, '@', name.len - 1) : NULL;

	if (begins(name, "./") || begins(name, "../") || begins(name, "/") || begins(name, "file:"))
		return PACKAGE_REF_NONE;
	if (is_source(name) || (!begins(name, "@") && memchr(name.bytes, '/', name.len) != NULL))
		return has_commit(name, '#') ? PACKAGE_REF_PINNED : PACKAGE_REF_SOURCE;
	return version != NULL && is_exact(behind(name, version + 1), 2) ? PACKAGE_REF_PINNED : PACKAGE_REF_UNPINNED;
}

/* Python's: name==version, name @ address; uv's name@version. */
static enum package_ref_kind judge_python(struct str name)
{
	const char *version = memmem(name.bytes, name.len, "==", 2);
	const char *at = memrchr(name.bytes, '@', name.len);

	if (begins(name, "./") || begins(name, "../") || begins(name, "/"))
		return PACKAGE_REF_NONE;
	if (is_source(name) || memmem(name.bytes, name.len, "://", 3) != NULL)
		return has_commit(name, '@') ? PACKAGE_REF_PINNED : PACKAGE_REF_SOURCE;
	if (version != NULL)
		return is_exact(behind(name, version + 2), 0) ? PACKAGE_REF_PINNED : PACKAGE_REF_UNPINNED;
	return at != NULL && is_exact(behind(name, at + 1), 1) ? PACKAGE_REF_PINNED : PACKAGE_REF_UNPINNED;
}

/* An image is one only by its digest; a tag other than latest is what people mean by a version. */
static enum package_ref_kind judge_image(struct str name)
{
	const char *slash = memrchr(name.bytes, '/', name.len);
	const char *start = slash == NULL ? name.bytes : slash;
	const char *tag = memchr(start, ':', name.len - (size_t)(start - name.bytes));

	if (memmem(name.bytes, name.len, "@sha256:", 8) != NULL)
		return PACKAGE_REF_PINNED;
	return tag == NULL || str_is(behind(name, tag + 1), "latest") ? PACKAGE_REF_UNPINNED : PACKAGE_REF_PINNED;
}

/* ---- launchers */

/* The value of `--name=value`, or the word behind `--name`; absent for another word. *at moves onto it. */
static struct str option_value(const struct line *line, size_t *at, const char *const *names)
{
	struct str word = word_at(line, *at);

	for (; *names != NULL; names++) {
		size_t len = strlen(*names);

		if (str_is(word, *names))
			return word_at(line, ++*at);
		if (begins(word, *names) && word.len > len && word.bytes[len] == '=')
			return (struct str){word.bytes + len + 1, word.len - len - 1};
	}
	return (struct str){0};
}

/* Options up to the first word, which is the package, unless one of `naming` names it. `adding` name more of them, `valued` take a value. */
static void take_package(struct line *line, enum package_ref_kind (*judge)(struct str), const char *const *naming,
	const char *const *adding, const char *const *valued)
{
	bool is_named = false;
	size_t at = line->at;

	for (; at < line->count && begins(word_at(line, at), "-"); at++) {
		struct str named = option_value(line, &at, naming);
		struct str added = named.bytes != NULL ? named : option_value(line, &at, adding);

		if (added.bytes != NULL)
			add(line, judge(added), added);
		else
			(void)option_value(line, &at, valued);
		is_named = is_named || named.bytes != NULL;
	}
	if (!is_named && at < line->count)
		add(line, judge(word_at(line, at)), word_at(line, at));
}

static void take_npm(struct line *line)
{
	take_package(line, judge_npm, (const char *const[]){"-p", "--package", NULL}, (const char *const[]){NULL},
		(const char *const[]){"-c", "--call", "--registry", "--cache", "--prefix", NULL});
}

static void take_python(struct line *line)
{
	take_package(line, judge_python, (const char *const[]){"--from", "--spec", NULL},
		(const char *const[]){"--with", NULL},
		(const char *const[]){"-p", "--python", "--index-url", "--extra-index-url", "--index",
			"--default-index", "--directory", "--project", "--with-editable", "--with-requirements",
			"--env-file", NULL});
}

/* uv run starts what is there, but for what --with adds. */
static void take_uv_run(struct line *line)
{
	for (size_t at = line->at; at < line->count && begins(word_at(line, at), "-"); at++) {
		struct str added = option_value(line, &at, (const char *const[]){"--with", NULL});

		if (added.bytes != NULL)
			add(line, judge_python(added), added);
		else
			(void)option_value(line, &at,
				(const char *const[]){
					"-p", "--python", "--directory", "--project", "--env-file", NULL});
	}
}

static void take_image(struct line *line)
{
	static const char *const volumes[] = {"-v", "--volume", "--mount", "--device", NULL};
	static const char *const valued[] = {"-e", "--env", "--env-file", "--name", "-p", "--publish", "--network",
		"--net", "-w", "--workdir", "-u", "--user", "--entrypoint", "--platform", "--add-host", "-l", "--label",
		"-m", "--memory", "--cpus", "--gpus", "--ipc", "--pid", "--cap-add", "--cap-drop", "--security-opt",
		"-h", "--hostname", "--tmpfs", "--pull", "--restart", "--ulimit", NULL};
	size_t at = line->at;

	for (; at < line->count && begins(word_at(line, at), "-"); at++) {
		struct str option = word_at(line, at);
		struct str volume = option_value(line, &at, volumes);

		if (volume.bytes != NULL ||
			IS_ANY(option, "--privileged", "--network=host", "--net=host", "--pid=host"))
			add(line, PACKAGE_REF_HOST, volume.bytes != NULL ? volume : option);
		else if (str_is(option_value(line, &at, valued), "host"))
			add(line, PACKAGE_REF_HOST, option);
	}
	if (at < line->count)
		add(line, judge_image(word_at(line, at)), word_at(line, at));
}

/* go run module@version; deno run npm:package. */
static void take_go(struct line *line)
{
	struct str name = word_at(line, line->at);
	const char *at = memrchr(name.bytes, '@', name.len);

	if (at != NULL)
		add(line, at[1] == 'v' && is_exact(behind(name, at + 2), 2) ? PACKAGE_REF_PINNED : PACKAGE_REF_UNPINNED,
			name);
}

static void take_deno(struct line *line)
{
	for (size_t at = line->at; at < line->count; at++) {
		struct str name = word_at(line, at);

		if (begins(name, "npm:") || begins(name, "jsr:"))
			add(line, judge_npm((struct str){name.bytes + 4, name.len - 4}), name);
		else if (begins(name, "http"))
			add(line, PACKAGE_REF_SOURCE, name);
		else if (begins(name, "-"))
			continue;
		return;
	}
}

/* ---- following them */

static bool is_shell(struct str program)
{
	return IS_ANY(program, "sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "pwsh", "powershell");
}

static bool runs_line(const struct line *line)
{
	for (size_t at = line->at + 1; at < line->count && begins(word_at(line, at), "-"); at++) {
		struct str option = word_at(line, at);

		if (IS_ANY(option, "-Command", "-command", "--command") ||
			(!begins(option, "--") && memchr(option.bytes, 'c', option.len) != NULL))
			return true;
	}
	return false;
}

static bool is_python(struct str program)
{
	return begins(program, "python") || IS_ANY(program, "py", "pypy", "pypy3");
}

/* Where one program starts another: moves to that one. False: this is the last. */
static bool follow(struct line *line)
{
	struct str program = program_at(line, line->at);
	struct str next = word_at(line, line->at + 1);

	if (is_python(program) && str_is(next, "-m")) {
		line->at += 2;
		return line->at < line->count;
	}
	if (str_is(program, "cmd") && IS_ANY(next, "/c", "/C", "/k")) {
		line->at += 2;
		return line->at < line->count;
	}
	if (!IS_ANY(program, "env", "sudo", "doas", "nice", "nohup", "exec", "time", "stdbuf", "setsid", "xvfb-run"))
		return false;
	if (IS_ANY(program, "sudo", "doas"))
		add(line, PACKAGE_REF_ROOT, program);
	do
		line->at++;
	while (begins(word_at(line, line->at), "-") ||
		(str_is(program, "env") && word_at(line, line->at).len > 0 &&
			memchr(word_at(line, line->at).bytes, '=', word_at(line, line->at).len) != NULL));
	return line->at < line->count;
}

/* How many words name a launcher that fetches, and what kind it is. */
static bool take_launched(struct line *line)
{
	static const struct {
		const char *words[3];
		void (*take)(struct line *line);
	} launchers[] = {{{"npx"}, take_npm}, {{"bunx"}, take_npm}, {{"pnpx"}, take_npm}, {{"pnpm", "dlx"}, take_npm},
		{{"yarn", "dlx"}, take_npm}, {{"npm", "exec"}, take_npm}, {{"npm", "x"}, take_npm},
		{{"bun", "x"}, take_npm}, {{"uvx"}, take_python}, {{"uv", "tool", "run"}, take_python},
		{{"uv", "x"}, take_python}, {{"uv", "run"}, take_uv_run}, {{"pipx", "run"}, take_python},
		{{"docker", "run"}, take_image}, {{"podman", "run"}, take_image}, {{"nerdctl", "run"}, take_image},
		{{"go", "run"}, take_go}, {{"deno", "run"}, take_deno}};

	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		size_t words = 1;

		if (!str_is(program_at(line, line->at), launchers[i].words[0]))
			continue;
		while (words < 3 && launchers[i].words[words] != NULL &&
			str_is(word_at(line, line->at + words), launchers[i].words[words]))
			words++;
		if (words < 3 && launchers[i].words[words] != NULL)
			continue;
		line->at += words;
		launchers[i].take(line);
		return true;
	}
	return false;
}

void package_ref_find(struct str command, const struct str *args, size_t count, struct package_refs *ret)
{
	struct line line = {.command = command, .args = args, .count = count + 1, .refs = ret};

	ret->count = 0;
	for (int i = 0; i < LAUNCHERS_LIMIT && follow(&line); i++)
		;
	if (is_shell(program_at(&line, line.at)) && runs_line(&line))
		add(&line, PACKAGE_REF_SHELL, word_at(&line, line.at));
	else
		(void)take_launched(&line);
}
