/* actions.h - `actions`: what a person may do now, as requests that a client only has to send (chapters 2.6, 4.2).
 *
 * An action is offered only if its route is in a table; whoever adds the route adds the action. Pure, any thread.
 */
#ifndef ADMITD_DAEMON_HTTP_ACTIONS_H
#define ADMITD_DAEMON_HTTP_ACTIONS_H

#include "daemon/http/auth.h"
#include "daemon/http/request.h"
#include "daemon/lifecycle/hold.h"
#include "policy/json_out.h"

/* Where a target lies: its method and pattern as in the table of routes. */
struct actions_route {
	enum http_method method;
	const char *pattern;
};

struct actions_route actions_route_of(enum lifecycle_target target);

enum { ACTIONS_HREF_MAX = 512 };

/* The path of a pattern with its ids, which are names that need no escapes (2.1); `second` may be absent. */
struct str actions_href(
	char ret_href[static ACTIONS_HREF_MAX], const char *pattern, struct str first, struct str second);

/* One array. `token` is who asks: it says which of them are allowed. `has_route` is api_has_route() but for tests. */
void actions_write(const struct lifecycle_action_list *actions, const struct auth_token *token,
	bool (*has_route)(enum http_method method, const char *pattern), struct json_out *out);

#endif
