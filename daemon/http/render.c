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

static void write_opens_lines(const char *key, const struct lifecycle_opens_line *lines, struct json_out *out)
{
	json_out_key(out, key);
	json_out_begin_array(out);
	for (size_t i = 0; i < LIFECYCLE_OPENS_LINES && lines[i].text.bytes != NULL; i++) {
		json_out_begin_object(out);
		if (lines[i].sign != NULL)
			json_out_member_text(out, "sign", lines[i].sign);
		else
			json_out_member_null(out, "sign");
		if (lines[i].tone != NULL)
			json_out_member_text(out, "tone", lines[i].tone);
		else
			json_out_member_null(out, "tone");
		json_out_member_str(out, "text", lines[i].text);
		json_out_end_object(out);
	}
	json_out_end_array(out);
}

void render_opens(const struct lifecycle_opens *opens, struct json_out *out)
{
	json_out_key(out, "opens");
	json_out_begin_object(out);
	render_names("once", opens->once, opens->once_count, out);
	render_names("always", opens->always, opens->always_count, out);
	json_out_key(out, "lines");
	json_out_begin_object(out);
	write_opens_lines("once", opens->once_lines, out);
	write_opens_lines("always", opens->always_lines, out);
	json_out_end_object(out);
	json_out_end_object(out);
}
