#include <microhttpd.h>

#include "cli/table.h"
#include "daemon/lifecycle/preview.h"
