/* gate.h - what a request's head must look like before anything is done for it (chapter 4.1).
 *
 * Pure functions on the fields of a head; no library, no sockets. What they refuse as malformed ends the
 * connection, because where one of two readers sees the next request differently, nothing behind may be read.
 */
#ifndef ADMITD_DAEMON_HTTP_GATE_H
#define ADMITD_DAEMON_HTTP_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/http/request.h"

enum { GATE_FIELDS_MAX = HTTP_HEADERS_MAX, GATE_FIELDS_BYTES = 8 * 1024, GATE_TARGET_MAX = 4 * 1024 };

/* How the body comes. */
struct gate_framing {
	bool is_chunked;
	bool has_length;
	uint64_t length;
	bool expects_continue;
};

/* What is wrong with the fields: a literal of ours, or NULL and *ret_framing. Refused are names that are no tokens,
 * control bytes in values, two Host or none, two Content-Length or one that is no number, a length with a
 * Transfer-Encoding, and any Transfer-Encoding but `chunked`.
 */
const char *gate_fields(const struct http_pair *fields, unsigned count, struct gate_framing *ret_framing) MUST_USE;

/* The head as it lies in the library's buffer: every piece a pointer into it. */
struct gate_head {
	const char *method;
	const char *target; /* with its query; cut into pieces by the library later */
	size_t target_len;
	const char *version;
	const struct http_pair *fields; /* bytes in the buffer */
	unsigned fields_count;
	size_t size; /* from the method to the end of the empty line, as the library counted it */
};

/* True if the pieces follow each other as a head of plain lines does, up to its whole size. The library (0.9.75)
 * hides folded headers, NUL bytes and bare line feeds from its callbacks; all of them leave another gap between two
 * pieces than CR LF and a colon do.
 */
bool gate_is_plain(const struct gate_head *head);

/* The names by which clients may call us, each with its port. */
struct gate_hosts;

/* From config.hosts, the address and the bound port. NULL when memory is out. */
struct gate_hosts *gate_hosts_new(
	const char *const *names, size_t count, const char *address, uint16_t port, const char *scheme) MUST_USE;
void gate_hosts_free(struct gate_hosts *hosts);

/* True if a Host header is one of ours, in any case of letters. */
bool gate_host_is_ours(const struct gate_hosts *hosts, struct str host);

/* False if a browser sends the request for a page that is not ours: a foreign or `null` Origin, or an unsafe
 * method with no Origin though a browser's Sec-Fetch-Site says where from. `request` has headers and method, and its
 * Host is ours.
 */
bool gate_origin_is_ours(const struct gate_hosts *hosts, const struct http_request *request);

/* True if exactly one Content-Type came and says application/json, in UTF-8 if it says a charset. */
bool gate_is_json(const struct http_request *request);
bool gate_has_header(const struct http_request *request, const char *name);

/* True for an X-Request-Id we take over: 1 to 64 of A-Z a-z 0-9 . _ - */
bool gate_is_request_id(struct str id);

/* True for a W3C traceparent of version 00. */
bool gate_is_traceparent(struct str text);

#endif
