#include "daemon/main_first.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/http/token_issue.h"
#include "daemon/log.h"
#include "daemon/secret_file.h"

enum { WORK_BYTES = 16 * 1024 * 1024 };

const char *main_first_fault(int result)
{
	switch (result) {
	case STORE_OPEN_ELSEWHERE:
		return "another admitd has it open; stop that one, or give another --state";
	case STORE_NEWER:
		return "it was written by a newer admitd; start that one, or restore a backup of before";
	case STORE_FOREIGN:
		return "its database belongs to another program; give another --state";
	case STORE_NOT_A_DATABASE:
		return "its database is damaged, or is none; restore a backup, or give another --state";
	case STORE_MIGRATION_DIFFERS:
		return "it was made by another build of admitd whose schema differs; start that one";
	default:
		return result < 0 ? strerrordesc_np(-result) : "it can't be opened";
	}
}

int64_t main_first_now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct issuing {
	const char *secret;
	int64_t now;
	bool is_reset; /* what nobody made before is revoked */
	bool is_first; /* out */
};

static int run_look(struct store_tx *tx, void *arg)
{
	struct issuing *issuing = arg;

	return token_issue_is_first(tx, &issuing->is_first);
}

static int run_issue(struct store_tx *tx, void *arg)
{
	const struct issuing *issuing = arg;
	struct store_token row = {.principal = STR("admin"), .roles = AUTH_ADMIN, .created_at = issuing->now};
	int r = issuing->is_reset ? token_issue_revoke_own(tx, issuing->now) : 0;

	return r != 0 ? r : token_issue(tx, &row, issuing->secret);
}

/* The file first: a token that nobody could read would lock everybody out. */
static int issue_admin(struct store *store, const char *state, struct arena *arena, bool is_reset)
{
	char line[TOKEN_SECRET_SIZE + 1];
	char secret[TOKEN_SECRET_SIZE];
	struct issuing issuing = {.secret = secret, .now = main_first_now_ms(), .is_reset = is_reset};
	int r = 0;

	token_issue_secret(secret);
	(void)snprintf(line, sizeof(line), "%s\n", secret);
	r = secret_file_write(state, MAIN_ADMIN_FILE, line, strlen(line), true);
	if (r == 0) {
		r = store_call(store, arena, run_issue, &issuing);
		if (r != 0)
			secret_file_remove(state, MAIN_ADMIN_FILE);
	}
	sodium_memzero(line, sizeof(line));
	sodium_memzero(secret, sizeof(secret));
	if (r != 0)
		log_line(LOG_LINE_ERROR, "token", "no admin token could be made in %s: %s", state, main_first_fault(r));
	else
		log_line(LOG_LINE_INFO, "token", "the %sadmin token is in %s/%s", is_reset ? "new " : "", state,
			MAIN_ADMIN_FILE);
	return r != 0 ? EXIT_FAILURE : 0;
}

int main_first_token(struct store *store, const char *state, bool is_reset)
{
	struct issuing issuing = {0};
	struct arena arena;
	int r = 0;

	arena_init(&arena, WORK_BYTES);
	if (!is_reset) {
		r = store_read(store, &arena, run_look, &issuing);
		if (r != 0)
			log_line(LOG_LINE_ERROR, "store", "the tokens can't be read: %s", main_first_fault(r));
	}
	if (r == 0 && (is_reset || issuing.is_first))
		r = issue_admin(store, state, &arena, is_reset);
	arena_release(&arena);
	return r != 0 ? EXIT_FAILURE : 0;
}

int main_first_key(const char *state, unsigned char ret_key[static MAIN_KEY_BYTES])
{
	int r = secret_file_read(state, MAIN_KEY_FILE, ret_key, MAIN_KEY_BYTES);

	if (r == SECRET_FILE_ABSENT) {
		randombytes_buf(ret_key, MAIN_KEY_BYTES);
		r = secret_file_write(state, MAIN_KEY_FILE, ret_key, MAIN_KEY_BYTES, false);
	}
	if (r == 0)
		return 0;
	log_line(LOG_LINE_ERROR, "key", "%s/%s: %s", state, MAIN_KEY_FILE,
		r == SECRET_FILE_OPEN_TO_OTHERS
			? "others can read it; chmod 600 it, or remove it and have a new one made"
			: r == SECRET_FILE_DAMAGED
			? "it is damaged; remove it and have a new one made (run tokens that were given out go on)"
			: strerrordesc_np(-r));
	return EXIT_FAILURE;
}
