/* upkeep.h - what the daemon does unasked: that it fails is told once, and then that it works again; not for other rooms.
 *
 * Each thread works in turns and tries again by itself. One project that can't be kept up, because a row of it is damaged, is a fault
 * of that project: the turn goes on with the others. Without these words nobody would know why time stands still (chapter 2.1).
 * Any thread, one turn of each kind at a time.
 */
#ifndef ADMITD_DAEMON_LIFECYCLE_UPKEEP_H
#define ADMITD_DAEMON_LIFECYCLE_UPKEEP_H

#include "daemon/lifecycle/lifecycle_inner.h"

void upkeep_init(struct lifecycle *lifecycle);
void upkeep_release(struct lifecycle *lifecycle);

void upkeep_begin(struct lifecycle *lifecycle, enum upkeep upkeep);
/* This project can't be kept up in this turn, for -errno. Each project once a turn. */
void upkeep_fault(struct lifecycle *lifecycle, enum upkeep upkeep, struct str project, int result);
/* How the turn ended: 0, a lifecycle_result that the store as a whole refused with, or -errno, which is a project's if one was told.
 * Gives that back, or else the first project's fault.
 */
int upkeep_end(struct lifecycle *lifecycle, enum upkeep upkeep, int result);

/* How long to wait after so many turns (from 1) that failed in a row with `result`: a second where the store as a whole
 * refused; longer and longer, to a minute, for a project, whose judging costs the others time.
 */
int64_t upkeep_again_ms(int result, unsigned failures);

#endif
