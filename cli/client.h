/* client.h - the daemon's HTTP API as this program sees it (chapters 4.1 and 4.4).
 *
 * The only file of the room with libcurl. One connection, kept open between calls. No redirects, no proxy, no .netrc,
 * http, https (TLS 1.2 on, the certificate always checked) and the daemon's own socket only, time-outs on everything, answers of at most 64 MiB. The token goes into one header and nowhere
 * else: never into an argument, a message or a log. One thread at a time.
 *
 * Calls repeat themselves as 4.4 says: the same request with the same Idempotency-Key, where the daemon asks for it with
 * Retry-After (409 in_progress and inputs_changed, 429, 500, 503), or where no answer came.
 */
#ifndef ADMITD_CLI_CLIENT_H
#define ADMITD_CLI_CLIENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "policy/arena.h"
#include "policy/check.h"

struct client;

struct client_options {
	const char *
		url; /* http://host:port or https://host:port, without a path, or unix:PATH of a socket, an absolute one */
	const char
		*cacert;   /* the file of certificates that are trusted, in place of the system's; NULL: the system's */
	const char *token; /* NULL: none is sent. Copied and wiped by the client */
	long timeout_ms;   /* for one attempt; connecting has 5 s of its own */
	bool says_why;     /* tells on standard error that a request is repeated */
};

struct client_request {
	const char *method;          /* a literal */
	const char *path;            /* from /v1 on, encoded */
	struct str body;             /* JSON, or absent */
	const char *if_match;        /* an entity tag's inside, or NULL */
	const char *idempotency_key; /* NULL: none is sent */
	/* Of an answer that comes in lines: called for each when it is complete, without its end. The whole time doesn't count then, but the
	 * time without a byte does. NULL: it is awaited as a whole. */
	void (*on_line)(void *arg, struct str line);
	/* Gets the body of an answer of 200 piece by piece, which then is in no reply; false ends the call. As with lines the time without a
	 * byte counts, and it isn't repeated once a piece came. NULL: none. */
	bool (*on_bytes)(void *arg, struct str bytes);
	void *arg;
	const char *accept;         /* NULL: application/json */
	const char *const *headers; /* more lines, ended by NULL; NULL: none */
	bool is_once;               /* never repeated, whatever came of it */
};

/* Of an answer that doesn't end: each line as it comes, without its line feed, and once a second or so a tick. Either may say false: enough. */
struct client_feed {
	bool (*on_line)(void *arg, struct str line);
	bool (*on_tick)(void *arg); /* may call another client, not this one */
	void *arg;
};

struct client_reply {
	long status;
	char *bytes; /* owned; NUL-terminated, never NULL once a call gave 0 */
	size_t len;
	json_t *json;       /* owned; NULL when the body is no JSON */
	char etag[128];     /* inside of its quotes; "" without one */
	long retry_after_s; /* -1 without one */
};

enum client_result {
	CLIENT_UNREACHABLE = 1, /* nothing was sent, as in the next three */
	CLIENT_UNTRUSTED,       /* its certificate */
	CLIENT_NO_TLS,          /* it isn't spoken there, or not one that we speak */
	CLIENT_BAD_CACERT,      /* the file */
	CLIENT_NO_ANSWER,       /* it was sent, and what became of it is unknown */
	CLIENT_TOO_SLOW,        /* the same, after the whole time that one attempt may take: not repeated */
	CLIENT_BAD_URL,
};

/* 0 and *ret_client, owned by the caller; CLIENT_BAD_URL; -ENOMEM. */
int client_open(const struct client_options *options, struct client **ret_client) MUST_USE;
void client_close(struct client *client);

/* One call with its repeats. 0 and *ret_reply, released by client_reply_release(), whatever the status; or a result,
 * or -ENOMEM. */
int client_call(struct client *client, const struct client_request *request, struct client_reply *ret_reply) MUST_USE;
/* One GET without an end, for a client of its own: 0 when it ended or was enough, and *ret_reply, which has a body only when
 * its status isn't 200; or a result as above. A minute without a byte is an end too. Not repeated.
 */
int client_follow(struct client *client, const struct client_request *request, const struct client_feed *feed,
	struct client_reply *ret_reply) MUST_USE;
void client_reply_release(struct client_reply *reply);

/* What went wrong in the last call, for a person; never quotes a token. */
const char *client_error(const struct client *client);

enum { CLIENT_KEY_SIZE = 33 };
/* A fresh key: 128 random bits in hexadecimal. 0 or -errno. */
int client_new_key(char ret_key[static CLIENT_KEY_SIZE]) MUST_USE;

#endif
