/* bench_bundle: an answer over a whole bundle costs little more than its bytes do: asking 5600 concepts, of which nothing is kept between two calls, so
 * that each is the first, against reading every byte once; and the identity of the bundle against reading every byte and hashing it with SHA-256
 * (chapter 6.1, last row).
 *
 * Ours and the peers alternate in one run, with warm caches, in time of the processor; a figure is the median of the rounds, with min and max
 * beside it. The concepts have 1 to 5 KiB of words that are as unlike in frequency as those of a language. The peers know every path
 * beforehand and neither walk nor judge.
 * Prints one JSON object; exits 1 when a ratio is beyond its bound.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/cleanup.h"
#include "reader/bundle_tools.h"
#include "tests/bench/figure.h"

enum { FOLDERS = 56, PAGES = 100, WORDS = 6000, LIST = 0, ASK = 2 };

/* ---- the bundle */

static uint32_t next_number(uint32_t *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 8;
}

/* The first words are met by far the most often: a third of the text is made of the first dozen. */
static void write_word(FILE *file, uint32_t *seed)
{
	static const char *const syllables[] = {
		"ta", "re", "con", "mi", "or", "der", "sal", "es", "ven", "ue", "cus", "tom", "da", "gra", "in", "pli"};
	double share = (double)(next_number(seed) % 10000) / 10000;
	uint32_t number = (uint32_t)(share * share * share * share * WORDS);

	for (uint32_t rest = number + 1; rest > 0; rest /= 16)
		fputs(syllables[rest % 16], file);
	fputc(next_number(seed) % 12 == 0 ? '\n' : ' ', file);
}

static void write_concept(const char *path, uint32_t number)
{
	FILE *file = fopen(path, "w");
	uint32_t seed = number * 2654435761u;

	CHECK(file != NULL);
	fprintf(file,
		"---\ntype: %s\ntitle: Concept %u\ndescription: What %u means here.\ntags:\n- tables\n- group%u\n"
		"verified:\n- by: human:reviewer\n  at: '2026-07-10T23:02:48+00:00'\n---\n\n# Concept %u\n\n",
		number % 3 == 0 ? "Table" : "Reference", number, number, number % 40, number);
	for (uint32_t i = 0; i < 150 + number % 700; i++)
		write_word(file, &seed);
	if (number % 100 == 0)
		fputs("\nchurn is told by the retention of customers\n", file);
	CHECK(fclose(file) == 0);
}

static void make_folder(const char *root, unsigned folder, FILE *top)
{
	char path[256];
	FILE *index = NULL;

	snprintf(path, sizeof(path), "%s/f%02u", root, folder);
	CHECK(mkdir(path, 0755) == 0);
	snprintf(path, sizeof(path), "%s/f%02u/index.md", root, folder);
	index = fopen(path, "w");
	CHECK(index != NULL);
	fprintf(top, "* [Folder %u](f%02u/index.md)\n", folder, folder);
	for (unsigned page = 0; page < PAGES; page++) {
		fprintf(index, "* [Concept %u](c%02u.md) - one of them\n", page, page);
		snprintf(path, sizeof(path), "%s/f%02u/c%02u.md", root, folder, page);
		write_concept(path, folder * PAGES + page);
	}
	CHECK(fclose(index) == 0);
}

static void make_bundle(const char *root)
{
	char path[256];
	FILE *top = NULL;

	snprintf(path, sizeof(path), "%s/index.md", root);
	top = fopen(path, "w");
	CHECK(top != NULL);
	fputs("---\ntitle: Bench\nokf_version: \"0.2\"\n---\n\n", top);
	for (unsigned folder = 0; folder < FOLDERS; folder++)
		make_folder(root, folder, top);
	CHECK(fclose(top) == 0);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
	(void)status;
	(void)type;
	(void)where;
	return remove(path);
}

/* ---- the peers */

static double peer_ms(int root_fd, bool hashes)
{
	static unsigned char bytes[65536];
	unsigned char hash[crypto_hash_sha256_BYTES];
	double start = figure_cpu_ms();
	char path[64];

	for (unsigned i = 0; i < FOLDERS * PAGES; i++) {
		int fd = -1;
		ssize_t len = 0;

		snprintf(path, sizeof(path), "f%02u/c%02u.md", i / PAGES, i % PAGES);
		fd = openat(root_fd, path, O_RDONLY | O_CLOEXEC);
		CHECK(fd >= 0);
		len = read(fd, bytes, sizeof(bytes));
		CHECK(len > 0 && len < (ssize_t)sizeof(bytes));
		if (hashes)
			(void)crypto_hash_sha256(hash, bytes, (unsigned long long)len);
		close(fd);
	}
	return figure_cpu_ms() - start;
}

/* ---- ours */

static double tool_ms(const struct contained_root *root, int tool, const json_t *arguments, const char *expected)
{
	struct bundle_service service = {.place = {.roots = root, .root_count = 1, .is_bundle = true}};
	struct tools_refusal refusal;
	CLEANUP(buf_release) struct buf answer = {0};
	double start = figure_cpu_ms();

	buf_init(&answer, BUNDLE_ANSWER_BYTES);
	CHECK(bundle_tools(true)[tool].run(&service, arguments, &answer, &refusal) == 0);
	CHECK(strstr(answer.bytes, expected) != NULL);
	return figure_cpu_ms() - start;
}

static bool measure(const struct contained_root *root, const json_t *question, const json_t *nothing)
{
	struct figure asking = {"askAgainstReading", {0}, 3, 3};
	struct figure identity = {"identityAgainstHashing", {0}, 1.5, 1.5};
	double ask_ms = 0;
	double list_ms = 0;
	double reading_ms = 0;
	bool is_fast = true;

	for (int i = 0; i < FIGURE_ROUNDS; i++) {
		reading_ms = peer_ms(root->fd, false);
		ask_ms = tool_ms(root, ASK, question, "\"searched\":5600");
		asking.values[i] = ask_ms / reading_ms;
		list_ms = tool_ms(root, LIST, nothing, "\"concepts\":5600");
		identity.values[i] = list_ms / peer_ms(root->fd, true);
	}
	printf("{\n  \"bench\": \"bundle\", \"readingMs\": %.1f, \"askMs\": %.1f, \"identityMs\": %.1f,\n", reading_ms,
		ask_ms, list_ms);
	is_fast = figure_print(&asking, ",");
	is_fast = figure_print(&identity, "") && is_fast;
	puts("}");
	return is_fast;
}

int main(void)
{
	char root_path[] = "/tmp/admitd-bench.XXXXXX";
	struct contained_root root = {0};
	json_t *question = json_pack("{s:s}", "question", "How is churn told by the retention of customers?");
	json_t *nothing = json_object();
	bool is_fast = false;

	CHECK(sodium_init() >= 0 && question != NULL && nothing != NULL && mkdtemp(root_path) != NULL);
	make_bundle(root_path);
	CHECK(contained_root_open(&root, root_path) == 0);
	(void)peer_ms(root.fd, true);
	is_fast = measure(&root, question, nothing);
	contained_root_close(&root);
	json_decref(question);
	json_decref(nothing);
	(void)nftw(root_path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return !is_fast;
}
