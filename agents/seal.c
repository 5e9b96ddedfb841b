#include "agents/seal.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

enum {
	SEAL_VERSION = 1,
	SEAL_NAME_SIZE = 16, /* of a key: crypto_generichash_BYTES_MIN */
	SEAL_HEAD_SIZE = 1 + SEAL_NAME_SIZE + crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
	SEAL_VARIANT = sodium_base64_VARIANT_ORIGINAL,
};

/* What a key is known by: a hash, of which nothing can be learned about it. */
static void name_key(const struct seal_key *key, unsigned char ret[static SEAL_NAME_SIZE])
{
	static const unsigned char domain[] = "admitd seal key";

	crypto_generichash(ret, SEAL_NAME_SIZE, domain, sizeof(domain), key->bytes, sizeof(key->bytes));
}

static int encode(struct arena *arena, const unsigned char *bytes, size_t len, struct str *ret)
{
	size_t size = sodium_base64_ENCODED_LEN(len, SEAL_VARIANT);
	char *text = arena_alloc(arena, size);

	if (text == NULL)
		return -ENOMEM;
	sodium_bin2base64(text, size, bytes, len, SEAL_VARIANT);
	*ret = (struct str){text, strlen(text)};
	return 0;
}

int seal_close(
	struct arena *arena, const struct seal_key *key, struct str context, struct str plain, struct str *ret_sealed)
{
	size_t len = SEAL_HEAD_SIZE + plain.len + crypto_aead_xchacha20poly1305_ietf_ABYTES;
	unsigned char *bytes = arena_alloc(arena, len);
	unsigned char *nonce = bytes + 1 + SEAL_NAME_SIZE;

	if (bytes == NULL)
		return -ENOMEM;
	bytes[0] = SEAL_VERSION;
	name_key(key, bytes + 1);
	randombytes_buf(nonce, crypto_aead_xchacha20poly1305_ietf_NPUBBYTES);
	(void)crypto_aead_xchacha20poly1305_ietf_encrypt(bytes + SEAL_HEAD_SIZE, NULL,
		(const unsigned char *)plain.bytes, plain.len, (const unsigned char *)context.bytes, context.len, NULL,
		nonce, key->bytes);
	return encode(arena, bytes, len, ret_sealed);
}

static int decode(struct arena *arena, struct str sealed, unsigned char **ret_bytes, size_t *ret_len)
{
	*ret_bytes = arena_alloc(arena, sealed.len + 1);
	if (*ret_bytes == NULL)
		return -ENOMEM;
	if (sealed.bytes == NULL ||
		sodium_base642bin(
			*ret_bytes, sealed.len, sealed.bytes, sealed.len, NULL, ret_len, NULL, SEAL_VARIANT) != 0)
		return SEAL_DAMAGED;
	if (*ret_len < SEAL_HEAD_SIZE + crypto_aead_xchacha20poly1305_ietf_ABYTES || (*ret_bytes)[0] != SEAL_VERSION)
		return SEAL_DAMAGED;
	return 0;
}

int seal_open(
	struct arena *arena, const struct seal_key *key, struct str context, struct str sealed, struct str *ret_plain)
{
	unsigned char name[SEAL_NAME_SIZE];
	unsigned char *bytes = NULL;
	size_t len = 0;
	int r = decode(arena, sealed, &bytes, &len);
	size_t plain_len = len - SEAL_HEAD_SIZE - crypto_aead_xchacha20poly1305_ietf_ABYTES;
	unsigned char *plain = NULL;

	if (r != 0)
		return r;
	name_key(key, name);
	if (sodium_memcmp(name, bytes + 1, sizeof(name)) != 0)
		return SEAL_OTHER_KEY;
	plain = arena_alloc(arena, plain_len + 1);
	if (plain == NULL)
		return -ENOMEM;
	if (crypto_aead_xchacha20poly1305_ietf_decrypt(plain, NULL, NULL, bytes + SEAL_HEAD_SIZE, len - SEAL_HEAD_SIZE,
		    (const unsigned char *)context.bytes, context.len, bytes + 1 + SEAL_NAME_SIZE, key->bytes) != 0)
		return SEAL_DAMAGED;
	*ret_plain = (struct str){(const char *)plain, plain_len};
	return 0;
}
