#include "daemon/lifecycle/asked.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/health/root_health.h"
#include "daemon/lifecycle/server_seal.h"
#include "policy/cleanup.h"

/* Specs with their credentials while they are asked; each is at most 1 MiB, and a project has 64. */
enum { ASK_BYTES = 256 * 1024 * 1024 };

static void root_release(struct asked_root *root)
{
	free(root->project);
	free(root->path);
	root->project = NULL;
	root->path = NULL;
}

static void server_free(struct asked_server *server)
{
	free(server->project);
	free(server->mcp_id);
	free(server->spec_json);
	free(server);
}

void asked_free(struct lifecycle_asked *asked)
{
	struct asked_root *root = asked != NULL ? asked->first : NULL;
	struct asked_server *server = asked != NULL ? asked->servers : NULL;

	while (root != NULL) {
		struct asked_root *next = root->next;

		root_release(root);
		free(root);
		root = next;
	}
	while (server != NULL) {
		struct asked_server *next = server->next;

		server_free(server);
		server = next;
	}
	free(asked);
}

static struct asked_root *find(const struct lifecycle_asked *asked, struct str project)
{
	struct asked_root *root = asked != NULL ? asked->first : NULL;

	while (root != NULL && !str_is(project, root->project))
		root = root->next;
	return root;
}

const struct asked_root *asked_find(const struct lifecycle_call *call, struct str project)
{
	return find(call->asked, project);
}

const struct asked_root *asked_first(const struct lifecycle_call *call)
{
	return call->asked != NULL ? call->asked->first : NULL;
}

static struct asked_root *find_or_add(struct lifecycle_call *call, struct str project)
{
	struct asked_root *root = find(call->asked, project);

	if (root != NULL)
		return root;
	if (call->asked == NULL)
		call->asked = calloc(1, sizeof(*call->asked));
	root = call->asked != NULL ? calloc(1, sizeof(*root)) : NULL;
	if (root == NULL)
		return NULL;
	root->project = strndup(project.bytes, project.len);
	if (root->project == NULL) {
		free(root);
		return NULL;
	}
	root->next = call->asked->first;
	call->asked->first = root;
	return root;
}

int asked_want(struct lifecycle_call *call, const struct store_project *project)
{
	struct asked_root *root = find_or_add(call, project->id);
	char *path = NULL;

	if (root == NULL)
		return -ENOMEM;
	if (project->root_path.bytes != NULL) {
		path = strndup(project->root_path.bytes, project->root_path.len);
		if (path == NULL)
			return -ENOMEM;
	}
	free(root->path);
	root->path = path;
	root->device = project->root_device;
	root->inode = project->root_inode;
	root->root_revision = project->root_revision;
	root->is_wanted = true;
	root->is_asked = false;
	return 0;
}

struct asked_server *asked_find_server(const struct lifecycle_call *call, struct str project, struct str mcp_id)
{
	struct asked_server *server = call->asked != NULL ? call->asked->servers : NULL;

	while (server != NULL && (!str_is(project, server->project) || !str_is(mcp_id, server->mcp_id)))
		server = server->next;
	return server;
}

static struct asked_server *add_server(struct lifecycle_call *call, struct str project, struct str mcp_id)
{
	struct asked_server *server = calloc(1, sizeof(*server));

	if (server == NULL)
		return NULL;
	server->project = strndup(project.bytes, project.len);
	server->mcp_id = strndup(mcp_id.bytes, mcp_id.len);
	if (server->project == NULL || server->mcp_id == NULL) {
		server_free(server);
		return NULL;
	}
	server->next = call->asked->servers;
	call->asked->servers = server;
	return server;
}

int asked_want_server(struct lifecycle_call *call, const struct store_server *row)
{
	char *spec = strndup(row->spec_json.bytes, row->spec_json.len);
	struct asked_server *server =
		find_or_add(call, row->project) != NULL ? asked_find_server(call, row->project, row->mcp_id) : NULL;

	if (server == NULL && call->asked != NULL)
		server = add_server(call, row->project, row->mcp_id);
	if (spec == NULL || server == NULL) {
		free(spec);
		return -ENOMEM;
	}
	free(server->spec_json);
	server->spec_json = spec;
	server->enabled = row->enabled;
	server->server_revision = row->revision;
	server->is_asked = false;
	return 0;
}

