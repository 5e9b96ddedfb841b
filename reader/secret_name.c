#include "reader/secret_name.h"

#include <string.h>
#include <strings.h>

enum { WORD_LIMIT = 24 };

static const char *const secret_words[] = {"secret", "secrets", "token", "tokens", "password", "passwords", "passwd",
	"passphrase", "passphrases", "passcode", "credential", "credentials", "creds", "apikey", "apikeys",
	"privatekey", "secretkey", "accesskey", "authtoken", "htpasswd", "keytab", "keystore", "keyring", "netrc",
	"pgpass"};

/* Two words in a row. */
static const char *const secret_pairs[][2] = {{"api", "key"}, {"api", "keys"}, {"private", "key"}, {"private", "keys"},
	{"access", "key"}, {"access", "keys"}, {"secret", "key"}, {"signing", "key"}, {"encryption", "key"},
	{"ssh", "key"}, {"ssh", "keys"}, {"host", "key"}, {"master", "key"}, {"deploy", "key"}, {"service", "account"}};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static bool is_upper(char byte)
{
	return byte >= 'A' && byte <= 'Z';
}

static bool is_lower(char byte)
{
	return byte >= 'a' && byte <= 'z';
}

static bool is_letter(char byte)
{
	return is_upper(byte) || is_lower(byte);
}

/* APIKey is api and key: a capital begins a word behind a small letter, or before one behind capitals. */
static bool begins_word(struct str name, size_t at)
{
	if (!is_upper(name.bytes[at]))
		return false;
	if (is_lower(name.bytes[at - 1]))
		return true;
	return is_upper(name.bytes[at - 1]) && at + 1 < name.len && is_lower(name.bytes[at + 1]);
}

/* The next word from *at on; empty at the end. */
static struct str next_word(struct str name, size_t *at)
{
	size_t start = 0;

	while (*at < name.len && !is_letter(name.bytes[*at]))
		(*at)++;
	start = *at;
	while (*at < name.len && is_letter(name.bytes[*at]) && (*at == start || !begins_word(name, *at)))
		(*at)++;
	return (struct str){name.bytes + start, *at - start};
}

static bool is_word(struct str text, const char *word)
{
	return text.len == strlen(word) && strncasecmp(text.bytes, word, text.len) == 0;
}

static bool is_pair(struct str first, struct str second)
{
	for (size_t i = 0; i < COUNT(secret_pairs); i++)
		if (is_word(first, secret_pairs[i][0]) && is_word(second, secret_pairs[i][1]))
			return true;
	return false;
}

static bool is_secret(struct str word)
{
	for (size_t i = 0; word.len <= WORD_LIMIT && i < COUNT(secret_words); i++)
		if (is_word(word, secret_words[i]))
			return true;
	return false;
}

bool secret_name_is(struct str name)
{
	struct str previous = {0};
	size_t at = 0;

	for (;;) {
		struct str word = next_word(name, &at);

		if (word.len == 0)
			return false;
		if (is_secret(word) || (previous.len > 0 && is_pair(previous, word)))
			return true;
		previous = word;
	}
}
