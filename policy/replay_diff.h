/* replay_diff.h - what one decision would be by another catalog, as a difference (chapter 2.7). Pure, any thread. */
#ifndef ADMITD_POLICY_REPLAY_DIFF_H
#define ADMITD_POLICY_REPLAY_DIFF_H

#include "policy/replay.h"

/* Writes members into an open object: `before` and `after` (statuses), and of what differs
 *  requirements  [{requirementKey, agent, mcpId, before {row, status, mode, classes}, after {…}}]
 *  subtasks      [{subtaskId, agent, capability, before {status, class}, after {…}}]; a row that only one of both has is null in the other
 * Both replays are of the same document.
 */
void replay_diff_write(const struct replay *before, const struct replay *after, struct json_out *out);

#endif
