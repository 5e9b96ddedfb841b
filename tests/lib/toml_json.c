/* Reads TOML texts, each behind its length in a line, and prints each as a line: its JSON, or !LINE:COLUMN:WORDS. For comparing with
 * another parser. */
#include <stdio.h>
#include <stdlib.h>

#include "agents/toml_read.h"
#include "policy/cleanup.h"

static int answer(struct str text)
{
	CLEANUP(json_drop) json_t *value = NULL;
	struct toml_read_fault fault = {0};
	int r = toml_read(text, &value, &fault);

	if (r < 0)
		return r;
	if (r == TOML_READ_REFUSED)
		printf("!%zu:%zu:%s", fault.line, fault.column, fault.words);
	else if (json_dumpf(value, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17)) != 0)
		return -1;
	putchar('\n');
	return 0;
}

int main(void)
{
	size_t len;

	while (scanf("%zu", &len) == 1 && getchar() == '\n') {
		/* No room behind it, so that a read too far is one for a sanitizer. */
		char *text = malloc(len > 0 ? len : 1);
		int r = text == NULL || fread(text, 1, len, stdin) != len ? -1 : answer((struct str){text, len});

		free(text);
		if (r != 0)
			return EXIT_FAILURE;
	}
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
