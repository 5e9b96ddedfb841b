#include "daemon/lifecycle/context_request.h"

#include <errno.h>

#include "policy/cleanup.h"
#include "policy/json_parse.h"

/* What a document may ask for once; longer texts ask for nothing. */
enum { TEXT_BYTES = 4096 };

/* The texts of an array that can be used, up to `limit` of them. */
static int read_texts(struct arena *arena, const json_t *array, size_t limit, const struct str **ret_items,
	size_t *ret_count, bool *is_cut)
{
	struct str *items = ARENA_ARRAY(arena, limit, struct str);
	size_t i;

	if (items == NULL)
		return -ENOMEM;
	for (i = 0; i < json_array_size(array); i++) {
		const json_t *item = json_array_get(array, i);
		struct str text = {json_string_value(item), json_string_length(item)};

		if (text.len == 0 || text.len > TEXT_BYTES)
			continue;
		if (*ret_count == limit) {
			*is_cut = true;
			break;
		}
		items[*ret_count] = arena_str(arena, text);
		if (items[(*ret_count)++].bytes == NULL)
			return -ENOMEM;
	}
	*ret_items = items;
	return 0;
}

int context_request_read(struct arena *arena, struct str document, struct packet_request *request, bool *ret_is_cut)
{
	CLEANUP(json_drop) json_t *root = NULL;
	const json_t *asked, *paths;
	int r = json_parse(document, &root, NULL);

	*ret_is_cut = false;
	if (r != 0)
		return r < 0 ? r : -EUCLEAN;
	asked = json_object_get(root, "contextRequest");
	paths = json_object_get(asked, "paths");
	if (request->searches)
		r = read_texts(arena, json_object_get(asked, "patterns"), PACKET_PATTERNS_LIMIT, &request->patterns,
			&request->pattern_count, ret_is_cut);
	if (r == 0 && request->reads && paths != NULL)
		r = read_texts(arena, paths, PACKET_PATHS_LIMIT, &request->paths, &request->path_count, ret_is_cut);
	request->searches &= request->pattern_count > 0;
	request->reads &= paths == NULL || request->path_count > 0;
	return r;
}
