#include "daemon/store/words.h"

const char *const words_task_status[STORE_TASK_STATUS_COUNT] = {
	"proposed", "approved", "rejected", "changes_requested", "completed", "failed", "cancelled"};
const char *const words_grant_mode[WORDS_MODE_COUNT] = {"allow_once", "always_allow"};
const char *const words_surface[STORE_SURFACE_COUNT] = {NULL, "preview", "approval", "handoff"};
