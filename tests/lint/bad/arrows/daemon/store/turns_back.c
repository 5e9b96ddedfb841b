#include "daemon/http/reply.h"
#include "daemon/log.h"
#include "policy/buf.h"
