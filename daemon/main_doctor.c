#include "daemon/main_doctor.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "daemon/audit/audit_file.h"
#include "daemon/lifecycle/time_text.h"
#include "daemon/main_first.h"
#include "daemon/store/catalog.h"
#include "policy/cleanup.h"

enum { WORK_BYTES = 16 * 1024 * 1024, OUT_BYTES = 1024 * 1024, LEAST_FREE_PERCENT = 5 };

enum grade { GRADE_BAD = 0, GRADE_ODD, GRADE_GOOD };

struct doctor {
	struct buf buf;
	struct json_out out;
	bool is_json;
	bool is_bad;
};

/* A finding: what was looked at, what there is, and, unless it is good, the way out. */
__attribute__((format(printf, 5, 6))) static void find(
	struct doctor *doctor, enum grade grade, const char *what, const char *way_out, const char *format, ...)
{
	static const char *const words[] = {"wrong", "odd", "good"};
	char text[512];
	va_list values;

	va_start(values, format);
	(void)vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	doctor->is_bad |= grade == GRADE_BAD;
	if (!doctor->is_json) {
		buf_printf(&doctor->buf, "%-5s  %-12s %s%s%s\n", words[grade], what, text,
			grade == GRADE_GOOD ? "" : ": ", grade == GRADE_GOOD ? "" : way_out);
		return;
	}
	json_out_begin_object(&doctor->out);
	json_out_member_text(&doctor->out, "what", what);
	json_out_member_text(&doctor->out, "grade", words[grade]);
	json_out_member_text(&doctor->out, "finding", text);
	json_out_member_text(&doctor->out, "wayOut", grade == GRADE_GOOD ? NULL : way_out);
	json_out_end_object(&doctor->out);
}

static void look_at_mode(struct doctor *doctor, const char *path, const char *name, mode_t wanted, bool is_needed)
{
	struct stat facts;

	if (lstat(path, &facts) != 0) {
		if (is_needed)
			find(doctor, GRADE_BAD, name, "start admitd once with this --state, or name another",
				"it is not there");
		return;
	}
	if (facts.st_uid != geteuid())
		find(doctor, GRADE_ODD, name, "chown it to the user who runs admitd", "it belongs to user %u",
			(unsigned)facts.st_uid);
	else if ((facts.st_mode & 07777) != wanted)
		find(doctor, GRADE_BAD, name, "admitd tightens it when it starts; see what others read meanwhile",
			"its mode is %o, not %o", (unsigned)(facts.st_mode & 07777), (unsigned)wanted);
	else
		find(doctor, GRADE_GOOD, name, NULL, "mode %o", (unsigned)wanted);
}

static void look_at_files(struct doctor *doctor, const char *state)
{
	static const struct {
		const char *name;
		bool is_needed;
	} files[] = {{STORE_FILE, true}, {MAIN_ADMIN_FILE, false}, {MAIN_KEY_FILE, true}};

	look_at_mode(doctor, state, "state folder", 0700, true);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		CLEANUP(free_drop) char *path = NULL;

		if (asprintf(&path, "%s/%s", state, files[i].name) < 0) {
			path = NULL; /* asprintf leaves it undefined */
			return;
		}
		look_at_mode(doctor, path, files[i].name, 0600, files[i].is_needed);
	}
}

/* A backup needs as much again beside the store. */
static void look_at_space(struct doctor *doctor, const char *state, const char *database)
{
	struct statvfs space;
	struct stat facts;
	unsigned long long free_bytes = 0;

	if (statvfs(state, &space) != 0 || stat(database, &facts) != 0)
		return;
	free_bytes = (unsigned long long)space.f_bavail * space.f_frsize;
	if (space.f_bavail < space.f_blocks / 100 * LEAST_FREE_PERCENT ||
		free_bytes < (unsigned long long)facts.st_size)
		find(doctor, GRADE_ODD, "disk",
			"make room; a backup needs as much as the store, and a full disk stops every write",
			"%llu MiB are free, the store has %llu MiB", free_bytes >> 20,
			(unsigned long long)facts.st_size >> 20);
	else
		find(doctor, GRADE_GOOD, "disk", NULL, "%llu MiB are free, the store has %llu MiB", free_bytes >> 20,
			(unsigned long long)facts.st_size >> 20);
}

/* ---- the store */

struct facts {
	struct store_chain head;
	struct store_checkpoint last;
	struct store_catalog catalog;
	bool has_checkpoint;
	bool has_catalog;
};

static int run_facts(struct store_tx *tx, void *arg)
{
	struct facts *facts = arg;
	int r = store_checkpoint_last(tx, &facts->last);

	facts->has_checkpoint = r == 0;
	if (r == 0 || r == STORE_ABSENT)
		r = store_catalog_current(tx, &facts->catalog);
	facts->has_catalog = r == 0;
	return r == STORE_ABSENT ? 0 : r;
}