static void ask_roots(struct lifecycle_call *call)
{
	struct asked_root *root = call->asked->first;

	for (; root != NULL; root = root->next) {
		if (!root->is_wanted || root->is_asked)
			continue;
		root->status = root_health_observe(root->path, root->device, root->inode, &root->error);
		root->checked_at = lifecycle_now(call->lifecycle);
		root->is_asked = true;
		atomic_fetch_add(&call->lifecycle->health_asked, 1);
	}
}

/* ---- servers with a spec */

struct asking {
	struct lifecycle *lifecycle;
	struct arena arena;
	struct prober_question *questions;
	struct asked_server **servers; /* of the questions */
	size_t count;
};

static void asking_drop(struct asking *asking)
{
	arena_release(&asking->arena);
}

static void settle(struct asking *asking, struct asked_server *server, enum health_install_state install_state,
	enum health_status status, const char *error)
{
	server->install_state = install_state;
	server->status = status;
	(void)snprintf(server->error, sizeof(server->error), "%s", error);
	server->checked_at = lifecycle_now(asking->lifecycle);
	server->is_asked = true;
}

/* What needs no question is settled. */
static void prepare_server(struct asking *asking, struct asked_server *server)
{
	struct spec *spec = ARENA_NEW(&asking->arena, struct spec);
	const char *fault = NULL;
	int r = spec != NULL ? server_seal_open(asking->lifecycle, &asking->arena, server, spec, &fault) : -ENOMEM;

	if (!server->enabled)
		settle(asking, server, HEALTH_INSTALLED, HEALTH_DISABLED, "it is switched off");
	else if (r < 0)
		settle(asking, server, HEALTH_INSTALLED, HEALTH_UNKNOWN, "how it is reached can't be read");
	else if (r > 0)
		settle(asking, server, HEALTH_INSTALLED, HEALTH_CONFIGURATION_REQUIRED, fault);
	if (server->is_asked)
		return;
	asking->servers[asking->count] = server;
	asking->questions[asking->count++].spec = spec;
}

static int ask_servers(struct lifecycle_call *call)
{
	CLEANUP(asking_drop) struct asking asking = {.lifecycle = call->lifecycle};
	struct asked_server *server = NULL;
	size_t size = 0;

	for (server = call->asked->servers; server != NULL; server = server->next)
		size += !server->is_asked;
	if (size == 0)
		return 0;
	arena_init(&asking.arena, ASK_BYTES);
	asking.questions = ARENA_ARRAY(&asking.arena, size, struct prober_question);
	asking.servers = ARENA_ARRAY(&asking.arena, size, struct asked_server *);
	if (asking.questions == NULL || asking.servers == NULL)
		return -ENOMEM;
	for (server = call->asked->servers; server != NULL; server = server->next)
		if (!server->is_asked)
			prepare_server(&asking, server);
	prober_client_ask(call->lifecycle->prober, asking.questions, asking.count);
	for (size_t i = 0; i < asking.count; i++)
		settle(&asking, asking.servers[i], asking.questions[i].install_state, asking.questions[i].status,
			asking.questions[i].error);
	atomic_fetch_add(&call->lifecycle->health_asked, asking.count);
	return 0;
}

int asked_ask(struct lifecycle_call *call)
{
	if (call->asked == NULL)
		return 0;
	ask_roots(call);
	return ask_servers(call);
}

static struct str literal(const char *text)
{
	return text != NULL ? (struct str){text, strlen(text)} : (struct str){0};
}

struct store_health asked_row(const struct asked_root *root, const struct store_project *project)
{
	return (struct store_health){
		.project = project->id,
		.mcp_id = STR(LIFECYCLE_BUILTIN_MCP),
		.install_state = literal(health_install_state_name(HEALTH_INSTALLED)),
		.status = literal(health_status_name(root->status)),
		.enabled = true,
		.error = literal(root->error),
		.checked_at = root->checked_at,
		.source = STORE_HEALTH_BUILTIN,
		.root_revision = root->root_revision,
	};
}

struct store_health asked_server_row(const struct asked_server *server)
{
	return (struct store_health){
		.project = {server->project, strlen(server->project)},
		.mcp_id = {server->mcp_id, strlen(server->mcp_id)},
		.install_state = literal(health_install_state_name(server->install_state)),
		.status = literal(health_status_name(server->status)),
		.enabled = server->enabled,
		.error = server->error[0] != '\0' ? literal(server->error) : (struct str){0},
		.checked_at = server->checked_at,
		.source = STORE_HEALTH_PROBED,
		.server_revision = server->server_revision,
	};
}
