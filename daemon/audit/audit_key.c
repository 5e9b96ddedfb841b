#include "daemon/audit/audit_key.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/secret_file.h"
#include "policy/cleanup.h"

static const char word[] = "ed25519 ";
enum { LINE_BYTES = sizeof(word) - 1 + 64 + 1 };

static void name_key(struct audit_key *key)
{
	unsigned char hash[crypto_hash_sha256_BYTES];

	(void)crypto_hash_sha256(hash, key->public, sizeof(key->public));
	(void)sodium_bin2hex(key->id, sizeof(key->id), hash, (sizeof(key->id) - 1) / 2);
}

/* The folder of a path, owned by the caller; NULL when memory ran out. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		return strdup(".");
	return strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static int write_line(const char *path, const unsigned char *bytes)
{
	CLEANUP(free_drop) char *folder = folder_of(path);
	char line[LINE_BYTES + 1];
	int r = 0;

	if (folder == NULL)
		return -ENOMEM;
	memcpy(line, word, sizeof(word) - 1);
	(void)sodium_bin2hex(line + sizeof(word) - 1, sizeof(line) - (sizeof(word) - 1), bytes, 32);
	line[LINE_BYTES - 1] = '\n';
	r = secret_file_write(folder, name_of(path), line, LINE_BYTES, false);
	sodium_memzero(line, sizeof(line));
	return r;
}

static int read_hex(const char *hex, size_t len, unsigned char ret_bytes[static 32])
{
	size_t got = 0;

	if (len != 64 || sodium_hex2bin(ret_bytes, 32, hex, len, NULL, &got, NULL) != 0 || got != 32)
		return AUDIT_KEY_DAMAGED;
	return 0;
}

static int read_line(const char *line, size_t len, unsigned char ret_bytes[static 32])
{
	size_t head = sizeof(word) - 1;

	while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == ' '))
		len--;
	if (len < head || memcmp(line, word, head) != 0)
		return AUDIT_KEY_DAMAGED;
	return read_hex(line + head, len - head, ret_bytes);
}

static void from_seed(const unsigned char *seed, struct audit_key *ret)
{
	(void)crypto_sign_seed_keypair(ret->public, ret->secret, seed);
	name_key(ret);
}

int audit_key_make(const char *path, struct audit_key *ret)
{
	CLEANUP(free_drop) char *beside = NULL;
	unsigned char seed[crypto_sign_SEEDBYTES];
	int r = 0;

	if (asprintf(&beside, "%s.pub", path) < 0) {
		beside = NULL; /* asprintf leaves it undefined */
		return -ENOMEM;
	}
	randombytes_buf(seed, sizeof(seed));
	from_seed(seed, ret);
	r = write_line(path, seed);
	sodium_memzero(seed, sizeof(seed));
	return r != 0 ? r : write_line(beside, ret->public);
}

int audit_key_read(const char *path, struct audit_key *ret)
{
	CLEANUP(free_drop) char *folder = folder_of(path);
	char line[LINE_BYTES];
	unsigned char seed[crypto_sign_SEEDBYTES];
	int r = 0;

	if (folder == NULL)
		return -ENOMEM;
	r = secret_file_read(folder, name_of(path), line, sizeof(line));
	if (r > 0)
		return r == SECRET_FILE_ABSENT            ? AUDIT_KEY_ABSENT
			: r == SECRET_FILE_OPEN_TO_OTHERS ? AUDIT_KEY_OPEN_TO_OTHERS
							  : AUDIT_KEY_DAMAGED;
	if (r == 0)
		r = read_line(line, sizeof(line), seed);
	if (r == 0)
		from_seed(seed, ret);
	sodium_memzero(line, sizeof(line));
	sodium_memzero(seed, sizeof(seed));
	return r;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

static int read_public_file(const char *path, unsigned char ret_bytes[static 32])
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char line[LINE_BYTES + 16];
	ssize_t got = fd < 0 ? -1 : read(fd, line, sizeof(line));

	if (got < 0)
		return errno == ENOENT ? AUDIT_KEY_ABSENT : -errno;
	return read_line(line, (size_t)got, ret_bytes);
}

int audit_key_public(const char *text, struct audit_key *ret)
{
	int r = 0;

	*ret = (struct audit_key){0};
	if (read_hex(text, strlen(text), ret->public) != 0)
		r = read_public_file(text, ret->public);
	if (r == 0)
		name_key(ret);
	return r;
}

void audit_key_text(const struct audit_key *key, char ret_text[static AUDIT_PUBLIC_SIZE])
{
	(void)sodium_bin2hex(ret_text, AUDIT_PUBLIC_SIZE, key->public, sizeof(key->public));
}

void audit_key_wipe(struct audit_key *key)
{
	sodium_memzero(key->secret, sizeof(key->secret));
}

bool audit_trust_add(struct audit_trust *trust, const struct audit_key *key)
{
	for (size_t i = 0; i < trust->count; i++)
		if (memcmp(trust->keys[i].public, key->public, sizeof(key->public)) == 0)
			return true;
	if (trust->count == AUDIT_TRUST_MAX)
		return false;
	trust->keys[trust->count] = *key;
	audit_key_wipe(&trust->keys[trust->count++]);
	return true;
}

const struct audit_key *audit_trust_find(const struct audit_trust *trust, struct str id)
{
	for (size_t i = 0; i < trust->count; i++)
		if (str_is(id, trust->keys[i].id))
			return &trust->keys[i];
	return NULL;
}
