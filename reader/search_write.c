/* The answer of a search. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "policy/json_out.h"
#include "reader/search_parts.h"
#include "reader/shown.h"

enum { DIGEST_BYTES = 8 };

static const char *const skip_words[SEARCH_SKIPS] = {
	"symlink", "binary", "special", "unreadable", "large", "credentialFile"};
static const char *const bound_words[SEARCH_BOUNDS] = {"max-results", "max-total-bytes", "max-entries", "max-depth"};

/* Several targets are gone through as they were named; the answer is in the order of paths. */
static int compare_matches(const void *left, const void *right)
{
	const struct search_match *a = left;
	const struct search_match *b = right;
	int order = str_compare(a->file, b->file);

	return order != 0 ? order : (a->offset > b->offset) - (a->offset < b->offset);
}

static void write_pattern(struct json_out *out, struct str pattern)
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	char text[2 * DIGEST_BYTES + 1];

	(void)crypto_hash_sha256(hash, (const unsigned char *)pattern.bytes, pattern.len);
	(void)sodium_bin2hex(text, sizeof(text), hash, DIGEST_BYTES);
	json_out_key(out, "pattern");
	json_out_begin_object(out);
	json_out_member_text(out, "digest", text);
	json_out_member_int(out, "bytes", (int64_t)pattern.len);
	json_out_end_object(out);
}

static void write_matches(struct search *search, struct json_out *out)
{
	json_out_key(out, "matches");
	json_out_begin_array(out);
	for (size_t i = 0; i < search->match_count; i++) {
		const struct search_match *match = &search->matches[i];

		json_out_begin_object(out);
		shown_name(out, &search->scratch, "file", match->file);
		json_out_member_int(out, "line", match->line);
		json_out_member_int(out, "offset", match->offset);
		json_out_member_str(out, "snippet", match->snippet);
		json_out_end_object(out);
	}
	json_out_end_array(out);
}

static void write_skipped(const struct search *search, struct json_out *out)
{
	json_out_key(out, "skipped");
	json_out_begin_object(out);
	for (int skip = 0; skip < SEARCH_SKIPS; skip++)
		json_out_member_int(out, skip_words[skip], (int64_t)search->skipped[skip]);
	json_out_end_object(out);
}

static void write_left_out(struct search *search, struct json_out *out)
{
	json_out_key(out, "notSearched");
	json_out_begin_array(out);
	for (size_t i = 0; i < search->left_out_count; i++) {
		json_out_begin_object(out);
		shown_name(out, &search->scratch, "path", search->left_out[i].path);
		json_out_member_text(out, "reason", contained_result_word(search->left_out[i].result));
		json_out_member_text(out, "message", contained_result_text(search->left_out[i].result));
		json_out_end_object(out);
	}
	json_out_end_array(out);
}

static bool write_bounds(const struct search *search, struct json_out *out)
{
	bool is_complete = true;

	json_out_key(out, "bounds");
	json_out_begin_array(out);
	for (int bound = 0; bound < SEARCH_BOUNDS; bound++) {
		if (search->fired[bound])
			json_out_text(out, bound_words[bound]);
		is_complete &= !search->fired[bound];
	}
	if (search->skipped[SEARCH_SKIP_LARGE] > 0)
		json_out_text(out, "max-bytes");
	json_out_end_array(out);
	return is_complete && search->skipped[SEARCH_SKIP_LARGE] == 0;
}

void search_write(struct search *search, struct buf *answer)
{
	struct json_out out;
	bool is_complete = false;

	json_out_init(&out, answer);
	if (search->match_count > 1 && search->request->paths.count > 1)
		qsort(search->matches, search->match_count, sizeof(*search->matches), compare_matches);
	json_out_begin_object(&out);
	write_pattern(&out, search->request->pattern);
	json_out_member_int(&out, "entriesWalked", (int64_t)search->walk.entries);
	json_out_member_int(&out, "filesSearched", search->files);
	json_out_member_int(&out, "bytesRead", search->total_bytes);
	write_matches(search, &out);
	write_skipped(search, &out);
	write_left_out(search, &out);
	is_complete = write_bounds(search, &out);
	json_out_member_bool(&out, "complete", is_complete);
	json_out_end_object(&out);
}
