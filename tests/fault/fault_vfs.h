/* fault_vfs.h - a SQLite VFS over the default one whose writes, syncs or reads fail on request, and an allocator likewise
 * (chapter 6.2 "Fault loops").
 */
#ifndef ADMITD_TESTS_FAULT_FAULT_VFS_H
#define ADMITD_TESTS_FAULT_FAULT_VFS_H

#include <stdbool.h>

enum fault_kind { FAULT_NONE, FAULT_WRITE, FAULT_FULL, FAULT_SYNC, FAULT_READ, FAULT_MEMORY };
enum fault_file { FAULT_LOG, FAULT_DATABASE };

/* Makes it SQLite's default, and the allocator SQLite's own. Before the first use of SQLite in the process. */
void fault_register(void);

/* The nth call (from 1) of this kind on this sort of file fails, and, unless `once`, every later one. Counting begins anew. */
void fault_arm(enum fault_kind kind, enum fault_file file, int nth, bool once);
void fault_disarm(void);
/* Whether the armed fault has happened. */
bool fault_has_hit(void);

/* Where a copying of the log into the file is: it begins, and it knows how long the log is and hasn't copied anything. */
enum fault_copying { FAULT_COPYING_BEGINS, FAULT_COPYING_KNOWS };

/* Called on the thread that copies. NULL: no more. */
void fault_on_copying(void (*hook)(void *arg, enum fault_copying at), void *arg);

#endif
