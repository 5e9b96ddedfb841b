/* Stands in for libFuzzer where the build has none: gives each file named on the command line to the target once,
 * and then every beginning of it, so that a corpus is a test in `make check`.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A corpus holds small files; a longer one is cut. */
enum { INPUT_LIMIT = 64 * 1024, BEGINNINGS = 512 };

static int replay(const char *path)
{
	static uint8_t input[INPUT_LIMIT];
	FILE *file = fopen(path, "rb");
	size_t size;

	if (!file) {
		perror(path);
		return 1;
	}
	size = fread(input, 1, sizeof(input), file);
	(void)fclose(file);
	for (size_t i = 0; i < size && i < BEGINNINGS; i++)
		(void)LLVMFuzzerTestOneInput(input, i);
	(void)LLVMFuzzerTestOneInput(input, size);
	return 0;
}

int main(int argc, char **argv)
{
	int failures = 0;

	for (int i = 1; i < argc; i++)
		failures += replay(argv[i]);
	return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
