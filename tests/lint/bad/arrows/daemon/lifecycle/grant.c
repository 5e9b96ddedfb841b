#include <curl/curl.h>

#include "daemon/http/reply.h"
#include "daemon/store/store.h"
