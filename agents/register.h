/* register.h - declares our own tool server in somebody's project, by consent, and takes that back (chapter 5.8).
 *
 * Two files of a project say that a client starts our server and calls its tools without asking each time: `.mcp.json` has the entry
 * `mcpServers.admitd`, `.claude/settings.json` names it in `enabledMcpjsonServers` and each tool in `permissions.allow`. Everything else
 * in them is somebody else's and stays byte for byte. `settings.local.json` is nobody's business here.
 *
 * A job judges first, whatever it is for: root, `.claude`, `.mcp.json`, `settings.json`, then an entry that differs. What it would do is
 * then known and shown; register_apply() does it, `.mcp.json` first. A device, FIFO or socket at `.mcp.json` masks it: nothing is
 * written, and what there is to merge is handed over.
 *
 * No link is followed, and what isn't a regular file is never opened. Faults name files and places, never their text. May use policy
 * only. One thread at a time; other processes are reckoned with.
 */
#ifndef ADMITD_AGENTS_REGISTER_H
#define ADMITD_AGENTS_REGISTER_H

#include "agents/json_edit.h"
#include "agents/project_file.h"

#define REGISTER_NAME "admitd"

enum { REGISTER_GAINS_LIMIT = 64, REGISTER_TEXT_SIZE = 256 };

enum register_purpose { REGISTER_ADD = 0, REGISTER_REMOVE };

/* Why nothing was done. */
enum register_code {
	REGISTER_FAILED = 0, /* the system refused; `text` says what */
	REGISTER_ROOT,       /* the root is no folder, or a link */
	REGISTER_CLASS,      /* a link, or no regular file, where one must be */
	REGISTER_MALFORMED,  /* not JSON, or a member that we keep has another type */
	REGISTER_DIFFERS,    /* there is an entry of our name that isn't ours */
	REGISTER_CHANGED,    /* somebody wrote in the meantime */
};

struct register_fault {
	enum register_code code;
	const char *file; /* ".mcp.json"; NULL: the root */
	char text[REGISTER_TEXT_SIZE];
};

/* One of the two files: as it is and as it shall be. */
struct register_file {
	const char *path; /* from the root */
	struct project_file now;
	struct str after; /* absent: it stays as it is */
	bool is_deleted;  /* instead */
	/* What it gains or loses, as "enabledMcpjsonServers: admitd". */
	struct str changes[REGISTER_GAINS_LIMIT];
	size_t change_count;
};

struct register_job {
	struct arena *arena;
	enum register_purpose purpose;
	struct str entry; /* compact JSON */
	const char *const *tools;
	size_t tool_count;
	int root;   /* descriptors; -1: not open */
	int claude; /* -1 also where there is none */
	struct register_file mcp;
	struct register_file settings;
	bool is_masked;
	bool is_disabled; /* disabledMcpjsonServers names us, which a client heeds */
	bool is_entered;  /* the entry is there */
	struct register_fault fault;
};

enum register_result { REGISTER_REFUSED = 1 };

/* The entry for a command and its arguments, compact, in the arena; absent bytes: no memory. */
struct str register_entry(struct arena *arena, struct str command, const char *const *args, size_t count);

/* Judges. `root` is a path; entry, tools and purpose are set in *job, the rest is zero. 0; REGISTER_REFUSED and job->fault; -ENOMEM.
 * register_close() is due in each case. */
int register_open(struct register_job *job, const char *root) MUST_USE;
void register_close(struct register_job *job);

/* Whether there is nothing to do. */
bool register_is_done(const struct register_job *job);

/* Does it; what is done already when something fails stays, and the next time completes it. 0; REGISTER_REFUSED and job->fault;
 * -ENOMEM. Not for a masked job. */
int register_apply(struct register_job *job) MUST_USE;

/* The word of a code, for programs: "differs". */
const char *register_code_name(enum register_code code);

#endif
