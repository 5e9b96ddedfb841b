/* main_first.h - what the first start makes in the state folder: the admin token, and the key of run tokens. Part of main.c.
 */
#ifndef ADMITD_DAEMON_MAIN_FIRST_H
#define ADMITD_DAEMON_MAIN_FIRST_H

#include "daemon/store/store.h"

#define MAIN_ADMIN_FILE "admin.token"
#define MAIN_KEY_FILE "run-token.key"
enum { MAIN_KEY_BYTES = 32 };

/* Milliseconds since 1970. */
int64_t main_first_now_ms(void);
/* What store_open answered, and the way out. */
const char *main_first_fault(int result);
/* Issues the first admin token, or, `is_reset`, a new one in place of those that nobody made. 0, or EXIT_FAILURE after a line that says
 * why; 0 as well where there is nothing to do. */
int main_first_token(struct store *store, const char *state, bool is_reset) MUST_USE;
/* Reads the key, or makes it. The same. */
int main_first_key(const char *state, unsigned char ret_key[static MAIN_KEY_BYTES]) MUST_USE;

#endif
