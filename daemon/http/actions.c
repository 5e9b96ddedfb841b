#include "daemon/http/actions.h"

#include <string.h>

#include "daemon/http/router.h"
#include "daemon/lifecycle/time_text.h"
#include "policy/words.h"

enum { ROLES_TEXT_MAX = 128 };

struct actions_route actions_route_of(enum lifecycle_target target)
{
	static const struct actions_route routes[] = {
		[LIFECYCLE_TARGET_PACKAGE_GRANTS] = {HTTP_POST, "/v1/packages/{id}/grants"},
		[LIFECYCLE_TARGET_PROJECT_GRANTS] = {HTTP_POST, "/v1/projects/{id}/grants"},
		[LIFECYCLE_TARGET_PROJECT] = {HTTP_PUT, "/v1/projects/{id}"},
		[LIFECYCLE_TARGET_SERVER_CHECK] = {HTTP_POST, "/v1/projects/{id}/servers/{mcpId}/check"},
		[LIFECYCLE_TARGET_TASK_CHANGES] = {HTTP_POST, "/v1/tasks/{id}/changes"},
		[LIFECYCLE_TARGET_TASK_APPROVAL] = {HTTP_POST, "/v1/tasks/{id}/approval"},
		[LIFECYCLE_TARGET_TASK_REJECTION] = {HTTP_POST, "/v1/tasks/{id}/rejection"},
		[LIFECYCLE_TARGET_TASK_CANCELLATION] = {HTTP_POST, "/v1/tasks/{id}/cancellation"},
		[LIFECYCLE_TARGET_PACKAGE_CANCELLATION] = {HTTP_POST, "/v1/packages/{id}/cancellation"},
		[LIFECYCLE_TARGET_PACKAGE_RETRY] = {HTTP_POST, "/v1/packages/{id}/retry"},
		[LIFECYCLE_TARGET_PACKAGE_REWORK] = {HTTP_POST, "/v1/packages/{id}/rework"},
	};

	CHECK((size_t)target < sizeof(routes) / sizeof(routes[0]));
	return routes[target];
}

struct str actions_href(
	char ret_href[static ACTIONS_HREF_MAX], const char *pattern, struct str first, struct str second)
{
	size_t len = 0;
	bool is_first = true;

	while (*pattern != '\0') {
		struct str piece = {pattern, 1};

		if (*pattern == '{') {
			piece = is_first ? first : second;
			is_first = false;
			pattern = strchr(pattern, '}');
		}
		pattern++;
		CHECK(len + piece.len <= ACTIONS_HREF_MAX);
		if (piece.len > 0)
			memcpy(ret_href + len, piece.bytes, piece.len);
		len += piece.len;
	}
	return (struct str){ret_href, len};
}

static void write_href(const struct lifecycle_action *action, const char *pattern, struct json_out *out)
{
	char href[ACTIONS_HREF_MAX];

	json_out_member_str(out, "href", actions_href(href, pattern, action->target_id, action->mcp_id));
}

static void write_body(const struct lifecycle_action_body *body, struct json_out *out)
{
	json_out_key(out, "body");
	json_out_begin_object(out);
	if (body->decision != NULL)
		json_out_member_text(out, "decision", body->decision);
	if (body->capability_count > 0) {
		json_out_key(out, "capabilities");
		json_out_begin_array(out);
		for (size_t i = 0; i < body->capability_count; i++)
			json_out_str(out, body->capabilities[i]);
		json_out_end_array(out);
	}
	if (body->expected_revision >= 0)
		json_out_member_revision(out, "expectedRevision", body->expected_revision);
	if (body->root_revision >= 0)
		json_out_member_revision(out, "rootRevision", body->root_revision);
	if (body->plan_revision >= 0)
		json_out_member_revision(out, "planRevision", body->plan_revision);
	if (body->expires_at != 0)
		time_text_member(out, "expiresAt", body->expires_at);
	if (body->replace)
		json_out_member_bool(out, "replace", true);
	if (body->cascade)
		json_out_member_bool(out, "cascade", true);
	json_out_end_object(out);
}

