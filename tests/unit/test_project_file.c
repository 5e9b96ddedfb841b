/* A file of somebody's project is replaced whole, never over what another wrote meanwhile, and links are not followed (chapter 5.8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "agents/project_file.h"

enum { LIMIT = 4096 };

static const char name[] = "settings.json";

struct scene {
	char path[64];
	int folder;
	struct arena arena;
	struct project_file file;
};

static void put(const struct scene *scene, const char *file, const char *text)
{
	int out = openat(scene->folder, file, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(out >= 0);
	assert_int_equal(write(out, text, strlen(text)), (ssize_t)strlen(text));
	close(out);
}

/* A text in place of the file, as an editor that renames would put it. */
static void replace(const struct scene *scene, const char *text)
{
	put(scene, "theirs", text);
	assert_int_equal(renameat(scene->folder, "theirs", scene->folder, name), 0);
}

static void assert_holds(const struct scene *scene, const char *file, const char *wanted)
{
	char text[LIMIT] = "";
	int in = openat(scene->folder, file, O_RDONLY);

	assert_true(in >= 0);
	assert_true(read(in, text, sizeof(text) - 1) >= 0);
	close(in);
	assert_string_equal(text, wanted);
}

static size_t count_entries(const struct scene *scene)
{
	DIR *entries = opendir(scene->path);
	size_t count = 0;

	assert_non_null(entries);
	for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries))
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(entries);
	return count;
}

static void begin(struct scene *scene, const char *text)
{
	memcpy(scene->path, "/tmp/project_file.XXXXXX", sizeof("/tmp/project_file.XXXXXX"));
	assert_non_null(mkdtemp(scene->path));
	scene->folder = -1;
	assert_int_equal(project_folder_open(AT_FDCWD, scene->path, &scene->folder), 0);
	arena_init(&scene->arena, 1024 * 1024);
	if (text != NULL)
		put(scene, name, text);
	assert_int_equal(project_file_read(&scene->arena, scene->folder, name, LIMIT, &scene->file), 0);
}

/* Nothing of ours may be left beside the file. */
static void end(struct scene *scene, size_t entries)
{
	assert_int_equal(count_entries(scene), entries);
	unlinkat(scene->folder, name, 0);
	unlinkat(scene->folder, "other", 0);
	close(scene->folder);
	assert_int_equal(rmdir(scene->path), 0);
	arena_release(&scene->arena);
}

static void a_file_is_replaced_and_keeps_its_mode(void **state)
{
	struct scene scene;
	struct stat seen;

	(void)state;
	begin(&scene, "old");
	assert_int_equal(fchmodat(scene.folder, name, 0640, 0), 0);
	assert_int_equal(project_file_read(&scene.arena, scene.folder, name, LIMIT, &scene.file), 0);
	assert_true(str_is(scene.file.text, "old"));
	assert_int_equal(project_file_publish(scene.folder, &scene.file, STR("new text")), 0);
	assert_holds(&scene, name, "new text");
	assert_int_equal(fstatat(scene.folder, name, &seen, 0), 0);
	assert_int_equal(seen.st_mode & 07777, 0640);
	end(&scene, 1);
}

static void a_new_file_has_the_usual_mode(void **state)
{
	struct scene scene;
	struct stat seen;
	mode_t mask = umask(027);

	(void)state;
	begin(&scene, NULL);
	assert_int_equal(scene.file.class, PROJECT_FILE_ABSENT);
	assert_int_equal(project_file_publish(scene.folder, &scene.file, STR("new")), 0);
	umask(mask);
	assert_holds(&scene, name, "new");
	assert_int_equal(fstatat(scene.folder, name, &seen, 0), 0);
	assert_int_equal(seen.st_mode & 07777, 0640);
	end(&scene, 1);
}

static void what_another_wrote_meanwhile_stays(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, "old");
	put(&scene, name, "odd"); /* in place, of the same length */
	assert_int_equal(project_file_publish(scene.folder, &scene.file, STR("ours")), PROJECT_FILE_CHANGED);
	assert_holds(&scene, name, "odd");
	end(&scene, 1);
	begin(&scene, "old");
	replace(&scene, "old"); /* the same text, and yet another file */
	assert_int_equal(project_file_publish(scene.folder, &scene.file, STR("ours")), PROJECT_FILE_CHANGED);
	end(&scene, 1);
	begin(&scene, "old");
	replace(&scene, "theirs, and longer than it was");
	assert_int_equal(project_file_publish(scene.folder, &scene.file, STR("ours")), PROJECT_FILE_CHANGED);
	assert_int_equal(project_file_delete(scene.folder, &scene.file), PROJECT_FILE_CHANGED);
	assert_holds(&scene, name, "theirs, and longer than it was");
	end(&scene, 1);
}

/* ---- between the last look and the change of places */

/* What somebody else does before each renameat2() of ours, by its number; NULL: nothing, and the call goes through. */
static const struct scene *others;
static const char *const *writes;
static int renames;
static int refusal; /* an errno that every call ends with instead */

int __real_renameat2(int from, const char *old, int to, const char *new, unsigned flags);
int __wrap_renameat2(int from, const char *old, int to, const char *new, unsigned flags);

int __wrap_renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
	if (refusal != 0) {
		errno = refusal;
		return -1;
	}
	if (writes != NULL && writes[renames] != NULL)
		replace(others, writes[renames++]);
	return __real_renameat2(from, old, to, new, flags);
}

