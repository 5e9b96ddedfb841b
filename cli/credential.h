/* credential.h - where the token comes from: a file or the environment, never an argument (chapter 4.3).
 */
#ifndef ADMITD_CLI_CREDENTIAL_H
#define ADMITD_CLI_CREDENTIAL_H

#include "cli/args.h"
#include "policy/check.h"

/* The first of: the file of --token-file; the admin token that the first start of a daemon wrote into the folder of --state;
 * ADMITD_TOKEN. 0 and *ret_token, to be ended by credential_drop(), or NULL when none of them is given; or an exit code
 * after saying why. The token is checked to fit into a header and is never quoted.
 */
int credential_read(const struct args *args, char **ret_token) MUST_USE;

/* Wipes and frees; for CLEANUP(). */
void credential_drop(char **token);

#endif
