#include "daemon/http/server.h"
