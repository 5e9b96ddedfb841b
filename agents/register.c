#include "agents/register.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "agents/register_edit.h"
#include "policy/cleanup.h"
#include "policy/json_out.h"

static const char mcp_path[] = ".mcp.json";
static const char claude_name[] = ".claude";
static const char settings_name[] = "settings.json";
static const char settings_path[] = ".claude/settings.json";

enum { ENTRY_CEILING = 64 * 1024 };

const char *register_code_name(enum register_code code)
{
	static const char *const names[] = {
		[REGISTER_FAILED] = "failed",
		[REGISTER_ROOT] = "root_unusable",
		[REGISTER_CLASS] = "wrong_class",
		[REGISTER_MALFORMED] = "malformed",
		[REGISTER_DIFFERS] = "differs",
		[REGISTER_CHANGED] = "changed",
	};

	return names[code];
}

int register_refuse(
	struct register_job *job, enum register_code code, const struct register_file *file, const char *format, ...)
{
	va_list args;

	job->fault.code = code;
	job->fault.file = file == NULL ? NULL : file->path;
	va_start(args, format);
	(void)vsnprintf(job->fault.text, sizeof(job->fault.text), format, args);
	va_end(args);
	return REGISTER_REFUSED;
}

/* A result of project_file.h about a file. */
static int refuse_result(struct register_job *job, const struct register_file *file, int result)
{
	if (result == -ENOMEM)
		return result;
	if (result == PROJECT_FILE_CHANGED)
		return register_refuse(job, REGISTER_CHANGED, file,
			"somebody else wrote it in the meantime; theirs stands, run this again");
	return register_refuse(job, REGISTER_FAILED, file, "%s", strerror(-result));
}

struct str register_entry(struct arena *arena, struct str command, const char *const *args, size_t count)
{
	struct str entry;
	struct json_out out;
	struct buf buf;

	buf_init(&buf, ENTRY_CEILING);
	json_out_init(&out, &buf);
	json_out_begin_object(&out);
	json_out_member_text(&out, "type", "stdio");
	json_out_member_str(&out, "command", command);
	json_out_key(&out, "args");
	json_out_begin_array(&out);
	for (size_t i = 0; i < count; i++)
		json_out_text(&out, args[i]);
	json_out_end_array(&out);
	json_out_end_object(&out);
	entry = buf_error(&buf) == 0 ? arena_str(arena, buf_str(&buf)) : (struct str){0};
	buf_release(&buf);
	return entry;
}

/* ---- judging */

static int judge_root(struct register_job *job, const char *root)
{
	size_t len = strlen(root);
	char *name = arena_copy(job->arena, root, len);
	int r;

	if (name == NULL)
		return -ENOMEM;
	/* "link/" and "link/." name what the link leads to; it is judged as "link". */
	while (len > 1 && (name[len - 1] == '/' || (name[len - 1] == '.' && name[len - 2] == '/')))
		name[--len] = '\0';
	r = project_folder_open(AT_FDCWD, name, &job->root);
	if (r == 0 || r == -ENOMEM)
		return r;
	if (r == -ELOOP)
		return register_refuse(job, REGISTER_ROOT, NULL, "is a symbolic link; name the folder itself");
	return register_refuse(job, REGISTER_ROOT, NULL, "%s", strerror(-r));
}

static int judge_claude(struct register_job *job)
{
	static const struct register_file folder = {.path = claude_name};
	int r = project_folder_open(job->root, claude_name, &job->claude);

	if (r == 0 || r == -ENOENT)
		return 0;
	if (r == -ELOOP)
		return register_refuse(job, REGISTER_CLASS, &folder, "is a symbolic link, which isn't followed");
	if (r == -ENOTDIR)
		return register_refuse(job, REGISTER_CLASS, &folder, "is no folder");
	return refuse_result(job, &folder, r);
}

/* What may be read must be JSON with an object. */
static int judge_text(struct register_job *job, const struct register_file *file)
{
	struct json_scan_fault fault;
	int r = json_scan_check(file->now.text, &fault);

	if (r == JSON_SCAN_REFUSED)
		return register_refuse(job, REGISTER_MALFORMED, file, "line %zu, column %zu: %s", fault.line,
			fault.column, json_scan_words(fault.kind));
	if (r == 0 && json_scan_type(file->now.text, json_scan_root(file->now.text)) != JSON_SCAN_OBJECT)
		return register_refuse(job, REGISTER_MALFORMED, file, "must hold an object");
	return r;
}

