#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/lifecycle/fault_list.h"
#include "daemon/lifecycle/name_check.h"
#include "daemon/lifecycle/plan.h"
#include "policy/cleanup.h"
#include "policy/decision_id.h"
#include "policy/json_out.h"
#include "policy/text.h"

enum { DOCUMENT_CEILING = 8 * 1024 * 1024, TITLE_LIMIT = 240 };

struct reader {
	struct arena *arena;
	struct fault_list faults;
	struct plan *plan;
	struct plan_package *packages;
	enum plan_form form;
};

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

static struct str text_of(const json_t *value)
{
	return json_is_string(value) ? (struct str){json_string_value(value), json_string_length(value)}
				     : (struct str){0};
}

static bool is_member(const char *name, const char *const *known)
{
	for (; *known != NULL; known++)
		if (strcmp(name, *known) == 0)
			return true;
	return false;
}

static void check_members(struct reader *reader, const json_t *object, const char *at, const char *const *known)
{
	const char *name = NULL;
	json_t *value = NULL;

	json_object_foreach((json_t *)(uintptr_t)object, name, value)
	{
		if (!is_member(name, known)) {
			struct str step = fault_list_step(&reader->faults, name);

			fault_list_add(
				&reader->faults, "isn't a known member", "%s/%.*s", at, (int)step.len, step.bytes);
		}
	}
}

static size_t count_characters(struct str text)
{
	size_t count = 0;

	for (size_t at = 0; at < text.len; count++)
		(void)text_next(text, &at);
	return count;
}

/* ---- one package */

static int read_document(struct reader *reader, const json_t *document, struct plan_package *package)
{
	CLEANUP(buf_drop) struct buf buf = {0};
	struct json_out out;
	char digest[DIGEST_TEXT_SIZE];
	int r = 0;

	buf_init(&buf, DOCUMENT_CEILING);
	json_out_init(&out, &buf);
	json_out_canonical(&out, document);
	r = buf_error(&buf);
	if (r != 0)
		return r;
	digest_text(buf_str(&buf), digest);
	package->document = document;
	package->document_bytes = arena_str(reader->arena, buf_str(&buf));
	package->document_digest = arena_str(reader->arena, (struct str){digest, strlen(digest)});
	return package->document_digest.bytes != NULL && package->document_bytes.bytes != NULL ? 0 : -ENOMEM;
}

static void read_overlay(
	struct reader *reader, const char *at, const char *key, const json_t *value, struct plan_overlay *overlay)
{
	struct str name = {key, strlen(key)};
	struct str text = text_of(value);
	struct str step = fault_list_step(&reader->faults, key);

	if (!text_is_key(name))
		fault_list_add(&reader->faults, "isn't a requirement key", "%s/promptOverlays/%.*s", at, (int)step.len,
			step.bytes);
	if (text.len == 0)
		fault_list_add(&reader->faults, "must be a text that isn't empty", "%s/promptOverlays/%.*s", at,
			(int)step.len, step.bytes);
	else if (count_characters(text) > PLAN_OVERLAY_CHARACTERS)
		fault_list_add(&reader->faults, "is longer than 2000 characters", "%s/promptOverlays/%.*s", at,
			(int)step.len, step.bytes);
	overlay->requirement_key = name;
	overlay->text = text;
	digest_text(text.bytes != NULL ? text : STR(""), overlay->digest);
}

static int compare_overlays(const void *a, const void *b)
{
	const struct plan_overlay *first = a;
	const struct plan_overlay *second = b;

	return str_compare(first->requirement_key, second->requirement_key);
}

static int read_overlays(struct reader *reader, const json_t *object, const char *at, struct plan_package *package)
{
	struct plan_overlay *overlays = NULL;
	const char *key = NULL;
	json_t *value = NULL;

	if (object == NULL)
		return 0;
	if (!json_is_object(object))
		fault_list_add(&reader->faults, "must be an object", "%s/promptOverlays", at);
	if (json_object_size(object) > PLAN_OVERLAY_LIMIT) {
		fault_list_add(&reader->faults, "has more than 40 members", "%s/promptOverlays", at);
		return 0;
	}
	overlays = ARENA_ARRAY(reader->arena, json_object_size(object), struct plan_overlay);
	if (overlays == NULL)
		return -ENOMEM;
	json_object_foreach((json_t *)(uintptr_t)object, key, value)
		read_overlay(reader, at, key, value, &overlays[package->overlay_count++]);
	if (package->overlay_count > 1)
		qsort(overlays, package->overlay_count, sizeof(*overlays), compare_overlays);
	package->overlays = overlays;
	return 0;
}

static void check_agent(struct reader *reader, struct str agent, const char *at)
{
	if (agent.bytes == NULL || !text_is_identity(agent, TEXT_NAME_LIMIT) || !text_is_agent(agent))
		fault_list_add(&reader->faults, "must be an agent's name of at most 80 characters", "%s/agent", at);
}

