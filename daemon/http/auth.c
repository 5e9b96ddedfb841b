#include "daemon/http/auth.h"

#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SECRET_MAX = 256, BUDGET_SLOTS = 1024 };

static const char *const role_names[AUTH_ROLES] = {
	"planner",
	"approver",
	"executor",
	"operator",
	"auditor",
	"admin",
};

const char *auth_role_name(unsigned role)
{
	for (unsigned i = 0; i < AUTH_ROLES; i++) {
		if (role == 1u << i)
			return role_names[i];
	}
	check_failed("a single role", __FILE__, __LINE__);
}

unsigned auth_role_find(struct str name)
{
	for (unsigned i = 0; i < AUTH_ROLES; i++) {
		if (str_is(name, role_names[i]))
			return 1u << i;
	}
	return 0;
}

void auth_hash(struct str secret, unsigned char ret_hash[AUTH_HASH_SIZE])
{
	(void)crypto_generichash(ret_hash, AUTH_HASH_SIZE, (const unsigned char *)secret.bytes, secret.len, NULL, 0);
}

static bool is_token68(char byte)
{
	return (byte >= '0' && byte <= '9') || ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') ||
		(byte != '\0' && strchr("-._~+/=", byte) != NULL);
}

bool auth_bearer(struct str header, struct str *ret_secret)
{
	size_t at = 6;

	if (!header.bytes || header.len < 8 || strncasecmp(header.bytes, "Bearer", 6) != 0 || header.bytes[6] != ' ')
		return false;
	while (at < header.len && header.bytes[at] == ' ')
		at++;
	if (at == header.len || header.len - at > SECRET_MAX)
		return false;
	for (size_t i = at; i < header.len; i++) {
		if (!is_token68(header.bytes[i]))
			return false;
	}
	*ret_secret = (struct str){header.bytes + at, header.len - at};
	return true;
}

bool auth_has_role(const struct auth_token *token, unsigned mask)
{
	if (token->run.bytes)
		return false;
	return mask == 0 || (token->roles & (mask | AUTH_ADMIN)) != 0;
}

bool auth_has_project(const struct auth_token *token, struct str project)
{
	if (token->all_projects)
		return true;
	for (size_t i = 0; i < token->projects_count; i++) {
		if (str_equal(token->projects[i], project))
			return true;
	}
	return false;
}

/* ---- the budget: a table of counters by a keyed hash of the address. Two addresses may share a slot; then
 * they share a budget, which costs a stranger's neighbour nothing but the difference between 401 and 429.
 */

struct slot {
	uint64_t window_end_ms;
	unsigned failures;
};

struct auth_budget {
	pthread_mutex_t lock;
	unsigned failures;
	uint64_t window_ms;
	unsigned char key[crypto_shorthash_KEYBYTES]; /* so that nobody chooses whom he shares a slot with */
	struct slot slots[BUDGET_SLOTS];
};

struct auth_budget *auth_budget_new(unsigned failures, uint64_t window_ms)
{
	struct auth_budget *budget = calloc(1, sizeof(*budget));

	if (!budget)
		return NULL;
	(void)pthread_mutex_init(&budget->lock, NULL);
	budget->failures = failures;
	budget->window_ms = window_ms;
	randombytes_buf(budget->key, sizeof(budget->key));
	return budget;
}

void auth_budget_free(struct auth_budget *budget)
{
	if (!budget)
		return;
	(void)pthread_mutex_destroy(&budget->lock);
	free(budget);
}

bool auth_budget_spend(struct auth_budget *budget, struct str address, uint64_t now_ms, uint64_t *ret_wait_ms)
{
	unsigned char hash[crypto_shorthash_BYTES];
	struct slot *slot;
	bool is_within;

	(void)crypto_shorthash(hash, (const unsigned char *)address.bytes, address.len, budget->key);
	slot = &budget->slots[(hash[0] | (unsigned)hash[1] << 8) % BUDGET_SLOTS];
	(void)pthread_mutex_lock(&budget->lock);
	if (now_ms >= slot->window_end_ms)
		*slot = (struct slot){.window_end_ms = now_ms + budget->window_ms};
	is_within = slot->failures < budget->failures;
	if (is_within)
		slot->failures++;
	*ret_wait_ms = slot->window_end_ms - now_ms;
	(void)pthread_mutex_unlock(&budget->lock);
	return is_within;
}
