#include "daemon/http/server.h"
#include "daemon/store/store.h"