static void what_is_written_in_the_last_moment_comes_back(void **state)
{
	static const char *const once[] = {"theirs", NULL};
	static const char *const twice[] = {"first", "second", NULL};
	static const char *const thrice[] = {"first", "second", "third", NULL};
	static const char *const often[] = {"1", "2", "3", "4", "5", "6", "7", NULL};
	static const struct {
		const char *const *writes;
		int renames;
		const char *left;
	} races[] = {{once, 1, "theirs"}, {twice, 2, "second"}, {thrice, 3, "third"}, {often, 7, "7"}};
	struct scene scene;

	(void)state;
	for (size_t i = 0; i < sizeof(races) / sizeof(races[0]); i++) {
		begin(&scene, "old");
		others = &scene;
		writes = races[i].writes;
		renames = 0;
		assert_int_equal(project_file_publish(scene.folder, &scene.file, STR("ours")), PROJECT_FILE_CHANGED);
		writes = NULL;
		assert_int_equal(renames, races[i].renames);
		assert_holds(&scene, name, races[i].left);
		end(&scene, 1);
	}
}

static void a_file_system_that_cannot_change_places_is_served_too(void **state)
{
	struct scene scene;

	(void)state;
	refusal = EINVAL;
	begin(&scene, "old");
	assert_int_equal(project_file_publish(scene.folder, &scene.file, STR("ours")), 0);
	assert_holds(&scene, name, "ours");
	end(&scene, 1);
	begin(&scene, "old");
	put(&scene, name, "odd");
	assert_int_equal(project_file_publish(scene.folder, &scene.file, STR("ours")), PROJECT_FILE_CHANGED);
	assert_holds(&scene, name, "odd");
	end(&scene, 1);
	begin(&scene, NULL);
	assert_int_equal(project_file_publish(scene.folder, &scene.file, STR("ours")), 0);
	assert_holds(&scene, name, "ours");
	end(&scene, 1);
	begin(&scene, NULL);
	put(&scene, name, "theirs");
	assert_int_equal(project_file_publish(scene.folder, &scene.file, STR("ours")), PROJECT_FILE_CHANGED);
	assert_holds(&scene, name, "theirs");
	end(&scene, 1);
	refusal = 0;
}

static void a_file_that_came_or_went_meanwhile_is_noticed(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, NULL);
	put(&scene, name, "theirs");
	assert_int_equal(project_file_publish(scene.folder, &scene.file, STR("ours")), PROJECT_FILE_CHANGED);
	assert_holds(&scene, name, "theirs");
	end(&scene, 1);
	begin(&scene, "old");
	assert_int_equal(unlinkat(scene.folder, name, 0), 0);
	assert_int_equal(project_file_publish(scene.folder, &scene.file, STR("ours")), PROJECT_FILE_CHANGED);
	assert_int_equal(project_file_delete(scene.folder, &scene.file), PROJECT_FILE_CHANGED);
	end(&scene, 0);
}

static void a_link_that_took_the_place_is_not_written_through(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, "old");
	put(&scene, "other", "untouched");
	assert_int_equal(unlinkat(scene.folder, name, 0), 0);
	assert_int_equal(symlinkat("other", scene.folder, name), 0);
	assert_int_equal(project_file_publish(scene.folder, &scene.file, STR("ours")), PROJECT_FILE_CHANGED);
	assert_holds(&scene, "other", "untouched");
	assert_int_equal(project_file_read(&scene.arena, scene.folder, name, LIMIT, &scene.file), 0);
	assert_int_equal(scene.file.class, PROJECT_FILE_ODD);
	assert_null(scene.file.text.bytes);
	end(&scene, 2);
}

static void what_a_kill_left_is_swept_and_nothing_else(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, "old");
	put(&scene, ".settings.json.admitd-0123456789abcdef.tmp", "half");
	put(&scene, "other", ".settings.json.admitd-0.tmp");
	project_folder_sweep(scene.folder, name);
	assert_holds(&scene, name, "old");
	assert_holds(&scene, "other", ".settings.json.admitd-0.tmp");
	end(&scene, 2);
}

static void no_more_than_the_limit_is_read(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, "0123456789");
	assert_int_equal(project_file_read(&scene.arena, scene.folder, name, 4, &scene.file), 0);
	assert_int_equal(scene.file.text.len, 5);
	end(&scene, 1);
}

static void a_file_is_deleted_if_it_is_what_was_read(void **state)
{
	struct scene scene;

	(void)state;
	begin(&scene, "old");
	assert_int_equal(project_file_delete(scene.folder, &scene.file), 0);
	end(&scene, 0);
}

static void a_folder_that_is_a_link_is_not_opened(void **state)
{
	struct scene scene;
	int folder = -1;

	(void)state;
	begin(&scene, "old");
	assert_int_equal(symlinkat(".", scene.folder, "other"), 0);
	assert_int_equal(project_folder_open(scene.folder, "other", &folder), -ELOOP);
	assert_int_equal(project_folder_open(scene.folder, name, &folder), -ENOTDIR);
	assert_int_equal(project_folder_open(scene.folder, "absent", &folder), -ENOENT);
	assert_int_equal(folder, -1);
	end(&scene, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_replaced_and_keeps_its_mode),
		cmocka_unit_test(a_new_file_has_the_usual_mode),
		cmocka_unit_test(what_another_wrote_meanwhile_stays),
		cmocka_unit_test(what_is_written_in_the_last_moment_comes_back),
		cmocka_unit_test(a_file_system_that_cannot_change_places_is_served_too),
		cmocka_unit_test(a_file_that_came_or_went_meanwhile_is_noticed),
		cmocka_unit_test(a_link_that_took_the_place_is_not_written_through),
		cmocka_unit_test(what_a_kill_left_is_swept_and_nothing_else),
		cmocka_unit_test(no_more_than_the_limit_is_read),
		cmocka_unit_test(a_file_is_deleted_if_it_is_what_was_read),
		cmocka_unit_test(a_folder_that_is_a_link_is_not_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
