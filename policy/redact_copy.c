#include <errno.h>

#include "policy/redact.h"

int redact_copy(struct arena *arena, struct str text, size_t cap_code_points, struct str *ret_text)
{
	struct buf buf;
	int result;

	*ret_text = (struct str){0};
	if (!text.bytes)
		return 0;
	/* A mask may be longer than what it stands for, so the ceiling leaves room. */
	buf_init(&buf, text.len * 4 + 64);
	result = redact_text(text, cap_code_points, &buf, NULL);
	if (!result) {
		*ret_text = arena_str(arena, buf_str(&buf));
		if (!ret_text->bytes)
			result = -ENOMEM;
	}
	buf_release(&buf);
	return result;
}
