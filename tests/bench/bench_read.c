/* bench_read: searching 20 000 files costs about what ripgrep needs for them with one thread, and saying what 5000 paths are costs little more than
 * opening, asking and reading each one bare (chapter 6.1). Without the reading, which an inventory does for the lines, bare is faster still: that
 * figure misses its goal where most of the paths are files. `inventoryFloor` is what an inventory that judged and wrote nothing would have: one
 * opening, one `fstat` and one read a file.
 *
 * Ours and its peer alternate in one run, with warm caches, in time of the processor (each has one thread); a figure is the median of the
 * rounds, with min and max beside it. ripgrep is
 * a process of its own, rg -F -j1 --no-ignore --hidden --sort path, ours a call in this one, as over MCP; the files have 1 to 7 KiB and a hit
 * in each hundredth. The inventory is over files, directories, links and names that aren't there.
 * Prints one JSON object; exits 1 when a ratio is beyond its bound, 2 without rg.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/openat2.h>
#include <spawn.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reader/inventory.h"
#include "reader/search.h"
#include "tests/bench/figure.h"

enum { FOLDERS = 200, FILES = 100, PATHS = 5000 };

extern char **environ;

/* ---- the tree */

static void write_file(const char *path, unsigned number)
{
	static const char *const words[] = {"static", "return", "struct", "reader", "while", "size", "entry", "walk",
		"(void)", "\n\t", ";\n", "= 0", "path", "buffer", "\n\n"};
	FILE *file = fopen(path, "w");
	unsigned seed = number * 2654435761u;

	CHECK(file != NULL);
	for (unsigned i = 0; i < 150 + number % 900; i++) {
		seed = seed * 1103515245 + 12345;
		fprintf(file, "%s ", words[(seed >> 16) % 15]);
	}
	if (number % 100 == 0)
		fputs("needle\n", file);
	CHECK(fclose(file) == 0);
}

static void make_tree(const char *root)
{
	char path[256];

	for (unsigned folder = 0; folder < FOLDERS; folder++) {
		snprintf(path, sizeof(path), "%s/d%03u", root, folder);
		CHECK(mkdir(path, 0755) == 0);
		for (unsigned file = 0; file < FILES; file++) {
			snprintf(path, sizeof(path), "%s/d%03u/f%03u.c", root, folder, file);
			write_file(path, folder * FILES + file);
		}
	}
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

/* ---- the search */

static double time_ms(struct timeval time)
{
	return (double)time.tv_sec * 1e3 + (double)time.tv_usec / 1e3;
}

static double run_ms(const char *const *argv)
{
	posix_spawn_file_actions_t actions;
	struct rusage used;
	pid_t child = 0;
	int status = 0;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&child, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ) != 0)
		exit(2);
	posix_spawn_file_actions_destroy(&actions);
	CHECK(wait4(child, &status, 0, &used) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return time_ms(used.ru_utime) + time_ms(used.ru_stime);
}

/* ---- the inventory */

static char names[PATHS][32];

/* Of twenty paths seventeen are files, one is a directory, one a link and one isn't there. */
static void make_paths(const char *root, struct str *items)
{
	char path[256];

	for (unsigned i = 0; i < PATHS; i++) {
		unsigned folder = i / FILES;

		snprintf(
			names[i], sizeof(names[i]), i % 20 == 18 ? "d%03u/none%u" : "d%03u/f%03u.c", folder, i % FILES);
		if (i % 20 == 19) {
			snprintf(names[i], sizeof(names[i]), "d%03u/l%03u", folder, i % FILES);
			snprintf(path, sizeof(path), "%s/%s", root, names[i]);
			CHECK(symlink("f000.c", path) == 0);
		}
		if (i % 20 == 17) {
			snprintf(names[i], sizeof(names[i]), "d%03u/s%03u", folder, i % FILES);
			snprintf(path, sizeof(path), "%s/%s", root, names[i]);
			CHECK(mkdir(path, 0755) == 0);
		}
		items[i] = (struct str){names[i], strlen(names[i])};
	}
}

static void read_again(int root_fd, const char *name, char *bytes, size_t size)
{
	int fd = openat(root_fd, name, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0 && read(fd, bytes, size) >= 0);
	close(fd);
}

