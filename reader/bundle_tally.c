#include "reader/bundle_tally.h"

#include <errno.h>
#include <string.h>

static size_t place_of(const struct bundle_tally *tally, struct str name)
{
	size_t low = 0, high = tally->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (str_compare(tally->items[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int bundle_tally_add(struct bundle_tally *tally, struct arena *arena, struct str name)
{
	size_t at = place_of(tally, name);
	struct str copy;

	if (at < tally->count && str_equal(tally->items[at].name, name)) {
		tally->items[at].count++;
		return 0;
	}
	if (tally->count == BUNDLE_TALLY_LIMIT) {
		tally->others++;
		return 0;
	}
	copy = arena_str(arena, name);
	if (copy.bytes == NULL)
		return -ENOMEM;
	memmove(&tally->items[at + 1], &tally->items[at], (tally->count - at) * sizeof(tally->items[0]));
	tally->items[at].name = copy;
	tally->items[at].count = 1;
	tally->count++;
	return 0;
}

static void write_item(struct json_out *out, struct str name, size_t count)
{
	json_out_begin_object(out);
	json_out_member_str(out, "name", name);
	json_out_member_int(out, "count", (int64_t)count);
	json_out_end_object(out);
}

void bundle_tally_write(const struct bundle_tally *tally, struct json_out *out, const char *key)
{
	size_t i;

	json_out_key(out, key);
	json_out_begin_array(out);
	for (i = 0; i < tally->count; i++)
		write_item(out, tally->items[i].name, tally->items[i].count);
	if (tally->others > 0)
		write_item(out, STR("\xE2\x80\xA6"), tally->others);
	json_out_end_array(out);
}
