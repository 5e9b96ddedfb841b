/* fts5_peer.h - for tests: what SQLite's FTS5 says of the texts and questions that bundle_rank.h ranks. Every failure of SQLite ends the test.
 */
#ifndef ADMITD_TESTS_READER_FTS5_PEER_H
#define ADMITD_TESTS_READER_FTS5_PEER_H

#include "reader/bundle_rank.h"

struct fts5_peer;
struct fts5_peer *fts5_peer_new(void);
void fts5_peer_free(struct fts5_peer *peer);

/* Forgets all texts. */
void fts5_peer_clear(struct fts5_peer *peer);
void fts5_peer_add(struct fts5_peer *peer, size_t number, const struct bundle_rank_text *text);
size_t fts5_peer_best(struct fts5_peer *peer, struct str question, size_t limit, struct bundle_rank_hit *ret_hits);
/* What stands in the snippet, before it is put on one line; the body where there is none. */
void fts5_peer_excerpt(
	struct fts5_peer *peer, struct str question, const struct bundle_rank_text *text, struct buf *out);

/* Calls `each` for every word that its tokenizer `porter unicode61` finds: what it is compared as, and where it stands. */
typedef int (*fts5_peer_each)(void *arg, int flags, const char *word, int len, int begin, int end);
void fts5_peer_words(struct fts5_peer *peer, struct str text, fts5_peer_each each, void *arg);

#endif
