/* What a tool server's spec could do that its name doesn't say: told to a person before it is taken over. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "agents/import_entry.h"
#include "agents/package_ref.h"
#include "agents/url_rule.h"
#include "policy/redact.h"

/* Variables by which a loader, an interpreter or a shell runs other code than the one that is named. */
static const char *const loaders[] = {"LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES",
	"DYLD_LIBRARY_PATH", "GCONV_PATH", "NODE_OPTIONS", "NODE_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME",
	"PYTHONINSPECT", "PERL5LIB", "PERL5OPT", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS",
	"JDK_JAVA_OPTIONS", "CLASSPATH", "BASH_ENV", "ENV", "SHELLOPTS", "PROMPT_COMMAND", "PATH", "GIT_SSH_COMMAND",
	"GIT_EXEC_PATH", "DOTNET_STARTUP_HOOKS", NULL};

/* Names that take a protection away, wherever they stand in a variable's name. */
static const char *const unsafe_words[] = {"INSECURE", "UNAUTHENTICATED", "TLS_REJECT_UNAUTHORIZED", "HTTPSVERIFY",
	"SKIP_VERIFY", "NO_VERIFY", "DISABLE_SSL", "VERIFY_SSL", "DISABLE_AUTH", "NO_AUTH", "ALLOW_ANONYMOUS", NULL};

struct telling {
	struct import *import;
	struct import_server *server;
	const struct spec *spec;
};

static const char *shown(const struct telling *telling, struct str text)
{
	return import_shown(telling->import, text);
}

static bool is_one_of(struct str name, const char *const *names)
{
	for (; *names != NULL; names++)
		if (str_is(name, *names))
			return true;
	return false;
}

static bool holds_one_of(struct str name, const char *const *words)
{
	for (; *words != NULL; words++)
		for (size_t i = 0; i + strlen(*words) <= name.len; i++)
			if (strncasecmp(name.bytes + i, *words, strlen(*words)) == 0)
				return true;
	return false;
}

static void tell_variables(const struct telling *telling)
{
	for (size_t i = 0; i < telling->spec->value_count; i++) {
		struct str name = telling->spec->values[i].name;

		if (is_one_of(name, loaders))
			import_tell(telling->import, telling->server, IMPORT_RISK,
				"%s makes it load or run other code than the one that is named", shown(telling, name));
		else if (holds_one_of(name, unsafe_words))
			import_tell(telling->import, telling->server, IMPORT_RISK, "%s may switch a protection off",
				shown(telling, name));
	}
}

/* ---- the command line */

/* A path that isn't below the project, and no place where programs of the system are. */
static bool is_outside(const struct telling *telling, struct str text)
{
	static const char *const system[] = {"/usr/", "/bin/", "/sbin/", "/opt/", "/nix/"};
	size_t len = strlen(telling->import->folder);

	if (text.len == 0 || text.bytes[0] != '/')
		return false;
	for (size_t i = 0; i < sizeof(system) / sizeof(system[0]); i++)
		if (text.len > strlen(system[i]) && memcmp(text.bytes, system[i], strlen(system[i])) == 0)
			return false;
	return text.len < len || memcmp(text.bytes, telling->import->folder, len) != 0 ||
		(text.len > len && text.bytes[len] != '/');
}

static bool has_reference(struct str text)
{
	return memmem(text.bytes, text.len, "${", 2) != NULL;
}

static void tell_word(const struct telling *telling, const char *what, struct str text)
{
	if (is_outside(telling, text))
		import_tell(telling->import, telling->server, IMPORT_RISK, "%s is outside the project: %s", what,
			shown(telling, text));
	if (has_reference(text))
		import_tell(telling->import, telling->server, IMPORT_RISK,
			"%s has ${...} in it, which nobody fills in here: %s", what, shown(telling, text));
}

/* -e NAME=value and its like: the value stands where everybody on the machine can read it. */
static bool sets_value(struct str option)
{
	static const char *const options[] = {"-e", "--env", "-H", "--header", "--headers", NULL};

	return is_one_of(option, options);
}

