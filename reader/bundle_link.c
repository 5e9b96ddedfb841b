#include "reader/bundle_link.h"

#include <errno.h>
#include <string.h>

static struct str line_at(struct str text, size_t at)
{
	const char *begin = text.bytes + at;
	const char *end = memchr(begin, '\n', text.len - at);

	return (struct str){begin, end == NULL ? text.len - at : (size_t)(end - begin)};
}

/* A fence begins or ends: ``` or ~~~ behind at most three blanks. */
static bool is_fence(struct str line)
{
	size_t i = 0;

	while (i < line.len && i < 3 && line.bytes[i] == ' ')
		i++;
	return line.len - i >= 3 && (memcmp(line.bytes + i, "```", 3) == 0 || memcmp(line.bytes + i, "~~~", 3) == 0);
}

static struct str cut_at(struct str text, const char *stops)
{
	size_t i;

	for (i = 0; i < text.len; i++)
		if (text.bytes[i] != '\0' && strchr(stops, text.bytes[i]) != NULL)
			break;
	return (struct str){text.bytes, i};
}

/* The target in what stands between the parentheses, which begins at `inside` and ends somewhere behind. */
static bool target_of(struct str inside, struct str *ret)
{
	struct str whole;
	const char *end;

	while (inside.len > 0 && inside.bytes[0] == ' ')
		inside = (struct str){inside.bytes + 1, inside.len - 1};
	end = inside.len == 0 ? NULL : memchr(inside.bytes, ')', inside.len);
	if (end == NULL)
		return false;
	whole = (struct str){inside.bytes, (size_t)(end - inside.bytes)};
	if (whole.len > 0 && whole.bytes[0] == '<')
		whole = cut_at((struct str){whole.bytes + 1, whole.len - 1}, ">");
	else
		whole = cut_at(whole, " \t");
	*ret = cut_at(whole, "?#");
	return true;
}

/* In the line that links->at lies in, from there on. */
static bool next_in_line(struct bundle_links *links, struct str *ret_target)
{
	const char *at = links->text.bytes + links->at;
	const char *end = links->text.bytes + links->line_end;

	while (at < end && (at = memchr(at, ']', (size_t)(end - at))) != NULL) {
		at++;
		if (at == end || *at != '(')
			continue;
		at++;
		if (!target_of((struct str){at, (size_t)(end - at)}, ret_target))
			break;
		links->at = (size_t)(ret_target->bytes - links->text.bytes) + ret_target->len;
		return true;
	}
	links->at = links->line_end;
	return false;
}

/* To the next line that holds no fence and isn't inside one. False: there is none. */
static bool next_line(struct bundle_links *links)
{
	while (links->at < links->text.len) {
		struct str line = line_at(links->text, links->at);

		links->line_end = links->at + line.len;
		if (is_fence(line))
			links->is_fenced = !links->is_fenced;
		else if (!links->is_fenced)
			return true;
		links->at = links->line_end + 1;
	}
	return false;
}

bool bundle_links_next(struct bundle_links *links, struct str *ret_target)
{
	while (links->at < links->line_end || next_line(links)) {
		if (next_in_line(links, ret_target))
			return true;
		links->at++;
	}
	return false;
}

static int hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

/* Decodes %XX into `out`, which is as long as `target`. False: it stands for a slash or a NUL, or there is a NUL already. */
static bool decode(struct str target, char *out, size_t *ret_len)
{
	size_t i, len = 0;

	for (i = 0; i < target.len; i++) {
		int high = -1, low = -1;
		char byte = target.bytes[i];

		if (byte == '%' && i + 2 < target.len) {
			high = hex_value(target.bytes[i + 1]);
			low = hex_value(target.bytes[i + 2]);
		}
		if (high >= 0 && low >= 0) {
			byte = (char)(high * 16 + low);
			i += 2;
			if (byte == '/')
				return false;
		}
		if (byte == '\0')
			return false;
		out[len++] = byte;
	}
	*ret_len = len;
	return true;
}

/* Something like `https:` before any slash, or `//`. */
static bool is_address(struct str target)
{
	size_t i;

	if (target.len >= 2 && memcmp(target.bytes, "//", 2) == 0)
		return true;
	for (i = 0; i < target.len && target.bytes[i] != '/'; i++)
		if (target.bytes[i] == ':')
			return true;
	return false;
}

/* Drops the last segment. False: there is none. */
static bool climb(const char *path, size_t *len)
{
	if (*len == 0)
		return false;
	while (*len > 0 && path[*len - 1] != '/')
		(*len)--;
	if (*len > 0)
		(*len)--;
	return true;
}

/* Appends a segment to what `path` holds, or resolves it. False: above the bundle. */
static bool step(char *path, size_t *len, struct str segment)
{
	if (segment.len == 0 || str_is(segment, "."))
		return true;
	if (str_is(segment, ".."))
		return climb(path, len);
	if (*len > 0)
		path[(*len)++] = '/';
	memcpy(path + *len, segment.bytes, segment.len);
	*len += segment.len;
	return true;
}

int bundle_link_resolve(
	struct arena *arena, struct str folder, struct str target, struct str *ret_path, bool *ret_is_folder)
{
	char *decoded, *path;
	size_t i, begin = 0, decoded_len = 0, len = 0;

	if (target.len == 0 || is_address(target))
		return BUNDLE_LINK_ELSEWHERE;
	decoded = arena_alloc(arena, target.len + 1);
	path = arena_alloc(arena, folder.len + target.len + 2);
	if (decoded == NULL || path == NULL)
		return -ENOMEM;
	if (!decode(target, decoded, &decoded_len))
		return BUNDLE_LINK_OUTSIDE;
	if (decoded[0] != '/' && folder.len > 0) {
		memcpy(path, folder.bytes, folder.len);
		len = folder.len;
	}
	for (i = 0; i <= decoded_len; i++) {
		if (i < decoded_len && decoded[i] != '/')
			continue;
		if (!step(path, &len, (struct str){decoded + begin, i - begin}))
			return BUNDLE_LINK_OUTSIDE;
		begin = i + 1;
	}
	*ret_path = (struct str){path, len};
	*ret_is_folder = len == 0 || decoded[decoded_len - 1] == '/';
	return 0;
}

bool bundle_link_is_plain(struct str path)
{
	size_t i, begin = 0;

	if (path.len == 0 || memchr(path.bytes, '\0', path.len) != NULL)
		return false;
	for (i = 0; i <= path.len; i++) {
		struct str segment = {path.bytes + begin, i - begin};

		if (i < path.len && path.bytes[i] != '/')
			continue;
		if (segment.len == 0 || str_is(segment, ".") || str_is(segment, ".."))
			return false;
		begin = i + 1;
	}
	return true;
}
