/* body.h - the JSON bodies that this program sends, and reading what a person wrote for them.
 */
#ifndef ADMITD_CLI_BODY_H
#define ADMITD_CLI_BODY_H

#include "cli/cli.h"
#include "policy/json_out.h"

/* A body while it is written: one object, begun by body_begin() and ended by body_end(). */
struct body {
	struct buf buf;
	struct json_out out;
};

void body_begin(struct body *body);
/* The bytes, which stay the body's. */
struct str body_end(struct body *body);
void body_release(struct body *body);

/* A member from the option of the same meaning; left out when it was not given. */
void body_option(struct body *body, const struct cli *cli, const char *member, const char *option);
/* A member that is an array of what a list option gave; left out when it was not given. */
void body_list(struct body *body, const struct cli *cli, const char *member, const char *option);

/* `expiresAt` from --expires: "90s", "30m", "12h", "7d" from now, or a time of RFC 3339 as it stands. 0, or CLI_USAGE after saying
 * why.
 */
int body_expiry(struct body *body, const struct cli *cli) MUST_USE;

/* Reads the file that a person named as one JSON document. 0 and *ret_json, owned by the caller, or an exit code after
 * saying where it is wrong. */
int body_read_file(const char *path, json_t **ret_json) MUST_USE;

#endif
