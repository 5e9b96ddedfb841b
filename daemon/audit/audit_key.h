/* audit_key.h - the key that signs checkpoints, and the ones that are believed (chapter 2.8).
 *
 * Ed25519. A key file is one line, "ed25519 " and 64 hexadecimal digits: the seed in the file that admitd reads (0600, outside the
 * state folder), the public key in the one beside it, NAME.pub, which whoever checks the log keeps. A key is named by the first
 * 16 digits of the SHA-256 of its public part. Prints nothing.
 */
#ifndef ADMITD_DAEMON_AUDIT_AUDIT_KEY_H
#define ADMITD_DAEMON_AUDIT_AUDIT_KEY_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/arena.h"
#include "policy/check.h"

enum {
	AUDIT_PUBLIC_BYTES = 32,
	AUDIT_SECRET_BYTES = 64,
	AUDIT_KEY_ID_SIZE = 17,
	AUDIT_PUBLIC_SIZE = 65,
	AUDIT_TRUST_MAX = 16
};

enum audit_key_result {
	AUDIT_KEY_DAMAGED = 1,    /* not such a line */
	AUDIT_KEY_OPEN_TO_OTHERS, /* its mode lets others read or write it */
	AUDIT_KEY_ABSENT,
};

struct audit_key {
	unsigned char public[AUDIT_PUBLIC_BYTES];
	unsigned char secret[AUDIT_SECRET_BYTES]; /* zero where only the public part is known */
	char id[AUDIT_KEY_ID_SIZE];
};

/* Makes a key and both its files, which must not be there. 0, -EEXIST, or another -errno. */
int audit_key_make(const char *path, struct audit_key *ret) MUST_USE;
/* Reads the file with the seed. 0, a result above, or -errno. */
int audit_key_read(const char *path, struct audit_key *ret) MUST_USE;
/* A public key: 64 hexadecimal digits, or the path of a file with the line. The same results. */
int audit_key_public(const char *text, struct audit_key *ret) MUST_USE;
/* For people: the public part in hexadecimal. */
void audit_key_text(const struct audit_key *key, char ret_text[static AUDIT_PUBLIC_SIZE]);
/* Forgets the secret. */
void audit_key_wipe(struct audit_key *key);

/* The public keys that are believed. */
struct audit_trust {
	struct audit_key keys[AUDIT_TRUST_MAX];
	size_t count;
};

/* Adds one, unless it is there; false when there is no room. */
bool audit_trust_add(struct audit_trust *trust, const struct audit_key *key);
/* NULL: nobody's. */
const struct audit_key *audit_trust_find(const struct audit_trust *trust, struct str id);

#endif
