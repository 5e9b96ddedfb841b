#include "daemon/lifecycle/scope_json.h"

#include <errno.h>

#include "policy/cleanup.h"
#include "policy/json_out.h"

enum { SCOPE_CEILING = 1024 * 1024 };

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

int scope_json(struct arena *arena, const struct lifecycle_scope *scope, struct str *ret_json)
{
	CLEANUP(buf_drop) struct buf buf = {0};
	struct json_out out;

	buf_init(&buf, SCOPE_CEILING);
	*ret_json = (struct str){0};
	if (scope->is_all)
		return 0;
	json_out_init(&out, &buf);
	json_out_begin_array(&out);
	for (size_t i = 0; i < scope->project_count; i++)
		json_out_str(&out, scope->projects[i]);
	json_out_end_array(&out);
	if (buf_error(&buf) != 0)
		return -ENOMEM;
	*ret_json = arena_str(arena, buf_str(&buf));
	return ret_json->bytes != NULL ? 0 : -ENOMEM;
}
