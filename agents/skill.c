#include "agents/skill.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "policy/json_out.h"
#include "policy/text.h"

enum { SEGMENT_LIMIT = 128 };

static bool is_name_byte(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
		byte == '.' || byte == '_' || byte == '-';
}

/* Copies what may stand in a name; gives its length. */
static size_t clean_segment(struct str segment, char *ret)
{
	size_t len = 0;

	for (size_t i = 0; i < segment.len; i++)
		if (is_name_byte(segment.bytes[i]))
			ret[len++] = segment.bytes[i];
	return len;
}

struct str skill_name(struct arena *arena, struct str given)
{
	const char *slash = given.bytes != NULL ? memrchr(given.bytes, '/', given.len) : NULL;
	struct str last = given;
	char *name = arena_alloc(arena, given.len + 1);
	size_t len = 0;
	size_t dots = 0;

	if (name == NULL)
		return (struct str){0};
	if (slash != NULL)
		last = (struct str){slash + 1, given.len - (size_t)(slash + 1 - given.bytes)};
	len = clean_segment(last, name);
	while (dots < len && name[dots] == '.')
		dots++;
	len = len - dots < SKILL_NAME_LIMIT ? len - dots : SKILL_NAME_LIMIT;
	return len > 0 ? arena_str(arena, (struct str){name + dots, len}) : STR("skill");
}

/* ---- a resource's path */

static const char *fault_of_path(struct str given)
{
	if (given.len == 0 || given.len > SKILL_PATH_LIMIT)
		return "is empty or too long";
	if (given.bytes[0] == '/')
		return "is absolute";
	if (memchr(given.bytes, '\\', given.len) != NULL)
		return "has a backslash";
	if (memchr(given.bytes, '\0', given.len) != NULL)
		return "has a NUL";
	return NULL;
}

/* Appends one segment; a literal when it can't be. */
static const char *add_segment(struct str segment, char *path, size_t *len)
{
	char clean[SKILL_PATH_LIMIT];
	size_t clean_len = 0;

	if (segment.len == 0 || str_is(segment, "."))
		return NULL;
	if (str_is(segment, ".."))
		return "leads out of the skill";
	clean_len = clean_segment(segment, clean);
	if (segment.bytes[0] == '.' || (clean_len > 0 && clean[0] == '.'))
		return "has a part that begins with a dot";
	if (clean_len == 0 || clean_len > SEGMENT_LIMIT)
		return "has a part that is no name";
	if (*len > 0)
		path[(*len)++] = '/';
	memcpy(path + *len, clean, clean_len);
	*len += clean_len;
	return NULL;
}

int skill_path(struct arena *arena, struct str given, struct str *ret, const char **ret_why)
{
	char path[SKILL_PATH_LIMIT + 1];
	size_t len = 0;
	size_t at = 0;

	*ret_why = fault_of_path(given);
	while (*ret_why == NULL && at <= given.len) {
		const char *slash = memchr(given.bytes + at, '/', given.len - at);
		size_t end = slash != NULL ? (size_t)(slash - given.bytes) : given.len;

		*ret_why = add_segment((struct str){given.bytes + at, end - at}, path, &len);
		at = end + 1;
	}
	if (*ret_why == NULL && len == 0)
		*ret_why = "names nothing";
	if (*ret_why == NULL && len == strlen(SKILL_MANIFEST) && strncasecmp(path, SKILL_MANIFEST, len) == 0)
		*ret_why = "is the manifest, which is made from name, description and instructions";
	if (*ret_why != NULL)
		return SKILL_PATH_REFUSED;
	*ret = arena_str(arena, (struct str){path, len});
	return ret->bytes != NULL ? 0 : -ENOMEM;
}

/* ---- the manifest */

/* What YAML takes in quotes as it stands. */
static bool is_printable(uint32_t code_point)
{
	return code_point != TEXT_INVALID && !text_is_control(code_point) && (code_point & 0xfffe) != 0xfffe;
}

/* On one line, between quotes that YAML and JSON read alike. */
static void write_quoted(struct str given, struct buf *out)
{
	struct buf line;
	struct json_out json;
	bool has_space = false;
	size_t count = 0;

	buf_init(&line, SKILL_BYTES_LIMIT);
	for (size_t at = 0; at < given.len && count < SKILL_DESCRIPTION_LIMIT;) {
		size_t begin = at;
		uint32_t code_point = text_next(given, &at);

		if (text_is_space(code_point)) {
			has_space = line.len > 0;
		} else if (is_printable(code_point)) {
			if (has_space)
				buf_putc(&line, ' ');
			has_space = false;
			buf_add(&line, given.bytes + begin, at - begin);
			count++;
		}
	}
	json_out_init(&json, out);
	json_out_str(&json, buf_str(&line));
	if (buf_error(&line) != 0)
		buf_fail(out, buf_error(&line));
	buf_release(&line);
}

void skill_write_manifest(const struct skill *skill, struct buf *out)
{
	buf_puts(out, "---\nname: ");
	write_quoted(skill->name, out);
	buf_puts(out, "\ndescription: ");
	write_quoted(skill->description, out);
	buf_puts(out, "\n---\n\n");
	buf_add_str(out, skill->instructions);
	if (skill->instructions.len > 0 && skill->instructions.bytes[skill->instructions.len - 1] != '\n')
		buf_putc(out, '\n');
}
