#include <string.h>
#include <strings.h>

#include "policy/redact_internal.h"

/* Only the end of a name says what it is; a longer one is judged by its last so many bytes. */
enum { NAME_LIMIT = 200 };

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* A key's words in lower case, each with a '_' before it: `_api_key` for apiKey, API-KEY and Api.Key's last part. */
struct name {
	char bytes[2 * NAME_LIMIT + 2];
	size_t len;
	bool has_lower;
};

static bool is_lower(char byte)
{
	return byte >= 'a' && byte <= 'z';
}

static bool is_upper(char byte)
{
	return byte >= 'A' && byte <= 'Z';
}

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool equals_ignoring_case(struct str text, const char *word)
{
	return strlen(word) == text.len && strncasecmp(text.bytes, word, text.len) == 0;
}

static bool is_among(struct str text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (equals_ignoring_case(text, words[i]))
			return true;
	return false;
}

/* ---- names of keys */

/* The letter that an accented Latin-1 letter (second byte of its UTF-8, folded to lower case) stands for. */
static char without_accent(unsigned char second)
{
	unsigned char low = (unsigned char)(second | 0x20);

	if (low >= 0xA0 && low <= 0xA5)
		return 'a';
	if (low >= 0xA8 && low <= 0xAB)
		return 'e';
	if (low >= 0xAC && low <= 0xAF)
		return 'i';
	if (low >= 0xB2 && low <= 0xB6)
		return 'o';
	return low >= 0xB9 && low <= 0xBC ? 'u' : 'x';
}

static bool begins_word(struct str key, size_t at)
{
	char byte = key.bytes[at];

	if (at == 0 || !is_upper(byte))
		return at == 0;
	return is_lower(key.bytes[at - 1]) || is_digit(key.bytes[at - 1]) ||
		(is_upper(key.bytes[at - 1]) && at + 1 < key.len && is_lower(key.bytes[at + 1]));
}

static void name_fold(struct str key, struct name *name)
{
	name->len = 0;
	name->has_lower = false;
	for (size_t i = 0; i < key.len; i++) {
		char byte = key.bytes[i];

		if ((unsigned char)byte == 0xC3 && i + 1 < key.len)
			byte = without_accent((unsigned char)key.bytes[++i]);
		name->has_lower |= is_lower(byte);
		if (byte == '-' || byte == '_' || byte == ' ' || byte == '\n')
			byte = '_';
		else if (begins_word(key, i))
			name->bytes[name->len++] = '_';
		if (byte != '_' || name->len == 0 || name->bytes[name->len - 1] != '_')
			name->bytes[name->len++] = is_upper(byte) ? (char)(byte | 0x20) : byte;
	}
	while (name->len && name->bytes[name->len - 1] == '_')
		name->len--;
	name->bytes[name->len] = '\0';
}

static bool name_is(const struct name *name, const char *words)
{
	return strcmp(name->bytes, words) == 0;
}

/* Whether one of the name's words ends with, or is, what is asked for. */
static bool name_has_word(const struct name *name, const char *word, bool is_whole)
{
	size_t len = strlen(word);

	for (const char *at = strstr(name->bytes, word); at; at = strstr(at + 1, word))
		if ((at[len] == '\0' || at[len] == '_') && (!is_whole || at[-1] == '_'))
			return true;
	return false;
}

static bool name_has_any(const struct name *name, const char *const *words, size_t count, bool is_whole)
{
	for (size_t i = 0; i < count; i++)
		if (name_has_word(name, words[i], is_whole))
			return true;
	return false;
}

static bool name_ends_plain(const struct name *name)
{
	static const char *const plain[] = {"name", "names", "type", "types", "kind", "count", "counts", "limit",
		"limits", "budget", "length", "len", "size", "file", "files", "path", "paths", "dir", "url", "urls",
		"uri", "endpoint", "policy", "policies", "expiry", "expires", "expiration", "ttl", "in", "enabled",
		"required", "usage", "used", "field", "fields", "ref", "refs", "format", "prefix", "version", "helper",
		"store", "storage", "manager", "provider", "providers", "service", "services", "server", "agent",
		"reviewer", "scope", "scopes", "status", "state", "age", "days", "rotation", "rate", "cost", "price",
		"window", "error", "errors", "check", "checks", "scan", "scanner", "scanning", "rule", "rules",
		"review", "audit", "management", "mode", "read", "write", "list"};
	const char *last = strrchr(name->bytes, '_');

	return last && is_among((struct str){last + 1, strlen(last + 1)}, plain, COUNT_OF(plain));
}

