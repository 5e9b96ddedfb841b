/* json_in.h - reading JSON that a stranger wrote (chapter 4.1, "Input").
 *
 * Two steps. json_in_parse() takes bytes and accepts only strict JSON: UTF-8, no duplicate keys at any depth,
 * no NUL, no lone surrogate, depth up to 64, integers of 64 bits, finite numbers, nothing behind the value.
 * What it refuses is a 400 `invalid_json` with the byte offset. Neither jansson's text, which quotes the
 * input, nor any byte of the input goes into the fault: a broken body may hold a secret anywhere.
 *
 * Then a handler reads members with the typed getters. They never stop at the first fault: each is noted with
 * its JSON pointer, and the caller asks json_in_ok() once at the end, answering http_reply_faults() (422) if
 * it is false. A getter that noted a fault gives the value of an absent member. Members nobody asked for are
 * faults as well (json_in_end), since a typo must not pass silently.
 *
 *	struct json_in in;
 *	struct json_place body;
 *	json_in_init(&in, &request->arena);
 *	json_in_root(&in, request->json, &body);
 *	int64_t revision = json_in_revision(&body, "planRevision", JSON_REQUIRED);
 *	struct str reason = json_in_str(&body, "reason", JSON_OPTIONAL, 2000);
 *	json_in_end(&body);
 *	if (!json_in_ok(&in))
 *		http_reply_faults(reply, request, &in);
 *
 * Everything lives in the arena or the JSON value. One thread at a time.
 */
#ifndef ADMITD_DAEMON_HTTP_JSON_IN_H
#define ADMITD_DAEMON_HTTP_JSON_IN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/arena.h"
#include "policy/check.h"

enum {
	JSON_IN_DEPTH = 64,
	JSON_IN_VALUES = 256 * 1024, /* a document of 4 MiB must not become 100 MiB of values */
	JSON_IN_FAULTS = 100,        /* more of them help nobody */
	JSON_IN_KEYS = 32,           /* members a shape may have */
};

/* Why bytes are not the JSON we take. */
struct json_in_error {
	size_t offset;      /* of the first byte that is wrong */
	const char *detail; /* a literal of ours */
	struct str pointer; /* to the value or the duplicate, if all its steps are names of the API; else absent */
};

enum json_in_result { JSON_IN_REFUSED = 1 };

/* Parses exactly `len` bytes. 0 and *ret, owned by the caller; JSON_IN_REFUSED and *ret_error (whose pointer
 * lives in `arena`); or -ENOMEM.
 */
int json_in_parse(
	struct arena *arena, const char *bytes, size_t len, json_t **ret, struct json_in_error *ret_error) MUST_USE;

/* One fault of a well-formed document. */
struct json_in_fault {
	struct str pointer; /* RFC 6901; "" is the whole document */
	struct str detail;
};

/* The collection. */
struct json_in {
	struct arena *arena;
	struct json_in_fault *faults;
	size_t count;
	bool out_of_memory; /* then json_in_ok() is false even if count is 0: answer 500 */
};

/* A value within the document, on the reader's stack; it must not move while places below it are used. */
struct json_place {
	struct json_in *in;
	const json_t *value; /* borrowed; NULL: absent, and everything read from it is absent without a fault */
	const struct json_place *parent;
	struct str key; /* in the parent, if that is an object */
	size_t index;   /* … if it is an array */
	bool no_body;   /* the root of no body at all: what is required is missed */
	const char *asked[JSON_IN_KEYS];
	unsigned asked_count;
};

enum json_rule { JSON_OPTIONAL = 0, JSON_REQUIRED = 1, JSON_NULLABLE = 2 /* null is the same as absent */ };

void json_in_init(struct json_in *in, struct arena *arena);
bool json_in_ok(const struct json_in *in) MUST_USE;

/* The document; a fault if it is not an object. NULL (no body) reads as an empty object. */
void json_in_root(struct json_in *in, const json_t *value, struct json_place *ret);

/* Text of up to `max_chars` code points; absent if it was not given. With JSON_REQUIRED it must not be "". */
struct str json_in_str(struct json_place *object, const char *key, unsigned rule, size_t max_chars);

/* Text that must be one of `words` (ended by NULL): 1 for the first of them …; 0 if absent. */
unsigned json_in_enum(struct json_place *object, const char *key, unsigned rule, const char *const *words);

/* An integer (1.0 is none) from `min` to `max`; `absent` if it was not given. */
int64_t json_in_int(
	struct json_place *object, const char *key, unsigned rule, int64_t min, int64_t max, int64_t absent);

bool json_in_bool(struct json_place *object, const char *key, unsigned rule, bool absent);

/* A revision: a decimal string as we write it, "0" or without leading zeros; -1 if absent. */
int64_t json_in_revision(struct json_place *object, const char *key, unsigned rule);

/* An RFC 3339 time, as milliseconds since 1970; INT64_MIN if absent. Finer fractions are cut. */
int64_t json_in_time_ms(struct json_place *object, const char *key, unsigned rule);

/* The same for text from elsewhere: false if it is no RFC 3339 time of the years 1970 to 9999. */
bool json_in_time_parse(struct str text, int64_t *ret_ms);

/* Any value as it stands, borrowed; NULL if absent. */
const json_t *json_in_any(struct json_place *object, const char *key, unsigned rule);

/* An object or array within; false if absent or faulty, and then *ret reads as absent. */
bool json_in_object(struct json_place *object, const char *key, unsigned rule, struct json_place *ret);
bool json_in_array(struct json_place *object, const char *key, unsigned rule, size_t max_items, struct json_place *ret);

/* Items of an array: its size, 0 if absent; then one by one. */
size_t json_in_size(const struct json_place *array);
bool json_in_item_object(struct json_place *array, size_t index, struct json_place *ret);
struct str json_in_item_str(struct json_place *array, size_t index, size_t max_chars);

/* An array of texts, each of up to `max_chars`: how many, with *ret in the arena (NULL if absent). Use it where a
 * list that is absent differs from an empty one by *ret.
 */
size_t json_in_strs(struct json_place *object, const char *key, unsigned rule, size_t max_items, size_t max_chars,
	const struct str **ret);

/* Members of an object that serves as a map, in the document's order: NULL first, then what it returned
 * before. NULL at the end. The value is read with json_in_member_….
 */
void *json_in_next(const struct json_place *map, void *iterator, struct str *ret_key);
struct str json_in_member_str(struct json_place *map, void *iterator, size_t max_chars);
bool json_in_member_object(struct json_place *map, void *iterator, struct json_place *ret);

/* Notes every member that no getter asked for. Not for maps. */
void json_in_end(struct json_place *object);

/* A fault of the caller's own, at `place` or, if `key` is not NULL, at its member. `detail` is a literal. */
void json_in_fault(const struct json_place *place, const char *key, const char *detail);

#endif
