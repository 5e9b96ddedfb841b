#include "policy/check.h"

#include <stdio.h>
#include <stdlib.h>

void check_failed(const char *condition, const char *file, int line)
{
	(void)fprintf(stderr, "admitd: broken invariant at %s:%d: %s\n", file, line, condition);
	abort();
}
