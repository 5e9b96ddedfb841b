/* secret_mask.h - keeps known secrets out of a text (chapter 5.7).
 *
 * Masks every occurrence of the secrets that it was made from: as they are, escaped as in JSON (once, twice, with slashes or all
 * but ASCII escaped), percent-encoded in the usual ways, and in base64 at each of its three alignments. Where forms overlap, all
 * that any of them covers is one mask, so that nothing of a longer one is left where a shorter one lies in it. It knows nothing
 * of shapes: what comes out still goes through the redactor. Bytes in, bytes out; a text that is masked again stays as it is,
 * unless a secret holds the mask itself. May use policy and libsodium. Any thread.
 */
#ifndef ADMITD_AGENTS_SECRET_MASK_H
#define ADMITD_AGENTS_SECRET_MASK_H

#include "agents/spec.h"

struct secret_mask {
	struct str *forms; /* by their first byte; of one byte the longest first */
	size_t count;
	size_t size;
	size_t ends[256]; /* behind the forms that begin with a byte up to this one */
};

/* From everything that a spec sets: credentials, and other values that are long enough to be masked. 0 or -ENOMEM. */
int secret_mask_init(struct secret_mask *mask, struct arena *arena, const struct spec *spec) MUST_USE;

/* From these secrets; one with fewer than SPEC_SECRET_LEAST bytes isn't masked. 0 or -ENOMEM. */
int secret_mask_of(struct secret_mask *mask, struct arena *arena, const struct str *secrets, size_t count) MUST_USE;

/* `text` with a mask for each of them, in the arena; an absent text stays absent. 0 or -ENOMEM. */
int secret_mask_apply(const struct secret_mask *mask, struct arena *arena, struct str text, struct str *ret) MUST_USE;

/* The same for a text that comes in pieces: appends what is certain to `out` and gives how many bytes that took; the rest, which
 * may be the beginning of a secret, the caller offers again with more behind it. With `is_last` there is no rest. *covered, 0 at
 * first, is how far behind the taken bytes a mask reaches that was written already. Errors are those of `out`. */
size_t secret_mask_scan(
	const struct secret_mask *mask, struct str text, bool is_last, size_t *covered, struct buf *out);

#endif
