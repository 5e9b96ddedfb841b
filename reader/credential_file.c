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

static bool ends_with(struct str text, const char *ending)
{
	size_t len = strlen(ending);

	return text.len > len && strncasecmp(text.bytes + text.len - len, ending, len) == 0;
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
	if (is_one_of(name, names, COUNT(names)) || is_env(name))
		return true;
	for (size_t i = 0; i < COUNT(endings); i++)
		if (ends_with(name, endings[i]))
			return true;
	for (size_t i = 0; slash != NULL && i < COUNT(in_folders); i++)
		if (is_same(name, in_folders[i][1]) && has_folder(path, in_folders[i][0]))
			return true;
	return false;
}
