/* secret_filter.h - what a run's child prints, on its way to wherever it is kept (chapter 5.7).
 *
 * A stream of bytes goes in, in pieces of any size, and comes out line by line without a secret in it. First the run's own secrets
 * are masked (secret_mask.h), over the stream, so that one that is split over two reads or two lines is seen. Then each line goes
 * through the redactor (policy/redact.h). A line in which neither finds anything leaves byte by byte as it came, colours, blanks
 * and invalid UTF-8 included; another one in the redactor's form: masked, without control characters, its indent and line end kept.
 *
 * Invariants:
 *   F1 where the stream is cut into pieces makes no difference.
 *   F2 filtering what was filtered changes nothing (unless a secret holds the mask itself).
 *   F3 memory is bounded, and it fails closed: a word of more than SECRET_FILTER_LINE bytes is one mask; a longer line is cut at a
 *      blank. A private key that has begun is masked up to its end, or to the first line that can't be part of one.
 *
 * May use policy only. One thread at a time.
 */
#ifndef ADMITD_AGENTS_SECRET_FILTER_H
#define ADMITD_AGENTS_SECRET_FILTER_H

#include "agents/secret_mask.h"

enum { SECRET_FILTER_LINE = 1024 * 1024 };

struct secret_filter {
	const struct secret_mask *mask;
	struct buf pending; /* came in, and may be the beginning of a secret */
	size_t covered;
	struct buf line;     /* masked, and not a whole line yet */
	struct buf found[2]; /* to work in */
	bool is_in_key;      /* a private key has begun and not ended */
	bool is_in_word;     /* of a word without an end, whose mask was written */
};

/* `mask` outlives the filter. */
void secret_filter_init(struct secret_filter *filter, const struct secret_mask *mask);
void secret_filter_release(struct secret_filter *filter);

/* Takes a piece and appends what is certain by now to `out`. 0, -ENOMEM, or the error of `out`; after an error the filter is used
 * no more. */
int secret_filter_feed(struct secret_filter *filter, struct str piece, struct buf *out) MUST_USE;

/* The stream has ended: appends the rest. The same results; the filter may begin another stream. */
int secret_filter_end(struct secret_filter *filter, struct buf *out) MUST_USE;

#endif
