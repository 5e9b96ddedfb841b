/* credential_file.h - files that hold credentials by what they are called, which no tool quotes (chapter 5.1, public case C69).
 *
 * One list for inventory, search and context packets: such a file is named and counted, and nothing of what is in it is given out. It is a short
 * list of names that mean credentials and nothing else, so that a search through ordinary source misses nothing: `.env`, keys, password
 * files of well-known programs, git's own configuration. Context packets leave out more, by words (packet.h). Pure; any thread.
 */
#ifndef ADMITD_READER_CREDENTIAL_FILE_H
#define ADMITD_READER_CREDENTIAL_FILE_H

#include <stdbool.h>

#include "policy/arena.h"

/* `path` from the root, or a name alone. Case doesn't matter. */
bool credential_file_is(struct str path);

#endif
