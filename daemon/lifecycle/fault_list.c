#include "daemon/lifecycle/fault_list.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "daemon/lifecycle/plan.h"

enum { POINTER_BYTES = 512 };

void fault_list_add(struct fault_list *faults, const char *text, const char *pointer_format, ...)
{
	char pointer[POINTER_BYTES];
	va_list arguments;
	struct lifecycle_fault *fault = NULL;

	if (faults->items == NULL)
		faults->items = ARENA_ARRAY(faults->arena, PLAN_FAULT_LIMIT, struct lifecycle_fault);
	faults->failed = faults->failed || faults->items == NULL;
	if (faults->failed || faults->count == PLAN_FAULT_LIMIT)
		return;
	va_start(arguments, pointer_format);
	vsnprintf(pointer, sizeof(pointer), pointer_format, arguments);
	va_end(arguments);
	fault = &faults->items[faults->count++];
	fault->pointer = arena_str(faults->arena, (struct str){pointer, strlen(pointer)});
	fault->text = (struct str){text, strlen(text)};
	faults->failed = fault->pointer.bytes == NULL;
}

struct str fault_list_step(struct fault_list *faults, const char *name)
{
	size_t len = strlen(name);
	char *step = arena_array(faults->arena, len + 1, 2);
	size_t at = 0;

	if (step == NULL)
		return STR("");
	for (size_t i = 0; i < len; i++) {
		if (name[i] != '~' && name[i] != '/') {
			step[at++] = name[i];
			continue;
		}
		step[at++] = '~';
		step[at++] = name[i] == '~' ? '0' : '1';
	}
	return (struct str){step, at};
}

int fault_list_result(const struct fault_list *faults, struct lifecycle_refusal *ret_refusal)
{
	if (faults->failed)
		return -ENOMEM;
	if (faults->count == 0)
		return 0;
	*ret_refusal =
		(struct lifecycle_refusal){.revision = -1, .faults = faults->items, .fault_count = faults->count};
	return LIFECYCLE_INVALID_DOCUMENT;
}
