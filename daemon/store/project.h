/* project.h - projects and the tool servers they have (chapters 2.1, 2.4 "Root change").
 *
 * See store.h for results, values and ownership. Writing functions need a writer's transaction.
 */
#ifndef ADMITD_DAEMON_STORE_PROJECT_H
#define ADMITD_DAEMON_STORE_PROJECT_H

#include "daemon/store/store.h"

struct store_project {
	struct str id; /* the caller's */
	struct str name;
	struct str root_path; /* absent: no root */
	uint64_t root_device;
	uint64_t root_inode;
	struct str root_ref;       /* opaque, absent without a root */
	int64_t root_revision;     /* 0 without a root; never used twice, also when a root was taken away in between */
	int64_t decision_revision; /* of the last grant record of the project, its packages' included */
	int64_t created_at;
	int64_t archived_at; /* 0: in use */
	int64_t revision;    /* grows with every change of name, root or use */
	struct store_actor changed_by;
	int64_t changed_at;
	struct str change_reason;
};

struct store_project_list {
	struct store_project *items;
	size_t count;
};

/* STORE_ABSENT. */
int store_project_find(struct store_tx *tx, struct str id, struct store_project *ret) MUST_USE;

/* What changes a project takes who, when and why from the row, and gives it another revision. */

/* Makes a project without a root from id, name, created_at and changed_by. STORE_CONFLICT when the id is taken. */
int store_project_insert(struct store_tx *tx, const struct store_project *row) MUST_USE;

/* Sets name and archived_at. STORE_ABSENT. */
int store_project_update(struct store_tx *tx, const struct store_project *row) MUST_USE;

/* Sets the root from root_path, root_device, root_inode, root_ref, or takes it away when root_path is absent; gives a new
 * root revision (0 without a root) and leaves it in row. The same path is a change too: the caller asks first. STORE_ABSENT.
 */
int store_project_set_root(struct store_tx *tx, struct store_project *row) MUST_USE;

/* By id, from after `after` (absent: the first). `projects_json`: a JSON array of the ids that may be seen, absent = all. */
int store_project_list(struct store_tx *tx, struct str projects_json, struct str after, size_t limit,
	struct store_project_list *ret) MUST_USE;

enum store_server_kind {
	STORE_SERVER_REPORTED, /* only an outside checker's word */
	STORE_SERVER_BUILTIN,
	STORE_SERVER_SPEC, /* reached as spec_json says */
};

struct store_server {
	struct str project;
	struct str mcp_id;
	bool enabled;
	enum store_server_kind kind;
	struct str spec_json; /* with STORE_SERVER_SPEC */
	int64_t revision; /* grows at every change in the project, never used twice: what health was taken for (2.3) */
	struct store_actor changed_by;
	int64_t changed_at;
};

struct store_server_list {
	struct store_server *items;
	size_t count;
};

int store_server_find(struct store_tx *tx, struct str project, struct str mcp_id, struct store_server *ret) MUST_USE;
/* All of a project, by MCP id. */
int store_server_list(struct store_tx *tx, struct str project, struct store_server_list *ret) MUST_USE;
/* Inserts or replaces; gives the new revision and leaves it in row. STORE_ABSENT: no such project. */
int store_server_put(struct store_tx *tx, struct store_server *row) MUST_USE;
/* STORE_ABSENT. Its health row goes with it. */
int store_server_delete(struct store_tx *tx, struct str project, struct str mcp_id) MUST_USE;

#endif
