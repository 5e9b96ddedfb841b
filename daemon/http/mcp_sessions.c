#include "daemon/http/mcp_sessions.h"

#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

int mcp_sessions_init(struct mcp_sessions *sessions)
{
	*sessions = (struct mcp_sessions){.lock = PTHREAD_MUTEX_INITIALIZER};
	sessions->entries = calloc(MCP_SESSIONS, sizeof(*sessions->entries));
	return sessions->entries != NULL ? 0 : -ENOMEM;
}

void mcp_sessions_release(struct mcp_sessions *sessions)
{
	free(sessions->entries);
	sessions->entries = NULL;
}

static struct str text_of(const char *text)
{
	return (struct str){text, strlen(text)};
}

/* Under the lock. */
static struct mcp_sessions_entry *find(struct mcp_sessions *sessions, struct str token, struct str id)
{
	for (size_t i = 0; id.bytes != NULL && id.len > 0 && i < MCP_SESSIONS; i++) {
		struct mcp_sessions_entry *entry = &sessions->entries[i];

		if (str_equal(text_of(entry->id), id) && str_equal(text_of(entry->token), token))
			return entry;
	}
	return NULL;
}

static struct mcp_sessions_entry *find_oldest(struct mcp_sessions *sessions)
{
	struct mcp_sessions_entry *oldest = &sessions->entries[0];

	for (size_t i = 1; i < MCP_SESSIONS && oldest->id[0] != '\0'; i++) {
		struct mcp_sessions_entry *entry = &sessions->entries[i];

		if (entry->id[0] == '\0' || entry->used < oldest->used)
			oldest = entry;
	}
	return oldest;
}

/* An absent token, of a server without authentication, is the empty text. */
static struct str owner_of(struct str token)
{
	return token.bytes != NULL ? token : STR("");
}

void mcp_sessions_open(struct mcp_sessions *sessions, struct str token, char ret_id[static MCP_SESSION_ID_SIZE])
{
	const struct str owner = owner_of(token);
	unsigned char random[MCP_SESSION_ID_SIZE / 2];
	struct mcp_sessions_entry *entry;

	CHECK(owner.len < MCP_SESSION_TOKEN_SIZE);
	randombytes_buf(random, sizeof(random));
	(void)sodium_bin2hex(ret_id, MCP_SESSION_ID_SIZE, random, sizeof(random));
	(void)pthread_mutex_lock(&sessions->lock);
	entry = find_oldest(sessions);
	memcpy(entry->id, ret_id, MCP_SESSION_ID_SIZE);
	memcpy(entry->token, owner.bytes, owner.len);
	entry->token[owner.len] = '\0';
	entry->used = ++sessions->uses;
	(void)pthread_mutex_unlock(&sessions->lock);
}

bool mcp_sessions_has(struct mcp_sessions *sessions, struct str token, struct str id)
{
	struct mcp_sessions_entry *entry;

	(void)pthread_mutex_lock(&sessions->lock);
	entry = find(sessions, owner_of(token), id);
	if (entry != NULL)
		entry->used = ++sessions->uses;
	(void)pthread_mutex_unlock(&sessions->lock);
	return entry != NULL;
}

bool mcp_sessions_end(struct mcp_sessions *sessions, struct str token, struct str id)
{
	struct mcp_sessions_entry *entry;

	(void)pthread_mutex_lock(&sessions->lock);
	entry = find(sessions, owner_of(token), id);
	if (entry != NULL)
		entry->id[0] = '\0';
	(void)pthread_mutex_unlock(&sessions->lock);
	return entry != NULL;
}
