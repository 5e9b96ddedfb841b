#include "policy/up.h"

#include <fcntl.h>
#include <sqlite3.h>

#include "daemon/store/store.h"
/* #include "cli/in_a_comment_is_no_include.h" */
