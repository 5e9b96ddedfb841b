/* upkeep.h - what the daemon does unasked: that it fails is told once, and then that it works again; not for other rooms.
 *
 * Each thread tries again by itself. Without these words nobody would know why time stands still (chapter 2.1).
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_UPKEEP_H
#define ADMITD_DAEMON_LIFECYCLE_UPKEEP_H

#include "daemon/lifecycle/lifecycle_inner.h"

/* Notes how a turn ended: 0, a lifecycle_result or -errno, which it gives back. One thread for each kind. */
int upkeep_note(struct lifecycle *lifecycle, enum upkeep upkeep, int result);

#endif
