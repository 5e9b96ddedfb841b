#include "daemon/http/mcp_project.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/http/api.h"
#include "daemon/http/mcp_front.h"
#include "policy/cleanup.h"
#include "policy/json_out.h"
#include "policy/json_parse.h"

enum { SCHEMA_MAX = 64 * 1024 };

/* ---- a call */

static int refuse(struct mcp_refusal *refusal, const char *code, const char *message)
{
	mcp_refuse(refusal, code, "%s", message);
	return MCP_TOOL_REFUSED;
}

static int refuse_view(int result, struct mcp_refusal *ret_refusal)
{
	if (result < 0)
		return result;
	if (result == LIFECYCLE_NOT_FOUND)
		return refuse(ret_refusal, "not_found", "There is no such project");
	return refuse(ret_refusal, "not_stored", "The store is busy; ask again");
}

/* The directory that the project was given: another one at its path is none of the project's. */
static int open_root(const struct store_project *row, struct contained_root *ret, struct mcp_refusal *ret_refusal)
{
	CLEANUP(free_drop) char *path = NULL;
	int r;

	if (row->root_path.bytes == NULL)
		return refuse(ret_refusal, "root_missing", "The project has no root");
	path = strndup(row->root_path.bytes, row->root_path.len);
	if (path == NULL)
		return -ENOMEM;
	r = contained_root_open(ret, path);
	if (r == -ENOMEM || r == -EMFILE || r == -ENFILE)
		return r;
	if (r != 0)
		return refuse(ret_refusal, "root_missing", "The project's root can't be opened");
	if (ret->device == row->root_device && ret->inode == row->root_inode)
		return 0;
	contained_root_close(ret);
	return refuse(ret_refusal, "root_changed",
		"The project's root is another directory than it was; an operator sets it anew");
}

static int run_below(const struct mcp_tool_call *call, const struct contained_root *root, struct buf *ret_answer,
	struct mcp_refusal *ret_refusal)
{
	const struct bundle_service bundles = {.place = {.roots = root, .root_count = 1}};

	if (mcp_bundles_has(call->tool->name))
		return mcp_bundles_run(call, &bundles, ret_answer, ret_refusal);
	return mcp_reading_run(call, root, MCP_MAY_ALL, ret_answer, ret_refusal);
}

static int run(const struct mcp_tool_call *call, struct buf *ret_answer, struct mcp_refusal *ret_refusal)
{
	CLEANUP(contained_root_close) struct contained_root root = {0};
	CLEANUP(json_drop) json_t *arguments = json_copy((json_t *)(uintptr_t)call->arguments);
	const struct mcp_front_context *context = call->context;
	const json_t *id = json_object_get(call->arguments, "project");
	struct lifecycle_reader reader = api_reader(context->ctx, context->request);
	struct lifecycle_project project = {0};
	struct mcp_tool_call below = *call;
	int r = arguments != NULL && json_object_del(arguments, "project") == 0 ? 0 : -ENOMEM;

	if (r == 0)
		r = lifecycle_view_project_parts(
			&reader, (struct str){json_string_value(id), json_string_length(id)}, &project);
	if (r != 0)
		return refuse_view(r, ret_refusal);
	r = open_root(&project.row, &root, ret_refusal);
	if (r != 0)
		return r;
	below.arguments = arguments;
	return run_below(&below, &root, ret_answer, ret_refusal);
}

/* ---- the table */

static const char project_schema[] = "{\"type\":\"string\",\"minLength\":1,\"maxLength\":160,\"description\":\"The id "
				     "of the project whose root is read.\"}";

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

/* Puts `project` among the members, and first among those that must be there. */
static int add_project(json_t *schema)
{
	CLEANUP(json_drop) json_t *member = NULL;
	json_t *required = json_object_get(schema, "required");
	int r = json_parse(STR(project_schema), &member, NULL);

	if (r == 0 && required == NULL)
		r = json_object_set_new(schema, "required", json_array());
	required = json_object_get(schema, "required");
	if (r == 0)
		r = json_array_insert_new(required, 0, json_string("project"));
	if (r == 0)
		r = json_object_set(json_object_get(schema, "properties"), "project", member);
	return r == 0 ? 0 : -ENOMEM;
}

static int widen(struct mcp_tool *tool, char **ret_schema)
{
	CLEANUP(json_drop) json_t *schema = NULL;
	CLEANUP(buf_drop) struct buf text = {0};
	struct json_out out;
	size_t len = 0;
	int r = json_parse((struct str){tool->input_schema, strlen(tool->input_schema)}, &schema, NULL);

	buf_init(&text, SCHEMA_MAX);
	if (r == 0)
		r = add_project(schema);
	if (r < 0)
		return r;
	json_out_init(&out, &text);
	json_out_canonical(&out, schema);
	if (buf_error(&text) < 0)
		return buf_error(&text);
	*ret_schema = buf_take(&text, &len);
	tool->input_schema = *ret_schema;
	return *ret_schema != NULL ? 0 : -ENOMEM;
}

int mcp_project_init(struct mcp_project *project)
{
	size_t count = mcp_reading_fill(project->tools, MCP_MAY_ALL, run);
	int r = 0;

	CHECK(count == MCP_READING_TOOLS);
	mcp_bundles_fill(project->tools + count, false, run);
	for (size_t i = 0; r == 0 && i < MCP_PROJECT_TOOLS; i++)
		r = widen(&project->tools[i], &project->schemas[i]);
	return r;
}

void mcp_project_release(struct mcp_project *project)
{
	for (size_t i = 0; i < MCP_PROJECT_TOOLS; i++) {
		free(project->schemas[i]);
		project->schemas[i] = NULL;
	}
}