static int read_content(struct reader *reader, const json_t *object, const char *at, struct plan_package *package)
{
	const json_t *document = json_object_get(object, "document");
	int r = 0;

	if (!json_is_object(document))
		fault_list_add(&reader->faults, "must be an object", "%s/document", at);
	else
		r = read_document(reader, document, package);
	return r != 0 ? r : read_overlays(reader, json_object_get(object, "promptOverlays"), at, package);
}

static int read_package(struct reader *reader, const json_t *object, size_t index)
{
	static const char *const known[] = {"label", "agent", "dependsOn", "document", "promptOverlays", "redo", NULL};
	struct plan_package *package = &reader->packages[index];
	const json_t *redo = json_object_get(object, "redo");
	char at[32];

	snprintf(at, sizeof(at), "/packages/%zu", index);
	if (!json_is_object(object)) {
		fault_list_add(&reader->faults, "must be an object", "%s", at);
		return 0;
	}
	check_members(reader, object, at, known);
	package->label = text_of(json_object_get(object, "label"));
	package->agent = text_of(json_object_get(object, "agent"));
	package->redo = json_is_true(redo);
	if (!name_check_label(package->label))
		fault_list_add(&reader->faults, "must be 1 to 64 letters, digits, dots, underscores or hyphens",
			"%s/label", at);
	check_agent(reader, package->agent, at);
	if (redo != NULL && !json_is_boolean(redo))
		fault_list_add(&reader->faults, "must be true or false", "%s/redo", at);
	return read_content(reader, object, at, package);
}

/* ---- dependencies */

static bool find_label(const struct reader *reader, struct str label, size_t *ret_index)
{
	for (size_t i = 0; label.bytes != NULL && i < reader->plan->package_count; i++) {
		if (str_equal(reader->packages[i].label, label)) {
			*ret_index = i;
			return true;
		}
	}
	return false;
}

static int compare_indexes(const void *a, const void *b)
{
	size_t first = *(const size_t *)a;
	size_t second = *(const size_t *)b;

	return (first > second) - (first < second);
}

static void read_dependency(
	struct reader *reader, size_t index, size_t position, const json_t *item, size_t *indexes, size_t *count)
{
	size_t target = 0;

	if (!find_label(reader, text_of(item), &target)) {
		fault_list_add(&reader->faults, "names no package of this plan", "/packages/%zu/dependsOn/%zu", index,
			position);
		return;
	}
	if (target == index) {
		fault_list_add(
			&reader->faults, "names the package itself", "/packages/%zu/dependsOn/%zu", index, position);
		return;
	}
	for (size_t i = 0; i < *count; i++) {
		if (indexes[i] == target) {
			fault_list_add(
				&reader->faults, "is named twice", "/packages/%zu/dependsOn/%zu", index, position);
			return;
		}
	}
	indexes[(*count)++] = target;
}

static int read_dependencies(struct reader *reader, const json_t *object, size_t index)
{
	struct plan_package *package = &reader->packages[index];
	const json_t *array = json_object_get(object, "dependsOn");
	size_t size = json_array_size(array);
	size_t *indexes = NULL;

	if (array != NULL && !json_is_array(array))
		fault_list_add(&reader->faults, "must be an array of labels", "/packages/%zu/dependsOn", index);
	if (size > PLAN_PACKAGE_LIMIT) {
		fault_list_add(&reader->faults, "has more than 200 items", "/packages/%zu/dependsOn", index);
		return 0;
	}
	indexes = ARENA_ARRAY(reader->arena, size, size_t);
	if (indexes == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < size; i++)
		read_dependency(reader, index, i, json_array_get(array, i), indexes, &package->depends_on_count);
	if (package->depends_on_count > 1)
		qsort(indexes, package->depends_on_count, sizeof(*indexes), compare_indexes);
	package->depends_on = indexes;
	return 0;
}

enum mark { MARK_NEW = 0, MARK_OPEN, MARK_DONE };

/* Depth-first, at most PLAN_PACKAGE_LIMIT deep; an edge to an open package closes a cycle. */
static void find_cycles(struct reader *reader, size_t index, enum mark *marks)
{
	const struct plan_package *package = &reader->packages[index];

	marks[index] = MARK_OPEN;
	for (size_t i = 0; i < package->depends_on_count; i++) {
		size_t next = package->depends_on[i];

		if (marks[next] == MARK_OPEN)
			fault_list_add(&reader->faults, "closes a cycle", "/packages/%zu/dependsOn", index);
		else if (marks[next] == MARK_NEW)
			find_cycles(reader, next, marks);
	}
	marks[index] = MARK_DONE;
}

static int check_graph(struct reader *reader, const json_t *array)
{
	enum mark *marks = ARENA_ARRAY(reader->arena, reader->plan->package_count, enum mark);
	int r = marks != NULL ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < reader->plan->package_count; i++) {
		size_t first = i;

		if (find_label(reader, reader->packages[i].label, &first) && first != i)
			fault_list_add(
				&reader->faults, "is the label of another package too", "/packages/%zu/label", i);
		r = read_dependencies(reader, json_array_get(array, i), i);
	}
	for (size_t i = 0; r == 0 && i < reader->plan->package_count; i++)
		if (marks[i] == MARK_NEW)
			find_cycles(reader, i, marks);
	return r;
}

