/* seal.h - credentials as they lie in the store: sealed under a key that lies elsewhere (chapter 5.7).
 *
 * XChaCha20-Poly1305 of libsodium with a random nonce. A seal is bound to its context (whose credentials they are), so that one
 * moved to another server doesn't open. It names its key, so that another key can be told from damage. May use policy and
 * libsodium, which must be started. Any thread.
 */
#ifndef ADMITD_AGENTS_SEAL_H
#define ADMITD_AGENTS_SEAL_H

#include "policy/arena.h"

enum { SEAL_KEY_SIZE = 32 };

struct seal_key {
	unsigned char bytes[SEAL_KEY_SIZE];
};

enum seal_result {
	SEAL_OTHER_KEY = 1, /* it was sealed under another key */
	SEAL_DAMAGED,       /* it isn't a seal, was changed, or belongs to another context */
};

/* `plain` sealed, as text without white space, in the arena. 0 or -ENOMEM. */
int seal_close(struct arena *arena, const struct seal_key *key, struct str context, struct str plain,
	struct str *ret_sealed) MUST_USE;

/* The reverse: 0 and *ret_plain in the arena, a result above, or -ENOMEM. */
int seal_open(struct arena *arena, const struct seal_key *key, struct str context, struct str sealed,
	struct str *ret_plain) MUST_USE;

#endif
