/* prober_client.h - the daemon's end of its prober (chapter 3.2 "Processes").
 *
 * The launcher was started before the daemon gave its rights up, and holds the other end of a control socket. Through it this module
 * has workers started, one at a time; one that dies is followed by another after a while that doubles. Questions are asked all at
 * once and answered within their time: a server that nobody could ask is unknown, which fails closed.
 *
 * Never called inside a transaction. May use agents and policy. prober_client_ask() and prober_client_deliver() from any thread.
 */
#ifndef ADMITD_DAEMON_HEALTH_PROBER_CLIENT_H
#define ADMITD_DAEMON_HEALTH_PROBER_CLIENT_H

#include "agents/probe_message.h"

/* Chapter 2.3: 3 s each; and what the way there and back may take beside it. */
enum { PROBER_TIMEOUT_MS = 3000, PROBER_SLACK_MS = 500, PROBER_ERROR_SIZE = 4 * PROBE_ERROR_LIMIT + 1 };

struct prober_client;

enum prober_change {
	PROBER_LOST = 0, /* launcher and deputy are gone, and nobody is left who could start a worker */
	PROBER_ENDED,    /* a worker; another one follows */
	PROBER_READY,
};

struct prober_config {
	int control;                                             /* of the launcher; the client's from now on */
	struct probe_hello hello;                                /* copied */
	void (*on_change)(void *arg, enum prober_change change); /* for the log; may be NULL */
	void *arg;
};

/* 0 and *ret, owned by the caller; -errno, and `control` is closed. */
int prober_client_new(const struct prober_config *config, struct prober_client **ret) MUST_USE;
/* Open questions are answered as unknown, and later ones too: before what may be asking is stopped. NULL is fine. */
void prober_client_interrupt(struct prober_client *client);
/* Ends the workers and the launcher. No questions may be open. NULL is fine. */
void prober_client_free(struct prober_client *client);

struct prober_question {
	const struct spec *spec; /* whole */

	enum health_install_state install_state; /* out */
	enum health_status status;
	char error[PROBER_ERROR_SIZE]; /* redacted; "": none */
};

/* Asks them all and waits. Always fills every answer. `client` NULL: there is no prober, and all are unknown. */
void prober_client_ask(struct prober_client *client, struct prober_question *questions, size_t count);

/* One webhook on its way. */
enum { PROBER_DELIVERY_MS = 5000 };

struct prober_delivery {
	struct str url;
	const struct str *headers; /* whole lines */
	size_t header_count;
	struct str body;

	int status;                    /* out; of HTTP; 0: there was no answer */
	char error[PROBER_ERROR_SIZE]; /* why there was none */
};

/* Has it posted and waits, at most PROBER_DELIVERY_MS twice and PROBER_SLACK_MS. Always fills the answer. `client` NULL: there is no prober. */
void prober_client_deliver(struct prober_client *client, struct prober_delivery *delivery);

struct prober_state {
	bool is_running;
	bool has_landlock; /* in force, when it runs */
	bool has_seccomp;
};

void prober_client_state(struct prober_client *client, struct prober_state *ret);

#endif