static bool name_counts(const struct name *name)
{
	static const char *const counted[] = {"tokens", "secrets"};
	static const char *const counting[] = {"max", "min", "num", "count", "total"};

	return name_has_any(name, counted, COUNT_OF(counted), false) ||
		name_has_any(name, counting, COUNT_OF(counting), true);
}

static bool name_is_secret(const struct name *name)
{
	/* These also as the end of a word: authtoken, PGPASSWORD. */
	static const char *const ends[] = {"token", "tokens", "secret", "secrets", "password", "passwords", "passwd",
		"passphrase", "passcode", "credential", "credentials", "apikey", "apikeys", "privatekey", "secretkey",
		"accesskey"};
	static const char *const wholes[] = {"creds", "cred", "pwd", "api_key", "api_keys", "private_key",
		"private_keys", "secret_key", "access_key", "access_keys", "signing_key", "encryption_key",
		"shared_key", "master_key", "auth_key", "ssh_key", "account_key", "storage_key", "pass_phrase",
		"private_pem"};

	return name_has_any(name, ends, COUNT_OF(ends), false) || name_has_any(name, wholes, COUNT_OF(wholes), true);
}

/* Names that are secret only by the way they are written: GITHUB_PAT, DIFY_KEY, DB_PASS, ?key=, docker's "auth". */
static bool name_is_secret_here(const struct name *name, char separator, char before)
{
	bool is_query = before == '?' || before == '&';

	if (is_query && (name_is(name, "_key") || name_is(name, "_sig") || name_is(name, "_signature")))
		return true;
	if (!name->has_lower && (name_has_word(name, "pat", true) || name_has_word(name, "_key", false)))
		return true;
	if (name_is(name, "_pass"))
		return separator == '=';
	if (name->len > 5 && strcmp(name->bytes + name->len - 5, "_pass") == 0)
		return true;
	return name_is(name, "_auth");
}

/* The part of a dotted key that names it: the last one, or the one before a mere `.value`. */
static struct str last_part(struct str key)
{
	static const char *const values[] = {"value", "data", "default", "raw", "string"};

	for (int parts = 0; parts < 2; parts++) {
		const char *dot = memrchr(key.bytes, '.', key.len);
		size_t begin = dot ? (size_t)(dot - key.bytes) + 1 : 0;
		struct str part = {key.bytes + begin, key.len - begin};

		if (!dot || !is_among(part, values, COUNT_OF(values)))
			return part;
		key.len = begin - 1;
	}
	return key;
}

enum redact_key_kind redact_key_kind_of(struct str key, char separator, char before)
{
	struct name name;

	key = last_part(key);
	if (key.len > NAME_LIMIT) {
		key.bytes += key.len - NAME_LIMIT;
		key.len = NAME_LIMIT;
	}
	name_fold(key, &name);
	if (name.len == 0)
		return REDACT_KEY_PLAIN;
	if (name_is(&name, "_authorization") || name_is(&name, "_proxy_authorization"))
		return REDACT_KEY_HEADER;
	if (name_is(&name, "_cookie") || name_is(&name, "_set_cookie"))
		return REDACT_KEY_COOKIE;
	if (name_ends_plain(&name))
		return REDACT_KEY_PLAIN;
	/* The shell's own working directory. */
	if (name_is(&name, "_pwd") && !name.has_lower)
		return REDACT_KEY_PLAIN;
	if (name_is_secret(&name)) {
		if (name_has_word(&name, "passphrase", false) || name_has_word(&name, "pass_phrase", true))
			return REDACT_KEY_LINE;
		return name_counts(&name) ? REDACT_KEY_COUNTABLE : REDACT_KEY_SECRET;
	}
	return name_is_secret_here(&name, separator, before) ? REDACT_KEY_SECRET : REDACT_KEY_PLAIN;
}
