#include "reader/ignore.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

/* ---- one component against one component of a pattern */

struct class_name {
	const char *name;
	int (*has)(int byte);
};

static const struct class_name classes[] = {{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank},
	{"cntrl", iscntrl}, {"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
	{"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit}};

/* [:name:] at `at`: whether it has the byte; *ret_end is behind it. False and *ret_end == at: it is none. */
static bool class_has(struct str pattern, size_t at, unsigned char byte, size_t *ret_end)
{
	*ret_end = at;
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		size_t len = strlen(classes[i].name);

		if (pattern.len - at < len + 4 || memcmp(pattern.bytes + at, "[:", 2) != 0 ||
			memcmp(pattern.bytes + at + 2, classes[i].name, len) != 0 ||
			memcmp(pattern.bytes + at + 2 + len, ":]", 2) != 0)
			continue;
		*ret_end = at + len + 4;
		return classes[i].has(byte) != 0;
	}
	return false;
}

/* A byte of a bracket at *at, which may be escaped; *at moves behind it. */
static unsigned char bracket_byte(struct str pattern, size_t *at)
{
	if (pattern.bytes[*at] == '\\' && *at + 1 < pattern.len)
		(*at)++;
	return (unsigned char)pattern.bytes[(*at)++];
}

/* One item of a bracket: a class, a range or a byte. */
static bool item_has(struct str pattern, size_t *at, unsigned char byte)
{
	size_t end = 0;
	bool has = class_has(pattern, *at, byte, &end);
	unsigned char low = 0;
	unsigned char high = 0;

	if (end > *at) {
		*at = end;
		return has;
	}
	low = high = bracket_byte(pattern, at);
	if (*at + 1 < pattern.len && pattern.bytes[*at] == '-' && pattern.bytes[*at + 1] != ']') {
		(*at)++;
		high = bracket_byte(pattern, at);
	}
	return byte >= low && byte <= high;
}

/* A bracket that begins at `at`: whether it has the byte; *ret_end is behind its end, or `at` where it has none, which fits nothing. */
static bool bracket_has(struct str pattern, size_t at, unsigned char byte, size_t *ret_end)
{
	size_t next = at + 1;
	bool is_not = next < pattern.len && (pattern.bytes[next] == '!' || pattern.bytes[next] == '^');
	bool has = false;
	bool is_first = true;

	*ret_end = at;
	next += is_not;
	while (next < pattern.len && (is_first || pattern.bytes[next] != ']')) {
		has |= item_has(pattern, &next, byte);
		is_first = false;
	}
	if (next >= pattern.len)
		return false;
	*ret_end = next + 1;
	return has != is_not;
}

/* Whether the pattern's item at `at` takes the byte; *ret_end is behind it. */
static bool item_fits(struct str pattern, size_t at, unsigned char byte, size_t *ret_end)
{
	*ret_end = at + 1;
	switch (pattern.bytes[at]) {
	case '?':
		return true;
	case '[':
		return bracket_has(pattern, at, byte, ret_end) && *ret_end > at;
	case '\\':
		if (at + 1 < pattern.len) {
			*ret_end = at + 2;
			return (unsigned char)pattern.bytes[at + 1] == byte;
		}
		return false;
	default:
		return (unsigned char)pattern.bytes[at] == byte;
	}
}

/* Only the last star needs to be gone back to. */
static bool component_fits(struct str pattern, struct str name)
{
	size_t at = 0;
	size_t byte = 0;
	size_t star = SIZE_MAX;
	size_t star_byte = 0;

	while (byte < name.len) {
		size_t end = 0;

		if (at < pattern.len && pattern.bytes[at] == '*') {
			star = ++at;
			star_byte = byte;
		} else if (at < pattern.len && item_fits(pattern, at, (unsigned char)name.bytes[byte], &end)) {
			at = end;
			byte++;
		} else if (star != SIZE_MAX) {
			at = star;
			byte = ++star_byte;
		} else {
			return false;
		}
	}
	while (at < pattern.len && pattern.bytes[at] == '*')
		at++;
	return at == pattern.len;
}

/* ---- components against components */

/* The component that begins at `at`. A slash in brackets is a slash: git's classes never take one. */
static struct str component_at(struct str path, size_t at)
{
	const char *slash = memchr(path.bytes + at, '/', path.len - at);

	return (struct str){path.bytes + at, slash != NULL ? (size_t)(slash - path.bytes) - at : path.len - at};
}

/* Behind a component and its slash; beyond the end where it was the last one. */
static size_t behind(size_t at, struct str component)
{
	return at + component.len + 1;
}

static bool is_any(struct str component)
{
	return str_is(component, "**");
}

bool ignore_fits(struct str pattern, struct str path)
{
	size_t at = 0;
	size_t name = 0;
	size_t any = SIZE_MAX;
	size_t any_name = 0;

	while (name < path.len) {
		struct str component = at < pattern.len ? component_at(pattern, at) : (struct str){0};
		struct str part = component_at(path, name);

		if (component.bytes != NULL && is_any(component)) {
			at = any = behind(at, component);
			any_name = name;
			if (at > pattern.len)
				return true; /* the last: it takes whatever is left, which is something */
		} else if (component.bytes != NULL && component_fits(component, part)) {
			at = behind(at, component);
			name = behind(name, part);
		} else if (any != SIZE_MAX) {
			at = any;
			any_name = behind(any_name, component_at(path, any_name));
			name = any_name;
		} else {
			return false;
		}
	}
	return at > pattern.len;
}

/* ---- lines */

static struct str next_line(struct str text, size_t *at)
{
	const char *feed = memchr(text.bytes + *at, '\n', text.len - *at);
	struct str line = {text.bytes + *at, feed != NULL ? (size_t)(feed - text.bytes) - *at : text.len - *at};

	*at += line.len + 1;
	if (line.len > 0 && line.bytes[line.len - 1] == '\r')
		line.len--;
	while (line.len > 0 && line.bytes[line.len - 1] == ' ' && !(line.len > 1 && line.bytes[line.len - 2] == '\\'))
		line.len--;
	return line;
}

static struct str drop_first(struct str text)
{
	return (struct str){text.bytes + 1, text.len - 1};
}

/* False for a line that says nothing. */
static bool read_line(struct str line, struct ignore_rule *ret)
{
	*ret = (struct ignore_rule){0};
	if (line.len == 0 || line.bytes[0] == '#')
		return false;
	if (line.bytes[0] == '!') {
		ret->is_taken_back = true;
		line = drop_first(line);
	}
	if (line.len > 0 && line.bytes[line.len - 1] == '/') {
		ret->is_for_directories = true;
		line.len--;
	}
	ret->is_tied = line.len > 0 && memchr(line.bytes, '/', line.len) != NULL;
	if (line.len > 0 && line.bytes[0] == '/')
		line = drop_first(line);
	ret->pattern = line;
	return line.len > 0;
}

static size_t count_lines(struct str text)
{
	size_t lines = 1;

	for (size_t i = 0; i < text.len; i++)
		lines += text.bytes[i] == '\n';
	return lines;
}

int ignore_read(struct arena *arena, struct str directory, struct str text, struct ignore_list *ret)
{
	size_t lines = count_lines(text);

	*ret = (struct ignore_list){.directory = directory};
	if (lines > IGNORE_RULES_LIMIT)
		return -E2BIG;
	ret->rules = ARENA_ARRAY(arena, lines, struct ignore_rule);
	if (ret->rules == NULL)
		return -ENOMEM;
	for (size_t at = 0; at < text.len;)
		ret->count += read_line(next_line(text, &at), &ret->rules[ret->count]);
	return 0;
}

static struct str last_component(struct str path)
{
	const char *slash = memrchr(path.bytes, '/', path.len);

	return slash == NULL ? path : (struct str){slash + 1, (size_t)(path.bytes + path.len - slash) - 1};
}

enum ignore_verdict ignore_judge(const struct ignore_list *list, struct str path, bool is_directory)
{
	size_t skipped = list->directory.len > 0 ? list->directory.len + 1 : 0;
	struct str below = {path.bytes + skipped, path.len - skipped};
	struct str name = last_component(path);

	for (size_t i = list->count; i > 0; i--) {
		const struct ignore_rule *rule = &list->rules[i - 1];

		if (rule->is_for_directories && !is_directory)
			continue;
		if (rule->is_tied ? ignore_fits(rule->pattern, below) : component_fits(rule->pattern, name))
			return rule->is_taken_back ? IGNORE_TAKEN_BACK : IGNORE_EXCLUDED;
	}
	return IGNORE_NOTHING_SAID;
}
