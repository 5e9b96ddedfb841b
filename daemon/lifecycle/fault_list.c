#include "daemon/lifecycle/fault_list.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "daemon/lifecycle/plan.h"
#include "policy/redact.h"
#include "policy/text.h"

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

/* A secret that stands where a name should is masked, and what is long is cut. */
static struct str shown_name(struct fault_list *faults, struct str name)
{
	struct str shown = STR("");

	if (text_is_safe(name))
		return name;
	faults->failed |= redact_copy(faults->arena, name, REDACT_LABEL, &shown) != 0;
	return shown;
}

struct str fault_list_step(struct fault_list *faults, const char *name)
{
	struct str shown = shown_name(faults, (struct str){name, strlen(name)});
	char *step = arena_array(faults->arena, shown.len + 1, 2);
	size_t at = 0;

	if (step == NULL)
		return STR("");
	for (size_t i = 0; i < shown.len; i++) {
		if (shown.bytes[i] != '~' && shown.bytes[i] != '/') {
			step[at++] = shown.bytes[i];
			continue;
		}
		step[at++] = '~';
		step[at++] = shown.bytes[i] == '~' ? '0' : '1';
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