static void look_at_checkpoint(struct doctor *doctor, const struct facts *facts, const struct config_audit *set,
	const struct main_audit *audit)
{
	int64_t rows = facts->head.sequence - facts->last.sequence;
	int64_t age_s = (main_first_now_ms() - facts->last.at) / 1000;
	int64_t longest_s = set->every_seconds != 0 ? set->every_seconds : AUDIT_EVERY_SECONDS;

	if (!facts->has_checkpoint)
		find(doctor, GRADE_ODD, "checkpoint", "start admitd: it makes one at once", "there is none yet");
	else if (rows > 0 && age_s > 2 * longest_s)
		find(doctor, GRADE_BAD, "checkpoint", "start admitd, or read in its log why none can be made",
			"the last one is %lld min old, with %lld rows behind it", (long long)age_s / 60,
			(long long)rows);
	else
		find(doctor, GRADE_GOOD, "checkpoint", NULL,
			"number %lld at row %lld, %lld min old, %lld rows behind it", (long long)facts->last.number,
			(long long)facts->last.sequence, (long long)age_s / 60, (long long)rows);
	if (!audit->has_key)
		find(doctor, GRADE_ODD, "audit key", "make one with admitd audit-key and set [audit] key_file",
			"checkpoints are NOT SIGNED");
	else if (facts->has_checkpoint && !str_is(facts->last.key_id, audit->key.id))
		find(doctor, GRADE_ODD, "audit key",
			"start admitd with this key; keep the old one's public part in [audit] trust",
			"the last checkpoint is not signed by key %s", audit->key.id);
	else
		find(doctor, GRADE_GOOD, "audit key", NULL, "%s", audit->key.id);
}

static void look_at_export(struct doctor *doctor, struct store *store, const struct facts *facts, const char *folder)
{
	struct store_checkpoint last = {0};
	int r = 0;

	if (folder == NULL) {
		find(doctor, GRADE_ODD, "export", "set [audit] export_folder to a folder on another machine",
			"checkpoints are NOT EXPORTED");
		return;
	}
	r = audit_file_last(folder, store_identity(store), &last);
	if (r != 0)
		find(doctor, GRADE_BAD, "export",
			r == AUDIT_FILE_FOREIGN ? "give this store an export folder of its own"
						: "look at its checkpoints.jsonl",
			"%s",
			r < 0                             ? strerrordesc_np(-r)
				: r == AUDIT_FILE_FOREIGN ? "its checkpoints are of another store"
							  : "it has a line that is none");
	else if (last.number > facts->last.number && last.epoch >= facts->last.epoch)
		find(doctor, GRADE_BAD, "export", "run admitd audit-verify: rows of the log were lost, or cut off",
			"checkpoint %lld was exported, the store knows %lld", (long long)last.number,
			(long long)facts->last.number);
	else if (last.number < facts->last.number)
		find(doctor, GRADE_ODD, "export", "start admitd: it exports what is missing", "checkpoint %lld of %lld",
			(long long)last.number, (long long)facts->last.number);
	else
		find(doctor, GRADE_GOOD, "export", NULL, "up to checkpoint %lld", (long long)last.number);
}

static void look_inside(
	struct doctor *doctor, const char *database, const struct config *config, const struct main_audit *audit)
{
	CLEANUP(arena_release) struct arena arena = {.ceiling = WORK_BYTES};
	CLEANUP(store_drop) struct store *store = NULL;
	struct facts facts = {0};
	int r = store_open_file(database, &store);

	if (r == 0)
		r = store_inspect(store, false, &facts.head);
	if (r == 0)
		r = store_read(store, &arena, run_facts, &facts);
	if (r != 0) {
		find(doctor, GRADE_BAD, "store", main_first_fault(r), "it can't be opened");
		return;
	}
	find(doctor, GRADE_GOOD, "store", NULL, "%.*s, the log ends at row %lld", (int)store_identity(store).len,
		store_identity(store).bytes, (long long)facts.head.sequence);
	if (facts.has_catalog)
		find(doctor, GRADE_GOOD, "catalog", NULL, "%.*s", (int)facts.catalog.digest.len,
			facts.catalog.digest.bytes);
	else
		find(doctor, GRADE_ODD, "catalog", "start admitd once", "none is in force yet");
	look_at_checkpoint(doctor, &facts, &config->audit, audit);
	look_at_export(doctor, store, &facts, config->audit.export_folder);
}

int main_doctor(
	const struct options *options, const struct config *config, const struct main_audit *audit, const char *state)
{
	CLEANUP(free_drop) char *database = NULL;
	struct doctor doctor = {.is_json = options->is_json};
	bool is_done = false;

	if (asprintf(&database, "%s/%s", state, STORE_FILE) < 0) {
		database = NULL; /* asprintf leaves it undefined */
		return EXIT_FAILURE;
	}
	buf_init(&doctor.buf, OUT_BYTES);
	json_out_init(&doctor.out, &doctor.buf);
	if (doctor.is_json)
		json_out_begin_array(&doctor.out);
	look_at_files(&doctor, state);
	look_at_space(&doctor, state, database);
	look_inside(&doctor, database, config, audit);
	if (doctor.is_json) {
		json_out_end_array(&doctor.out);
		buf_putc(&doctor.buf, '\n');
	}
	is_done = buf_error(&doctor.buf) == 0 && fwrite(doctor.buf.bytes, 1, doctor.buf.len, stdout) == doctor.buf.len;
	buf_release(&doctor.buf);
	return is_done && !doctor.is_bad ? 0 : EXIT_FAILURE;
}
