/* secret_name.h - names that look as if a secret lay behind them, which context packets leave out (chapter 5.2).
 *
 * Judged by whole words: `api_token.txt` and `dbPassword.json` look secret, `tokenizer.c` and `secretary.md` don't. Words end where letters do,
 * and where a capital begins. Pure; any thread.
 */
#ifndef ADMITD_READER_SECRET_NAME_H
#define ADMITD_READER_SECRET_NAME_H

#include <stdbool.h>

#include "policy/arena.h"

/* One component of a path. */
bool secret_name_is(struct str name);

#endif