static size_t name_length(struct str text)
{
	size_t len = 0;

	while (len < text.len && text.bytes[len] != '=' && text.bytes[len] != ':')
		len++;
	return len;
}

static void tell_arguments(const struct telling *telling)
{
	const struct spec *spec = telling->spec;

	for (size_t i = 0; i < spec->arg_count; i++) {
		tell_word(telling, "an argument", spec->args[i]);
		if (i > 0 && sets_value(spec->args[i - 1]) &&
			name_length(spec->args[i]) + SPEC_SECRET_LEAST < spec->args[i].len)
			import_tell(telling->import, telling->server, IMPORT_RISK,
				"argument %zu sets a value where others on the machine can read it; if it is a secret, "
				"give it in "
				"env",
				i + 1);
	}
}

static void tell_package(const struct telling *telling, const struct package_ref *found)
{
	switch (found->kind) {
	case PACKAGE_REF_SHELL:
		import_tell(telling->import, telling->server, IMPORT_RISK,
			"runs a line of shell, which can do anything that you can");
		break;
	case PACKAGE_REF_UNPINNED:
		import_tell(telling->import, telling->server, IMPORT_RISK,
			"fetches %s, whose version isn't pinned: another release may do something else",
			shown(telling, found->name));
		break;
	case PACKAGE_REF_SOURCE:
		import_tell(telling->import, telling->server, IMPORT_RISK,
			"fetches and runs %s from a source that can change without a version",
			shown(telling, found->name));
		break;
	case PACKAGE_REF_HOST:
		import_tell(telling->import, telling->server, IMPORT_RISK, "lets a container into this machine: %s",
			shown(telling, found->name));
		break;
	case PACKAGE_REF_ROOT:
		import_tell(telling->import, telling->server, IMPORT_RISK, "runs as another user: %s",
			shown(telling, found->name));
		break;
	case PACKAGE_REF_NONE:
	case PACKAGE_REF_PINNED:
		break;
	}
}

static void tell_command(const struct telling *telling)
{
	const struct spec *spec = telling->spec;
	struct package_refs refs = {0};

	package_ref_find(spec->command, spec->args, spec->arg_count, &refs);
	for (size_t i = 0; i < refs.count; i++)
		tell_package(telling, &refs.items[i]);
	tell_word(telling, "the command", spec->command);
	tell_arguments(telling);
}

static void tell_address(const struct telling *telling)
{
	struct str url = telling->spec->url;

	if (url_rule_judge(url) == URL_RULE_LOOPBACK)
		import_tell(telling->import, telling->server, IMPORT_RISK,
			"plain http, to this machine: whoever listens on that port is the server");
	if (has_reference(url))
		import_tell(telling->import, telling->server, IMPORT_RISK,
			"the address has ${...} in it, which nobody fills in here");
}

/* ---- how it is shown */

static void add_word(const struct telling *telling, struct str word, struct str before, char *line, size_t size)
{
	size_t len = strlen(line);
	size_t shown_len = sets_value(before) ? name_length(word) : word.len;
	struct str part = {word.bytes, shown_len};

	(void)snprintf(line + len, size - len, "%s%s%s", len == 0 ? "" : " ", shown(telling, part),
		shown_len < word.len ? "=" REDACT_MASK : "");
}

static void show(const struct telling *telling)
{
	const struct spec *spec = telling->spec;
	char line[4096] = "";

	if (spec->transport == SPEC_HTTP) {
		add_word(telling, spec->url, (struct str){0}, line, sizeof(line));
	} else {
		add_word(telling, spec->command, (struct str){0}, line, sizeof(line));
		for (size_t i = 0; i < spec->arg_count; i++)
			add_word(
				telling, spec->args[i], i == 0 ? spec->command : spec->args[i - 1], line, sizeof(line));
	}
	telling->server->runs = arena_str(telling->import->arena, (struct str){line, strlen(line)});
}

void import_risk_tell(struct import *import, struct import_server *server)
{
	const struct telling telling = {import, server, &server->spec};

	show(&telling);
	if (server->spec.transport == SPEC_STDIO)
		tell_command(&telling);
	else
		tell_address(&telling);
	tell_variables(&telling);
}
