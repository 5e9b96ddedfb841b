/* Prints what a bundle gives out for an id: its text, or the code of the refusal with exit 1. Linked four times: as it is, and
 * with one check, the other, or both replaced by what says yes to everything (bundle_unchecked_*.c). */
#include <stdio.h>
#include <string.h>

#include "policy/cleanup.h"
#include "reader/bundle.h"

static int probe(const struct bundle *bundle, struct str id, struct buf *text)
{
	int result = bundle_concept_read(bundle, id, text);

	if (result == 0)
		return fwrite(text->bytes, 1, text->len, stdout) == text->len ? 0 : 2;
	puts(result > 0 ? bundle_result_word(result) : strerror(-result));
	return result > 0 ? 1 : 2;
}

int main(int argc, char **argv)
{
	struct contained_root root CLEANUP(contained_root_close) = {0};
	struct bundle_budget budget = {BUNDLE_ENTRIES, BUNDLE_BYTES, false};
	struct bundle bundle CLEANUP(bundle_release) = {0};
	struct buf text CLEANUP(buf_release) = {0};

	buf_init(&text, BUNDLE_CONCEPT_BYTES + 1);
	if (argc != 3 || contained_root_open(&root, argv[1]) != 0)
		return 2;
	if (bundle_open(&root, STR("."), BUNDLE_CONCEPT_BYTES, &budget, &bundle) != 0)
		return 2;
	return probe(&bundle, (struct str){argv[2], strlen(argv[2])}, &text);
}
