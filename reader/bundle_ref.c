/* Each part is preceded by its length or is of a fixed one, so that no two bundles read alike. */
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "reader/bundle.h"

struct bundle_ref {
	crypto_hash_sha256_state state;
};

static const char domain[] = "admitd bundle 1";

int bundle_ref_new(struct bundle_ref **ret)
{
	struct bundle_ref *ref = calloc(1, sizeof(*ref));

	if (ref == NULL)
		return -ENOMEM;
	(void)crypto_hash_sha256_init(&ref->state);
	(void)crypto_hash_sha256_update(&ref->state, (const unsigned char *)domain, sizeof(domain));
	*ret = ref;
	return 0;
}

static void add_number(struct bundle_ref *ref, uint64_t number)
{
	unsigned char bytes[8];
	size_t i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(number >> (56 - 8 * i));
	(void)crypto_hash_sha256_update(&ref->state, bytes, sizeof(bytes));
}

void bundle_ref_add(struct bundle_ref *ref, const struct bundle_file *file, int result, struct str content)
{
	unsigned char hash[crypto_hash_sha256_BYTES] = {0};

	add_number(ref, file->path.len);
	(void)crypto_hash_sha256_update(&ref->state, (const unsigned char *)file->path.bytes, file->path.len);
	add_number(ref, (uint64_t)result);
	add_number(ref, result == 0 ? content.len : (uint64_t)file->size);
	if (result == 0)
		(void)crypto_hash_sha256(hash, (const unsigned char *)content.bytes, content.len);
	(void)crypto_hash_sha256_update(&ref->state, hash, sizeof(hash));
}

void bundle_ref_end(struct bundle_ref *ref, char hex[BUNDLE_REF_HEX + 1])
{
	unsigned char hash[crypto_hash_sha256_BYTES];

	(void)crypto_hash_sha256_final(&ref->state, hash);
	(void)sodium_bin2hex(hex, BUNDLE_REF_HEX + 1, hash, sizeof(hash));
}

void bundle_ref_free(struct bundle_ref **ref)
{
	free(*ref);
	*ref = NULL;
}
