#include <curl/curl.h>

#include "daemon/store/store.h"
#include "mcp/tools.h"
