#include "daemon/http/render.h"
#include "daemon/lifecycle/time_text.h"

void render_roles(const char *key, unsigned roles, struct json_out *out)
{
	json_out_key(out, key);
	json_out_begin_array(out);
	for (unsigned i = 0; i < AUTH_ROLES; i++)
		if (roles & (1u << i))
			json_out_text(out, auth_role_name(1u << i));
	json_out_end_array(out);
}

void render_token(const struct store_token *token, struct json_out *out)
{
	json_out_member_str(out, "id", token->id);
	json_out_member_str(out, "principal", token->principal);
	render_roles("roles", token->roles, out);
	render_json("projects", token->projects_json, out);
	render_actor("madeBy", &token->made_by, out);
	time_text_member(out, "createdAt", token->created_at);
	time_text_member(out, "expiresAt", token->expires_at);
	time_text_member(out, "revokedAt", token->revoked_at);
	time_text_member(out, "lastUsedAt", token->last_used_at);
}
