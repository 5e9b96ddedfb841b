/* materialize.h - what a run's agent is given, from asking for it to taking it away again (chapter 5.7).
 *
 * A plan says what is written: under a run's decision what the daemon's agent-config route admits, without one (ungoverned) whatever
 * servers the body brings. It is written into a folder of the run (agents/run_folder.h), whose note, admission.json, says what lies
 * there, why, and for whom; checking and removing go by that note alone. One thread.
 */
#ifndef ADMITD_CLI_MATERIALIZE_H
#define ADMITD_CLI_MATERIALIZE_H

#include "agents/agent_config.h"
#include "agents/job.h"
#include "agents/run_folder.h"
#include "cli/cli.h"
#include "cli/secrets.h"

/* Where resources go in a checkout, and what keeps them out of its commits. */
#define MATERIALIZE_CONTEXT ".admitd-context"

enum { MATERIALIZE_FILES_MOST = 32768, MATERIALIZE_WITHHELD_MOST = 1024, MATERIALIZE_PID_MOST = 4194304 };

struct materialize_withheld {
	const char *kind; /* "server", "requirement", "skill" */
	struct str name;
	struct str reason; /* a word */
	struct str detail; /* for people; absent: none */
};

/* One file that was written, for the note. */
struct materialize_file {
	const char *place; /* "folder", "home", "checkout" */
	const char *path;  /* below it */
	char digest[65];
};

struct materialize {
	struct cli *cli;
	enum agent_kind agent;
	const char *run; /* NULL: ungoverned */
	struct str decision_id;
	bool with_http;
	json_t *body; /* owned; NULL: none was given */
	struct job job;
	struct client_reply reply; /* of the daemon */

	struct spec servers[SPEC_SERVERS_LIMIT]; /* to be written */
	size_t server_count;
	struct materialize_withheld withheld[MATERIALIZE_WITHHELD_MOST];
	size_t withheld_count;

	struct run_folder folder;
	const char *directory; /* its path */
	int home;              /* descriptors, -1: none */
	int checkout;
	const char *home_path;
	const char *checkout_path;
	bool has_own_home;                        /* within the folder */
	long owner;                               /* a process; 0: whoever holds the folder's lock */
	const struct skill *skills[SKILLS_LIMIT]; /* that were written */
	size_t skill_count;
	struct materialize_file *files;
	size_t file_count;
	struct agent_arguments arguments;
	struct secrets secrets;
};

/* A plan that says nothing yet, in the run's arena; NULL: no memory. */
struct materialize *materialize_new(struct cli *cli) MUST_USE;
/* What it holds beside the arena; for CLEANUP(). */
void materialize_drop(struct materialize **plan);

/* Where run folders lie, by --base or what is usual. */
const char *materialize_base(struct cli *cli);

void materialize_withhold(
	struct materialize *plan, const char *kind, struct str name, const char *reason, struct str detail);

/* What shall be written, from the command line's body and the daemon. 0, or an exit code after saying why. */
int materialize_plan(struct materialize *plan) MUST_USE;

/* The same of what the daemon's agent-config answered, which must outlive the plan. */
int materialize_take(struct materialize *plan, const json_t *config) MUST_USE;

/* Writes the plan. 0, or an exit code after saying why; then materialize_undo() takes away what was written. */
int materialize_write(struct materialize *plan, const char *base) MUST_USE;
void materialize_undo(struct materialize *plan);

/* Says on standard error what was withheld or left out. */
void materialize_say_left_out(const struct materialize *plan);
/* Shows what was written, and what the agent is run with. */
void materialize_show(const struct materialize *plan);

/* Members that say what was done, for the note and the answer. */
void materialize_write_summary(const struct materialize *plan, struct json_out *out);

/* "NAME=VALUE", what the agent's environment must have; NULL: nothing. */
const char *materialize_environment(const struct materialize *plan);

/* ---- by the note of a folder */

/* Removes what a folder's note says lies elsewhere. */
void materialize_clear_outside(int folder);
/* Whether the process that a folder was made for is still there; false also clears what lies elsewhere. For a sweep. */
bool materialize_is_wanted(int folder);
/* "pid started boot" of a living process as a JSON object's members; false: there is none. */
bool materialize_write_owner(long pid, struct json_out *out);

int materialize_check(struct cli *cli, const char *path) MUST_USE;
int materialize_remove(struct cli *cli, const char *path) MUST_USE;
int materialize_sweep(struct cli *cli, const char *base) MUST_USE;

#endif
