/* spec.h - how a tool server is reached: the strict door, and the forms a spec is kept, shown and sent in (chapters 5.6, 5.7).
 *
 * A spec comes from outside as JSON. The strict door (spec_read) takes all of it or nothing and tells every fault with its
 * pointer. Values of the environment and of headers are secret for showing: only whether they are set is ever shown. Those that are
 * credentials (named by `secretKeys`, or known to the redactor as secrets) are never kept in clear either: the kept form leaves
 * them out, and they are sealed beside it (seal.h).
 *
 * Everything lives in the arena or borrows from what was read. May use policy only. Any thread.
 */
#ifndef ADMITD_AGENTS_SPEC_H
#define ADMITD_AGENTS_SPEC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "policy/arena.h"
#include "policy/json_out.h"

enum {
	SPEC_SERVERS_LIMIT = 64, /* a project's */
	SPEC_BYTES_LIMIT = 1024 * 1024,
	SPEC_ID_LIMIT = 64,
	SPEC_ARGS_LIMIT = 256,
	SPEC_VALUES_LIMIT = 256, /* of the environment, or headers */
	SPEC_TOOLS_LIMIT = 256,
	SPEC_TOOL_NAME_LIMIT = 128,
	SPEC_TEXT_LIMIT = 32 * 1024, /* bytes of one argument or value */
	SPEC_PATH_LIMIT = 4096,      /* of the command, and of a URL */
	SPEC_SECRET_LEAST = 6,       /* a shorter credential can't be kept out of texts */
	SPEC_FAULTS_LIMIT = 100,
};

enum spec_transport { SPEC_NONE = 0, SPEC_STDIO, SPEC_HTTP };

/* One variable of the environment, or one header. */
struct spec_value {
	struct str name;
	struct str value; /* absent: not set */
	bool is_credential;
	bool is_sealed; /* a credential that was read from the kept form, whose value lies in the seal */
};

struct spec {
	struct str id;
	enum spec_transport transport;
	struct str command; /* stdio */
	const struct str *args;
	size_t arg_count;
	struct str url; /* http */
	struct spec_value *values;
	size_t value_count;
	bool narrows_tools; /* allowedTools was given */
	const struct str *allowed_tools;
	size_t allowed_tool_count;
	const struct str *secret_keys;
	size_t secret_key_count;
};

struct spec_fault {
	struct str pointer; /* RFC 6901, from the spec */
	struct str text;
};

struct spec_faults {
	struct arena *arena;
	struct spec_fault *items;
	size_t count;
	bool failed; /* memory ran out */
};

enum spec_result { SPEC_REFUSED = 1 };

/* `[a-z0-9][a-z0-9_-]{0,63}` over its exact bytes, without "__". */
bool spec_id_is_valid(struct str id);
/* 1 to 128 of `[A-Za-z0-9._-]`, the first a letter or digit. */
bool spec_tool_name_is_valid(struct str name);
/* Of the environment; and of a header, a token of RFC 9110. */
bool spec_variable_name_is_valid(struct str name);
bool spec_header_name_is_valid(struct str name);

/* A member's name as a step of a pointer, in the arena or a literal. One that may be a secret in the wrong place isn't repeated. */
const char *spec_pointer_step(struct arena *arena, struct str name);

/* Why an entry of a foreign file that has neither command nor url is no spec, a literal. A container, which other files know as a third
 * kind of server, is named. */
const char *spec_unreachable_words(const json_t *entry);

/* The strict door. `id` is what the address names: one in the spec must be the same. 0 and *ret; SPEC_REFUSED with every fault in
 * *faults (whose arena the caller sets); or -ENOMEM. */
int spec_read(struct str id, const json_t *value, struct spec_faults *faults, struct spec *ret) MUST_USE;

bool spec_has_credentials(const struct spec *spec);
/* A credential that isn't set, the first; absent: none. */
struct str spec_missing_credential(const struct spec *spec);

/* The kept form: everything but values of credentials. */
void spec_write_kept(const struct spec *spec, struct str sealed, struct json_out *out);
/* Reads what spec_write_kept() wrote; credentials are not set yet, and *ret_sealed is absent where there are none. 0, -EUCLEAN for
 * anything else, -ENOMEM. */
int spec_read_kept(struct arena *arena, struct str json, struct spec *ret, struct str *ret_sealed) MUST_USE;

/* The values of credentials, one object, which is what is sealed; and back into their places. 0, -EUCLEAN, -ENOMEM. */
void spec_write_credentials(const struct spec *spec, struct json_out *out);
int spec_read_credentials(struct arena *arena, struct str json, struct spec *spec) MUST_USE;

/* What anybody may see: of values only whether they are set. */
void spec_write_shown(const struct spec *spec, struct json_out *out);

/* Everything, for the prober alone; and back. 0, -EUCLEAN, -ENOMEM. */
void spec_write_whole(const struct spec *spec, struct json_out *out);
int spec_read_whole(struct arena *arena, const json_t *value, struct spec *ret) MUST_USE;

#endif
