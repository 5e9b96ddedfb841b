#include "policy/words_template.h"

#include <errno.h>
#include <string.h>

#include "policy/buf.h"
#include "policy/cleanup.h"

/* A sentence with every fact at its longest (30 capabilities of 240 code points, twice) stays below this. */
enum { SENTENCE_CEILING = 256 * 1024 };

static size_t fact_find(const struct template_facts *facts, struct str name)
{
	size_t fact = 0;

	while (fact < facts->count && !str_is(name, facts->known[fact].name))
		fact++;
	CHECK(fact < facts->count);
	return fact;
}

/* A sentence that begins with what stands in for a name begins with a capital. */
static void write_fact(struct buf *out, const struct template_facts *facts, size_t fact)
{
	const char *text = facts->known[fact].stand_in;

	if (facts->values[fact].bytes != NULL) {
		buf_add_str(out, facts->values[fact]);
		return;
	}
	CHECK(text != NULL);
	buf_putc(out, out->len == 0 ? (char)(text[0] - 'a' + 'A') : text[0]);
	buf_puts(out, text + 1);
}

/* Our full stop does not follow another one, which an error or a reason may have brought. */
static void write_literal(struct buf *out, char byte)
{
	if (byte != '.' || out->len == 0 || out->bytes == NULL || out->bytes[out->len - 1] != '.')
		buf_putc(out, byte);
}

/* Whether a template without groups can be said: each fact of it is there, or has a stand-in. */
static bool has_facts(struct str template, const struct template_facts *facts)
{
	size_t open = 0;

	for (size_t at = 0; at < template.len; at++) {
		size_t fact;

		if (template.bytes[at] == '{')
			open = at + 1;
		if (template.bytes[at] != '}')
			continue;
		fact = fact_find(facts, (struct str){template.bytes + open, at - open});
		if (facts->values[fact].bytes == NULL && facts->known[fact].stand_in == NULL)
			return false;
	}
	return true;
}

static void write_plain(struct buf *out, struct str template, const struct template_facts *facts)
{
	size_t at = 0;

	while (at < template.len) {
		const char *close;

		if (template.bytes[at] != '{') {
			write_literal(out, template.bytes[at++]);
			continue;
		}
		close = memchr(template.bytes + at, '}', template.len - at);
		CHECK(close != NULL);
		write_fact(out, facts,
			fact_find(facts,
				(struct str){template.bytes + at + 1, (size_t)(close - template.bytes) - at - 1}));
		at = (size_t)(close - template.bytes) + 1;
	}
}

/* The first alternative of a group that can be said. */
static void write_group(struct buf *out, struct str group, const struct template_facts *facts)
{
	while (group.bytes != NULL) {
		const char *bar = memchr(group.bytes, '|', group.len);
		struct str one = {group.bytes, bar == NULL ? group.len : (size_t)(bar - group.bytes)};

		if (has_facts(one, facts)) {
			write_plain(out, one, facts);
			return;
		}
		group = bar == NULL ? (struct str){0} : (struct str){bar + 1, group.len - one.len - 1};
	}
}

static void write_template(struct buf *out, const char *template, const struct template_facts *facts)
{
	while (*template != '\0') {
		size_t plain = strcspn(template, "[");

		write_plain(out, (struct str){template, plain}, facts);
		template += plain;
		if (*template == '[') {
			size_t length = strcspn(template + 1, "]");

			CHECK(template[1 + length] == ']');
			write_group(out, (struct str){template + 1, length}, facts);
			template += length + 2;
		}
	}
}

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

int words_template_expand(struct arena *arena, const char *template, const char *more,
	const struct template_facts *facts, struct str *ret_text)
{
	CLEANUP(buf_drop) struct buf out = {0};
	int error;

	buf_init(&out, SENTENCE_CEILING);
	write_template(&out, template, facts);
	buf_puts(&out, more);
	error = buf_error(&out);
	if (error < 0)
		return error;
	*ret_text = arena_str(arena, buf_str(&out));
	return ret_text->bytes == NULL ? -ENOMEM : 0;
}