/* ---- the plan */

static int read_packages(struct reader *reader, const json_t *array)
{
	size_t count = json_array_size(array);
	int r = 0;

	if (!json_is_array(array) || count == 0 || count > PLAN_PACKAGE_LIMIT) {
		fault_list_add(&reader->faults, "must be an array of 1 to 200 packages", "/packages");
		return 0;
	}
	reader->packages = ARENA_ARRAY(reader->arena, count, struct plan_package);
	if (reader->packages == NULL)
		return -ENOMEM;
	reader->plan->packages = reader->packages;
	reader->plan->package_count = count;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = read_package(reader, json_array_get(array, i), i);
	return r != 0 ? r : check_graph(reader, array);
}

/* {project, document, agent?, promptOverlays?}: one package without a name of its own. */
static int read_single(struct reader *reader, const json_t *body)
{
	static const char *const known[] = {"project", "document", "agent", "promptOverlays", NULL};
	const json_t *agent = json_object_get(body, "agent");

	check_members(reader, body, "", known);
	reader->packages = ARENA_NEW(reader->arena, struct plan_package);
	if (reader->packages == NULL)
		return -ENOMEM;
	reader->packages->label = STR("document");
	reader->packages->agent = agent != NULL ? text_of(agent) : STR("document");
	reader->plan->packages = reader->packages;
	reader->plan->package_count = 1;
	if (agent != NULL)
		check_agent(reader, reader->packages->agent, "");
	return read_content(reader, body, "", reader->packages);
}

static void read_head(struct reader *reader, const json_t *body)
{
	const json_t *title = json_object_get(body, "title");

	reader->plan->project = text_of(json_object_get(body, "project"));
	reader->plan->title = title != NULL ? text_of(title) : STR("");
	if (!name_check_id(reader->plan->project))
		fault_list_add(&reader->faults, "must be a project's id", "/project");
	if ((title == NULL && reader->form == PLAN_FORM_TASK) || reader->plan->title.bytes == NULL ||
		(title != NULL && reader->plan->title.len == 0) || count_characters(reader->plan->title) > TITLE_LIMIT)
		fault_list_add(&reader->faults, "must be a text of 1 to 240 characters", "/title");
}

static int read_body(struct reader *reader, const json_t *body)
{
	static const char *const known[] = {"project", "title", "packages", NULL};

	if (!json_is_object(body)) {
		fault_list_add(&reader->faults, "must be an object", "%s", "");
		return 0;
	}
	read_head(reader, body);
	if (reader->form == PLAN_FORM_PREVIEW && json_object_get(body, "document") != NULL)
		return read_single(reader, body);
	check_members(reader, body, "", known);
	return read_packages(reader, json_object_get(body, "packages"));
}

static void write_package(const struct plan *plan, const struct plan_package *package, struct json_out *out)
{
	json_out_begin_object(out);
	json_out_member_str(out, "agent", package->agent);
	json_out_key(out, "dependsOn");
	json_out_begin_array(out);
	for (size_t i = 0; i < package->depends_on_count; i++)
		json_out_str(out, plan->packages[package->depends_on[i]].label);
	json_out_end_array(out);
	json_out_member_str(out, "document", package->document_digest);
	json_out_member_str(out, "label", package->label);
	json_out_key(out, "promptOverlays");
	json_out_begin_object(out);
	for (size_t i = 0; i < package->overlay_count; i++) {
		json_out_key_str(out, package->overlays[i].requirement_key);
		json_out_text(out, package->overlays[i].digest);
	}
	json_out_end_object(out);
	json_out_member_bool(out, "redo", package->redo);
	json_out_end_object(out);
}

static int name_plan(struct arena *arena, struct plan *plan)
{
	CLEANUP(buf_drop) struct buf buf = {0};
	struct json_out out;
	char digest[DIGEST_TEXT_SIZE];
	int r = 0;

	buf_init(&buf, DOCUMENT_CEILING);
	json_out_init(&out, &buf);
	json_out_begin_object(&out);
	json_out_key(&out, "packages");
	json_out_begin_array(&out);
	for (size_t i = 0; i < plan->package_count; i++)
		write_package(plan, &plan->packages[i], &out);
	json_out_end_array(&out);
	json_out_member_str(&out, "project", plan->project);
	json_out_member_str(&out, "title", plan->title);
	json_out_end_object(&out);
	r = buf_error(&buf);
	if (r != 0)
		return r;
	digest_text(buf_str(&buf), digest);
	plan->digest = arena_str(arena, (struct str){digest, strlen(digest)});
	return plan->digest.bytes != NULL ? 0 : -ENOMEM;
}

int plan_read(struct arena *arena, const json_t *body, enum plan_form form, struct plan *ret_plan,
	struct lifecycle_refusal *ret_refusal)
{
	struct reader reader = {.arena = arena, .faults.arena = arena, .plan = ret_plan, .form = form};
	int r = 0;

	*ret_plan = (struct plan){0};
	r = read_body(&reader, body);
	if (r == 0)
		r = fault_list_result(&reader.faults, ret_refusal);
	return r != 0 ? r : name_plan(arena, ret_plan);
}
