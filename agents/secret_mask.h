/* secret_mask.h - keeps known secrets out of a text (chapter 5.7).
 *
 * Masks every occurrence of the secrets of one spec: as they are, escaped as in JSON, percent-encoded, and in base64 at each of its
 * three alignments. Longer forms go first, so that nothing of one is left where a shorter one lies in it. It knows nothing of shapes:
 * what comes out still goes through the redactor. May use policy and libsodium. Any thread.
 */
#ifndef ADMITD_AGENTS_SECRET_MASK_H
#define ADMITD_AGENTS_SECRET_MASK_H

#include "agents/spec.h"

struct secret_mask {
	struct str *forms; /* longest first */
	size_t count;
	size_t size;
};

/* From everything that a spec sets: credentials, and other values that are long enough to be masked. 0 or -ENOMEM. */
int secret_mask_init(struct secret_mask *mask, struct arena *arena, const struct spec *spec) MUST_USE;

/* `text` with a mask for each of them, in the arena; an absent text stays absent. 0 or -ENOMEM. */
int secret_mask_apply(const struct secret_mask *mask, struct arena *arena, struct str text, struct str *ret) MUST_USE;

#endif
