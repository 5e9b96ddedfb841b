/* probe_message.h - what the daemon and its prober say to each other (chapter 3.2 "Processes").
 *
 * A stream of frames in both directions: four bytes of length, most significant first, and that many bytes of one JSON object
 * whose `type` says what it is. The daemon says hello once, then asks; the prober says ready once, then answers, in any order.
 * A type that the other side doesn't know ends the connection: both come from one build.
 *
 * The whole spec goes to the prober, credentials with it: the stream is a socket pair that nobody else has. May use policy
 * only: no descriptor is read or written here. Any thread.
 */
#ifndef ADMITD_AGENTS_PROBE_MESSAGE_H
#define ADMITD_AGENTS_PROBE_MESSAGE_H

#include <stdint.h>

#include "agents/spec.h"
#include "policy/health_row.h"

enum { PROBE_FRAME_LIMIT = 8 * 1024 * 1024, PROBE_HEAD_SIZE = 4, PROBE_ERROR_LIMIT = 240 };

enum probe_type {
	PROBE_NONE = 0,
	PROBE_HELLO, /* daemon: what is allowed */
	PROBE_READY, /* prober: what it gave up */
	PROBE_CHECK, /* daemon: is this server well? */
	PROBE_CHECKED,
	PROBE_DELIVER, /* daemon: post this there */
	PROBE_DELIVERED,
	PROBE_TYPES,
};

struct probe_hello {
	const struct str *commands; /* absolute paths that may be run; none: no stdio server is */
	size_t command_count;
	bool allow_private;       /* addresses that only mean something in a private network */
	const struct str *hidden; /* paths that the prober and what it runs must not open */
	size_t hidden_count;
};

struct probe_ready {
	bool has_landlock;
	bool has_seccomp;
};

struct probe_check {
	int64_t id;
	int64_t timeout_ms;
	struct spec spec;
};

struct probe_checked {
	int64_t id;
	enum health_install_state install_state;
	enum health_status status;
	struct str error; /* redacted; absent: none */
};

struct probe_deliver {
	int64_t id;
	int64_t timeout_ms;
	struct str url;
	const struct str *headers; /* whole lines, "Name: value" */
	size_t header_count;
	struct str body;
};

struct probe_delivered {
	int64_t id;
	int64_t status;   /* of HTTP; 0: there was no answer */
	struct str error; /* words of ours; absent: none */
};

struct probe_message {
	enum probe_type type;
	union {
		struct probe_hello hello;
		struct probe_ready ready;
		struct probe_check check;
		struct probe_checked checked;
		struct probe_deliver deliver;
		struct probe_delivered delivered;
	};
};

enum probe_result { PROBE_MORE = 1 /* the frame isn't whole yet */ };

/* Appends a frame to `buf`, whose error tells of a failure. */
void probe_message_write(const struct probe_message *message, struct buf *buf);

/* The first frame of some bytes. 0 with its body, and in *ret_used how many bytes it took; PROBE_MORE; -EMSGSIZE. */
int probe_frame_find(const char *bytes, size_t len, struct str *ret_body, size_t *ret_used) MUST_USE;

/* A frame's body. 0, -EUCLEAN, -ENOMEM. */
int probe_message_read(struct arena *arena, struct str body, struct probe_message *ret) MUST_USE;

#endif
