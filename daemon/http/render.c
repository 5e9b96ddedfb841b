#include "daemon/http/render.h"

void render_actor(const char *key, const struct store_actor *actor, struct json_out *out)
{
	json_out_key(out, key);
	if (actor->token.bytes == NULL && actor->principal.bytes == NULL) {
		json_out_null(out);
		return;
	}
	json_out_begin_object(out);
	json_out_member_str(out, "token", actor->token);
	json_out_member_str(out, "principal", actor->principal);
	json_out_end_object(out);
}

void render_names(const char *key, const struct str *names, size_t count, struct json_out *out)
{
	json_out_key(out, key);
	json_out_begin_array(out);
	for (size_t i = 0; i < count; i++)
		json_out_str(out, names[i]);
	json_out_end_array(out);
}

void render_json(const char *key, struct str json, struct json_out *out)
{
	if (json.bytes != NULL)
		json_out_member_raw(out, key, json);
	else
		json_out_member_null(out, key);
}

void render_state(const struct lifecycle_state *state, struct json_out *out)
{
	json_out_key(out, "operatorState");
	lifecycle_state_write(state, out);
}
