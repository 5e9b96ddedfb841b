/* import.h - what somebody's client is configured with, as tool servers that could be ours, and what a person should know of them
 * before (chapters 5.6, 5.7).
 *
 * Reads `.mcp.json`, `settings.json` and `config.toml` and changes nothing. Shapes that are read: {"mcpServers": {…}}, {"mcp_servers":
 * {…}}, and one member a server; metadata beside them ($schema, description, settings) is none. Each entry becomes a spec that the strict
 * door (spec.h) took, or is refused with every reason; one bad entry never hides a good one.
 *
 * Values of variables and headers never leave the spec's body. A value that the client would fill in from its own environment
 * (${NAME}) is not carried over: it becomes a credential that isn't set. What else isn't plain is proposed as a credential. Texts for
 * people hold names and places, through the redactor.
 *
 * Everything lives in the arena, or as long as what import_release() gives back. May use policy only. One thread at a time.
 */
#ifndef ADMITD_AGENTS_IMPORT_H
#define ADMITD_AGENTS_IMPORT_H

#include "agents/spec.h"

enum {
	IMPORT_BYTES_LIMIT = 4 * 1024 * 1024,
	IMPORT_SERVERS_LIMIT = 256,
	IMPORT_LINES_LIMIT = 64,
	IMPORT_FAULT_SIZE = 256
};

enum import_format { IMPORT_JSON = 0, IMPORT_TOML };

enum import_result { IMPORT_REFUSED = 1 };

enum import_kind {
	IMPORT_FAULT = 0, /* why an entry is refused */
	IMPORT_RISK,      /* what it could do that its name doesn't say */
	IMPORT_NOTE,      /* what isn't carried over, or is called otherwise */
};

struct import_line {
	enum import_kind kind;
	struct str text;
};

struct import_server {
	struct str name; /* as it stands in the file, redacted */
	struct str id;
	bool is_refused;
	bool is_off;      /* switched off there */
	struct spec spec; /* unless refused */
	struct str body;  /* the same as JSON, with its values: for the daemon and nobody else */
	struct str runs;  /* its command line or address, redacted */
	struct import_line lines[IMPORT_LINES_LIMIT];
	size_t line_count;
};

struct import {
	struct arena *arena;
	const char *folder; /* of the file, absolute: what stands in it is the project's own */
	struct import_server *servers;
	size_t count;
	json_t *kept;                  /* what the specs borrow from */
	char fault[IMPORT_FAULT_SIZE]; /* of the whole file */
};

/* Reads `text`. Arena and folder are set in *import, the rest is zero. 0, also with no server; IMPORT_REFUSED and import->fault; -ENOMEM.
 * import_release() is due in each case. */
int import_read(struct import *import, struct str text, enum import_format format) MUST_USE;
void import_release(struct import *import);

#endif
