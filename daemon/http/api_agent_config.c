/* What a run's agent may have (chapters 4.2, 5.7). */
#include "daemon/http/api_call.h"
#include "daemon/http/render.h"
#include "daemon/lifecycle/run_config.h"

static int get_config(void *ctx, struct http_request *request, struct http_reply *reply)
{
	struct lifecycle_reader reader = api_reader(ctx, request);
	struct lifecycle_run_config config = {0};
	enum agent_kind agent = AGENT_CLAUDE_CODE;
	struct json_out out;
	bool has_run_token = request->token.run.bytes != NULL;
	int r = 0;

	if (agent_kind_find(http_request_query(request, "agent"), &agent) != 0) {
		http_reply_problem(reply, request, HTTP_PROBLEM_BAD_REQUEST, "agent is claude-code or codex");
		return 0;
	}
	if (has_run_token && !str_equal(request->token.run, http_request_param(request, "id")))
		return api_call_refuse_view(reply, request, LIFECYCLE_NOT_FOUND);
	r = lifecycle_view_run_config(&reader, http_request_param(request, "id"), has_run_token, &config);
	if (r < 0)
		return r;
	if (r > 0) {
		api_call_refuse(reply, request, r, &config.refusal);
		return 0;
	}
	out = http_reply_json(reply, 200);
	render_agent_config(&config, agent, &request->arena, &out);
	return 0;
}

static const struct http_route rows[] = {
	{HTTP_GET, "/v1/runs/{id}/agent-config", AUTH_EXECUTOR, HTTP_RUN_TOKEN, 0, get_config},
};

const struct http_routes api_agent_config_routes = API_ROUTES(rows);