/* With `bytes`, what is a file is read too, which an inventory does for its lines. */
static double bare_ms(int root_fd, char *bytes, size_t size)
{
	struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	double start = figure_cpu_ms();
	struct stat status;

	for (unsigned i = 0; i < PATHS; i++) {
		long fd = syscall(SYS_openat2, root_fd, names[i], &how, sizeof(how));

		if (fd < 0)
			continue;
		CHECK(fstat((int)fd, &status) == 0);
		if (bytes != NULL && S_ISREG(status.st_mode))
			read_again(root_fd, names[i], bytes, size);
		close((int)fd);
	}
	return figure_cpu_ms() - start;
}

/* One opening that reads, where there is a file; the two others as bare as above. */
static double floor_ms(int root_fd, char *bytes, size_t size)
{
	struct open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	double start = figure_cpu_ms();
	struct stat status;

	for (unsigned i = 0; i < PATHS; i++) {
		long fd = syscall(SYS_openat2, root_fd, names[i], &how, sizeof(how));

		if (fd < 0)
			continue;
		CHECK(fstat((int)fd, &status) == 0);
		if (S_ISREG(status.st_mode))
			CHECK(read((int)fd, bytes, size) >= 0);
		close((int)fd);
	}
	return figure_cpu_ms() - start;
}

static double search_ms_of(const struct contained_root *root, struct buf *answer)
{
	struct tools_refusal refusal;
	struct search_request request;
	double start = figure_cpu_ms();

	buf_reset(answer);
	search_request_init(&request);
	request.pattern = STR("needle");
	request.max = SEARCH_MATCHES_LIMIT;
	request.max_entries = SEARCH_ENTRIES_LIMIT;
	request.max_total_bytes = SEARCH_TOTAL_BYTES_LIMIT;
	CHECK(search_run(root, &request, answer, &refusal) == 0);
	return figure_cpu_ms() - start;
}

static double inventory_ms(const struct contained_root *root, struct str *items, struct buf *answer)
{
	struct inventory_request request;
	double start = figure_cpu_ms();

	buf_reset(answer);
	inventory_request_init(&request);
	request.paths = (struct arguments_names){items, PATHS};
	request.max_total_bytes = INVENTORY_TOTAL_BYTES_LIMIT;
	CHECK(inventory_run(root, &request, answer) == 0);
	return figure_cpu_ms() - start;
}

int main(void)
{
	static struct str items[PATHS];
	static char bytes[65536];
	char root_path[] = "/tmp/admitd-bench.XXXXXX";
	const char *peer[] = {
		"rg", "-F", "-j1", "--no-ignore", "--hidden", "--sort", "path", "needle", root_path, NULL};
	struct contained_root root = {0};
	struct buf answer;
	struct figure search = {"searchAgainstRipgrep", {0}, 1.2, 1.2};
	struct figure bare = {"inventoryAgainstBareOpen", {0}, 2, 2.5};
	struct figure reading = {"inventoryAgainstOpenAndRead", {0}, 1.2, 1.5};
	struct figure least = {"inventoryFloor", {0}, 2, 4};
	bool is_fast = true;
	double search_ms = 0;
	double paths_ms = 0;

	CHECK(mkdtemp(root_path) != NULL);
	make_tree(root_path);
	buf_init(&answer, 1 << 28);
	CHECK(contained_root_open(&root, root_path) == 0);
	(void)run_ms(peer);
	for (int i = 0; i < FIGURE_ROUNDS; i++) {
		double rg_ms = run_ms(peer);

		search_ms = search_ms_of(&root, &answer);
		search.values[i] = search_ms / rg_ms;
	}
	make_paths(root_path, items);
	for (int i = 0; i < FIGURE_ROUNDS; i++) {
		double peer_ms = bare_ms(root.fd, NULL, 0);
		double reading_ms = bare_ms(root.fd, bytes, sizeof(bytes));

		paths_ms = inventory_ms(&root, items, &answer);
		bare.values[i] = paths_ms / peer_ms;
		least.values[i] = floor_ms(root.fd, bytes, sizeof(bytes)) / peer_ms;
		reading.values[i] = paths_ms / reading_ms;
	}
	printf("{\n  \"bench\": \"read\", \"searchMs\": %.1f, \"inventoryMs\": %.1f,\n", search_ms, paths_ms);
	is_fast = figure_print(&search, ",") && is_fast;
	is_fast = figure_print(&bare, ",") && is_fast;
	is_fast = figure_print(&least, ",") && is_fast;
	is_fast = figure_print(&reading, "") && is_fast;
	puts("}");
	contained_root_close(&root);
	buf_release(&answer);
	(void)nftw(root_path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return !is_fast;
}
