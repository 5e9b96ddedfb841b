/* words_queue.h - what an item of the recovery queue says to people, and by what it is sorted out (chapters 2.6, 7.2). Pure, any thread. */
#ifndef ADMITD_POLICY_WORDS_QUEUE_H
#define ADMITD_POLICY_WORDS_QUEUE_H

#include "policy/words.h"

/* Writes the members `tag` and `words` {sign, tone, headline} of an item. `kind` is 2.6's word; `state` that of a held package and its like,
 * whose words it has then; NULL: it has none, and the words are the kind's.
 */
void words_queue_write(const char *kind, enum operator_key key, const struct words *state, struct json_out *out);

/* Every tag in the order of the queue's filters: [{id, label}]. */
void words_queue_write_tags(struct json_out *out);

#endif
