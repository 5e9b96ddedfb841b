#include "reader/credential_file.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char *const names[] = {
	".env",
	".envrc",
	".netrc",
	"_netrc",
	".pgpass",
	".my.cnf",
	".git-credentials",
	".npmrc",
	".yarnrc",
	".pypirc",
	".htpasswd",
	".dockercfg",
	".vault-token",
	"id_rsa",
	"id_dsa",
	"id_ecdsa",
	"id_ed25519",
	"id_ecdsa_sk",
	"id_ed25519_sk",
	"credentials.json",
	"service-account.json",
	"terraform.tfstate",
	"kubeconfig",
};

static const char *const endings[] = {
	".pem",
	".key",
	".p12",
	".pfx",
	".jks",
	".keystore",
	".kdbx",
	".ppk",
	".tfvars",
};

/* Below a folder of that name. */
static const char *const in_folders[][2] = {
	{".git", "config"},
	{".git", "config.worktree"},
	{".git", "credentials"},
	{".aws", "credentials"},
	{".docker", "config.json"},
	{".kube", "config"},
	{".cargo", "credentials"},
	{".cargo", "credentials.toml"},
	{".gem", "credentials"},
};

/* `.env.local` and `.env.production`, but not what is written to be shown. */
static const char *const shown_env[] = {".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults"};

static bool is_same(struct str text, const char *name)
{
	return text.len == strlen(name) && strncasecmp(text.bytes, name, text.len) == 0;
}

static bool is_one_of(struct str text, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_same(text, list[i]))
			return true;
	return false;
}

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static bool is_env(struct str name)
{
	return name.len > 5 && strncasecmp(name.bytes, ".env.", 5) == 0 &&
		!is_one_of(name, shown_env, COUNT(shown_env));
}

/* All of them begin with one of these, which almost no file does. */
static bool may_be_named(struct str name)
{
	return name.len > 0 && strchr("._icstkICSTK", name.bytes[0]) != NULL;
}

static bool has_ending(struct str name)
{
	const char *dot = name.len > 0 ? memrchr(name.bytes + 1, '.', name.len - 1) : NULL;
	struct str ending = {dot, dot != NULL ? (size_t)(name.bytes + name.len - dot) : 0};

	return dot != NULL && is_one_of(ending, endings, COUNT(endings));
}

/* The component before the last; a submodule's configuration lies deeper below .git. */
static bool has_folder(struct str path, const char *folder)
{
	size_t start = 0;

	for (size_t i = 0; i < path.len; i++) {
		if (path.bytes[i] != '/')
			continue;
		if (is_same((struct str){path.bytes + start, i - start}, folder))
			return true;
		start = i + 1;
	}
	return false;
}

bool credential_file_is(struct str path)
{
	const char *slash = path.len > 0 ? memrchr(path.bytes, '/', path.len) : NULL;
	struct str name = path;

	if (slash != NULL)
		name = (struct str){slash + 1, (size_t)(path.bytes + path.len - slash) - 1};
	if ((may_be_named(name) && is_one_of(name, names, COUNT(names))) || is_env(name) || has_ending(name))
		return true;
	if (slash == NULL || memchr(path.bytes, '.', path.len) == NULL)
		return false;
	for (size_t i = 0; i < COUNT(in_folders); i++)
		if (is_same(name, in_folders[i][1]) && has_folder(path, in_folders[i][0]))
			return true;
	return false;
}
