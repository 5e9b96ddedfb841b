#include "daemon/lifecycle/server_seal.h"

#include <errno.h>
#include <sodium.h>
#include <string.h>

#include "agents/seal.h"
#include "policy/cleanup.h"

/* Whose credentials they are; neither id can hold a slash. */
static struct str context_of(struct arena *arena, struct str project, struct str mcp_id)
{
	return arena_printf(arena, "%.*s/%.*s", (int)project.len, project.bytes, (int)mcp_id.len, mcp_id.bytes);
}

static void buf_drop(struct buf *buf)
{
	if (buf->bytes != NULL)
		sodium_memzero(buf->bytes, buf->len);
	buf_release(buf);
}

static int close_credentials(struct lifecycle *lifecycle, struct arena *arena, struct str project,
	const struct spec *spec, struct str *ret_sealed)
{
	struct str context = context_of(arena, project, spec->id);
	CLEANUP(buf_drop) struct buf plain = {0};
	struct json_out out;
	int r = context.bytes != NULL ? 0 : -ENOMEM;

	buf_init(&plain, 2 * SPEC_BYTES_LIMIT);
	json_out_init(&out, &plain);
	spec_write_credentials(spec, &out);
	if (r == 0)
		r = buf_error(&plain);
	return r != 0 ? r : seal_close(arena, lifecycle->seal_key, context, buf_str(&plain), ret_sealed);
}

int server_seal_close(struct lifecycle *lifecycle, struct arena *arena, struct str project, const struct spec *spec,
	struct str *ret_json)
{
	CLEANUP(buf_drop) struct buf kept = {0};
	struct json_out out;
	struct str sealed = {0};
	int r = 0;

	if (spec_has_credentials(spec) && lifecycle->seal_key != NULL)
		r = close_credentials(lifecycle, arena, project, spec, &sealed);
	buf_init(&kept, 8 * SPEC_BYTES_LIMIT);
	json_out_init(&out, &kept);
	spec_write_kept(spec, sealed, &out);
	if (r == 0)
		r = buf_error(&kept);
	if (r == 0)
		*ret_json = arena_str(arena, buf_str(&kept));
	return r == 0 && ret_json->bytes == NULL ? -ENOMEM : r;
}

static int open_credentials(struct lifecycle *lifecycle, struct arena *arena, struct str project, struct str sealed,
	struct spec *spec, const char **ret_fault)
{
	struct str context = context_of(arena, project, spec->id);
	struct str plain = {0};
	int r = context.bytes != NULL ? seal_open(arena, lifecycle->seal_key, context, sealed, &plain) : -ENOMEM;

	if (r == 0)
		return spec_read_credentials(arena, plain, spec);
	if (r == SEAL_OTHER_KEY)
		*ret_fault = "its credentials were sealed with another key file; set them again";
	else if (r == SEAL_DAMAGED)
		*ret_fault = "its sealed credentials are damaged; set them again";
	return r < 0 ? r : SERVER_SEAL_CLOSED;
}

int server_seal_open(struct lifecycle *lifecycle, struct arena *arena, const struct asked_server *server,
	struct spec *ret, const char **ret_fault)
{
	struct str project = {server->project, strlen(server->project)};
	struct str sealed = {0};
	int r = spec_read_kept(arena, (struct str){server->spec_json, strlen(server->spec_json)}, ret, &sealed);

	if (r != 0 || !spec_has_credentials(ret))
		return r;
	if (lifecycle->seal_key == NULL) {
		*ret_fault = "it has credentials, and the daemon has no key file for them ([secrets] key_file)";
		return SERVER_SEAL_CLOSED;
	}
	if (sealed.bytes != NULL)
		r = open_credentials(lifecycle, arena, project, sealed, ret, ret_fault);
	if (r == 0 && spec_missing_credential(ret).bytes != NULL) {
		*ret_fault = "a credential of it isn't set";
		r = SERVER_SEAL_CLOSED;
	}
	return r;
}