static int judge_file(struct register_job *job, struct register_file *file, int folder, const char *name, bool may_mask)
{
	int r = project_file_read(job->arena, folder, name, JSON_SCAN_BYTES_LIMIT, &file->now);

	if (r != 0)
		return refuse_result(job, file, r);
	switch (file->now.class) {
	case PROJECT_FILE_ABSENT:
		return 0;
	case PROJECT_FILE_REGULAR:
		return judge_text(job, file);
	case PROJECT_FILE_SPECIAL:
		if (may_mask) {
			job->is_masked = true;
			return 0;
		}
		break;
	case PROJECT_FILE_ODD:
		break;
	}
	return register_refuse(job, REGISTER_CLASS, file, "is a %s, and must be a regular file", file->now.kind);
}

int register_open(struct register_job *job, const char *root)
{
	int r;

	job->root = job->claude = -1;
	job->mcp.path = mcp_path;
	job->settings.path = settings_path;
	r = judge_root(job, root);
	if (r == 0)
		r = judge_claude(job);
	if (r == 0)
		r = judge_file(job, &job->mcp, job->root, mcp_path, true);
	if (r == 0)
		r = register_edit_check_mcp(job);
	if (r == 0)
		r = judge_file(job, &job->settings, job->claude, settings_name, false);
	if (r == 0)
		r = register_edit_check_settings(job);
	if (r == 0)
		r = register_edit_mcp(job);
	if (r == 0)
		r = register_edit_settings(job);
	return r;
}

void register_close(struct register_job *job)
{
	project_folder_drop(&job->claude);
	project_folder_drop(&job->root);
}

bool register_is_done(const struct register_job *job)
{
	return !job->is_masked && job->mcp.change_count == 0 && job->settings.change_count == 0;
}

/* ---- doing it */

static int apply_file(struct register_job *job, const struct register_file *file, int folder)
{
	int r = 0;

	if (file->is_deleted)
		r = project_file_delete(folder, &file->now);
	else if (file->after.bytes != NULL)
		r = project_file_publish(folder, &file->now, file->after);
	return r == 0 ? 0 : refuse_result(job, file, r);
}

/* The folder for settings that are to be made. *ret_is_new says whether it is to be taken away again. */
static int make_claude(struct register_job *job, bool *ret_is_new)
{
	int r;

	*ret_is_new = false;
	if (job->claude >= 0 || job->settings.after.bytes == NULL)
		return 0;
	if (mkdirat(job->root, claude_name, 0777) == 0)
		*ret_is_new = true;
	else
		return refuse_result(job, &job->settings, errno == EEXIST ? PROJECT_FILE_CHANGED : -errno);
	r = project_folder_open(job->root, claude_name, &job->claude);
	if (r == 0 && fsync(job->root) != 0)
		r = -errno;
	return r == 0 ? 0 : refuse_result(job, &job->settings, r);
}

static int apply_settings(struct register_job *job)
{
	bool is_new;
	int r = make_claude(job, &is_new);

	if (r == 0)
		r = apply_file(job, &job->settings, job->claude);
	if ((r != 0 && is_new) || (r == 0 && job->settings.is_deleted))
		(void)unlinkat(job->root, claude_name, AT_REMOVEDIR); /* stays if anything is in it */
	return r;
}

int register_apply(struct register_job *job)
{
	int r;

	CHECK(!job->is_masked);
	r = project_folder_lock(job->root);
	if (r == -EBUSY)
		return register_refuse(
			job, REGISTER_FAILED, NULL, "another admitctl has been registering here for some time");
	if (r != 0)
		return refuse_result(job, NULL, r);
	project_folder_sweep(job->root, mcp_path);
	if (job->claude >= 0)
		project_folder_sweep(job->claude, settings_name);
	r = apply_file(job, &job->mcp, job->root);
	return r == 0 ? apply_settings(job) : r;
}
