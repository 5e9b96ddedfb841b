#include "prober/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "policy/redact.h"

int finding_begin(struct finding *finding, struct arena *arena, const struct spec *spec)
{
	*finding = (struct finding){.arena = arena, .install_state = HEALTH_INSTALLED};
	return secret_mask_init(&finding->mask, arena, spec);
}

static void settle(struct finding *finding, enum health_status status, struct str error)
{
	if (finding->is_settled)
		return;
	finding->is_settled = true;
	finding->status = status;
	finding->error = error;
}

void finding_set(struct finding *finding, enum health_status status, const char *format, ...)
{
	char text[PROBE_ERROR_LIMIT];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	settle(finding, status, arena_str(finding->arena, (struct str){text, strlen(text)}));
}

void finding_quote(struct finding *finding, enum health_status status, const char *text, struct str sent)
{
	struct str masked = {0};
	struct str clean = {0};

	if (sent.bytes == NULL || secret_mask_apply(&finding->mask, finding->arena, sent, &masked) != 0 ||
		redact_copy(finding->arena, masked, PROBE_ERROR_LIMIT - REDACT_LABEL, &clean) != 0 || clean.len == 0) {
		settle(finding, status, arena_str(finding->arena, (struct str){text, strlen(text)}));
		return;
	}
	settle(finding, status, arena_printf(finding->arena, "%s: %.*s", text, (int)clean.len, clean.bytes));
}

void finding_healthy(struct finding *finding)
{
	settle(finding, HEALTH_HEALTHY, (struct str){0});
}
