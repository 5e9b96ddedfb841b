#include "daemon/lifecycle/asked.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/health/root_health.h"

static void root_release(struct asked_root *root)
{
	free(root->project);
	free(root->path);
	root->project = NULL;
	root->path = NULL;
}

void asked_free(struct lifecycle_asked *asked)
{
	struct asked_root *root = asked != NULL ? asked->first : NULL;

	while (root != NULL) {
		struct asked_root *next = root->next;

		root_release(root);
		free(root);
		root = next;
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
	root->is_asked = false;
	return 0;
}

int asked_ask(struct lifecycle_call *call)
{
	struct asked_root *root = call->asked != NULL ? call->asked->first : NULL;

	for (; root != NULL; root = root->next) {
		if (root->is_asked)
			continue;
		root->status = root_health_observe(root->path, root->device, root->inode, &root->error);
		root->checked_at = lifecycle_now(call->lifecycle);
		root->is_asked = true;
		atomic_fetch_add(&call->lifecycle->health_asked, 1);
	}
	return 0;
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