static void write_inputs(const struct lifecycle_action *action, struct json_out *out)
{
	json_out_key(out, "inputs");
	json_out_begin_array(out);
	if (action->takes_root)
		json_out_text(out, "root");
	if (action->takes_reason)
		json_out_text(out, "reason");
	if (action->takes_expiry)
		json_out_text(out, "expiresAt");
	json_out_end_array(out);
}

static void write_why_not(const char *word, const char *text, struct json_out *out)
{
	json_out_member_text(out, "whyNot", word);
	json_out_member_text(out, "because", text);
}

static void write_off(const struct lifecycle_action *action, struct json_out *out)
{
	json_out_member_text(out, "whyNot", action_off_name(action->off));
	if (action->off_text.bytes != NULL)
		json_out_member_str(out, "because", action->off_text);
	else
		json_out_member_text(out, "because", action_off_text(action->off));
}

static size_t append(char *text, size_t len, const char *more)
{
	size_t more_len = strlen(more);

	CHECK(len + more_len <= ROLES_TEXT_MAX);
	memcpy(text + len, more, more_len);
	return len + more_len;
}

static void write_role_missing(unsigned roles, struct json_out *out)
{
	char text[ROLES_TEXT_MAX];
	const char *between = "Needs role ";
	size_t len = 0;

	for (unsigned i = 0; i < AUTH_ROLES; i++) {
		if (!(roles & (1u << i)))
			continue;
		len = append(text, len, between);
		len = append(text, len, auth_role_name(1u << i));
		between = " or ";
	}
	len = append(text, len, ".");
	json_out_member_text(out, "whyNot", "role_missing");
	json_out_member_str(out, "because", (struct str){text, len});
}

static void write_may(const struct lifecycle_action *action, const struct auth_token *token, struct json_out *out)
{
	unsigned roles = (action->roles & LIFECYCLE_APPROVER ? AUTH_APPROVER : 0u) |
		(action->roles & LIFECYCLE_OPERATOR ? AUTH_OPERATOR : 0u) |
		(action->roles & LIFECYCLE_EXECUTOR ? AUTH_EXECUTOR : 0u);
	bool has_role = auth_has_role(token, roles);
	bool is_off = action->off != ACTION_OFF_NOT;

	json_out_member_bool(out, "allowed", !is_off && has_role && !action->is_self_approval);
	if (is_off)
		write_off(action, out);
	else if (!has_role)
		write_role_missing(roles, out);
	else if (action->is_self_approval)
		write_why_not("self_approval", "Someone else must approve what you sent.", out);
	json_out_key(out, "roleNeeded");
	json_out_begin_array(out);
	for (unsigned i = 0; i < AUTH_ROLES; i++)
		if (roles & (1u << i))
			json_out_text(out, auth_role_name(1u << i));
	json_out_end_array(out);
}

void actions_write(const struct lifecycle_action_list *actions, const struct auth_token *token,
	bool (*has_route)(enum http_method method, const char *pattern), struct json_out *out)
{
	json_out_begin_array(out);
	for (size_t i = 0; i < actions->count; i++) {
		const struct lifecycle_action *action = &actions->items[i];
		struct actions_route route = actions_route_of(action->target);

		if (!has_route(route.method, route.pattern))
			continue;
		json_out_begin_object(out);
		json_out_member_text(out, "id", action_id_name(action->id));
		json_out_member_str(out, "label", action->label);
		json_out_member_text(out, "method", http_method_name(route.method));
		write_href(action, route.pattern, out);
		write_body(&action->body, out);
		write_inputs(action, out);
		write_may(action, token, out);
		if (action->undoes.bytes != NULL)
			json_out_member_str(out, "undoes", action->undoes);
		json_out_end_object(out);
	}
	json_out_end_array(out);
}
