#include "policy/words_evaluation.h"

#include <errno.h>

int words_phrase(struct arena *arena, const struct str *names, size_t count, struct str *ret_phrase)
{
	*ret_phrase = (struct str){0};
	for (size_t i = 0; i < count; i++) {
		*ret_phrase = i == 0 ? arena_str(arena, names[i])
				     : arena_printf(arena, "%.*s, %.*s", (int)ret_phrase->len, ret_phrase->bytes,
					       (int)names[i].len, names[i].bytes);
		if (ret_phrase->bytes == NULL)
			return -ENOMEM;
	}
	return 0;
}

/* What the requirement asks for: its bounded reads where those decide, else all of it. */
static int capability_phrase(struct arena *arena, const struct requirement *requirement, struct str *ret)
{
	struct str *names = ARENA_ARRAY(arena, requirement->capability_count, struct str);
	bool reads_only = requirement_needs_grant(requirement);
	size_t count = 0;

	if (names == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < requirement->capability_count; i++) {
		const struct capability *capability = &requirement->capabilities[i];

		if (capability->canonical.bytes != NULL &&
			(!reads_only || capability->class == CLASS_BOUNDED_READ_ONLY))
			names[count++] = capability->canonical;
	}
	return words_phrase(arena, names, count, ret);
}

int words_evaluation_facts(struct arena *arena, const struct evaluation *evaluation, struct words_facts *facts)
{
	const struct requirement *requirement = evaluation->requirement;

	facts->goes_on_without = requirement->can_proceed && evaluation->status == ADMISSION_WARNING;
	facts->server = requirement->mcp != NULL ? requirement->mcp->display_name : requirement->mcp_id;
	facts->health = evaluation->health.status;
	facts->install_state = evaluation->health.install_state;
	facts->observed = evaluation->health.observed;
	facts->is_switched_off = evaluation->health.observed && !evaluation->health.enabled;
	facts->error = evaluation->health.error;
	facts->reason = evaluation->reason;
	return capability_phrase(arena, requirement, &facts->capabilities);
}
