#include <string.h>
#include <strings.h>

#include "policy/redact_internal.h"

/* A quote with more backslashes before it than this counts as one with so many: text that nests ever deeper must
 * not make every level walk to its own end.
 */
enum { ESCAPES_LIMIT = 7 };
/* A longer value is never one of the plain words. */
enum { PLAIN_LIMIT = 80 };

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

static char byte_at(struct str text, size_t at)
{
	return at < text.len ? text.bytes[at] : '\0';
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\n';
}

static bool is_quote(char byte)
{
	return byte == '"' || byte == '\'';
}

static size_t escapes_before(struct str text, size_t at)
{
	size_t count = 0;

	while (count < at && count < ESCAPES_LIMIT && text.bytes[at - count - 1] == '\\')
		count++;
	return count;
}

/* ---- words that are no secret under any key */

static bool is_among(struct str text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(words[i]) == text.len && strncasecmp(text.bytes, words[i], text.len) == 0)
			return true;
	return false;
}

static bool is_only(struct str text, const char *bytes)
{
	for (size_t i = 0; i < text.len; i++)
		if (!strchr(bytes, text.bytes[i]))
			return false;
	return true;
}

static struct str without_punctuation(struct str text)
{
	while (text.len && strchr(".,;:!?)]}\"'\\", text.bytes[text.len - 1]))
		text.len--;
	return text;
}

static bool is_plain_word(struct str text)
{
	static const char *const plain[] = {"null", "none", "nil", "true", "false", "undefined", "unset", "empty",
		"missing", "required", "optional", "invalid", "expired", "revoked", "denied", "unknown", "blocked",
		"allowed", "is", "are", "was", "must", "not", "and", "or", "read", "write", "inherit", "yes", "no",
		"on", "off", "unlimited"};

	return is_among(text, plain, COUNT_OF(plain));
}

/* ${NAME}: where a value will be, not the value. */
static bool is_placeholder(struct str text)
{
	if (text.len < 4 || memcmp(text.bytes, "${", 2) != 0 || text.bytes[text.len - 1] != '}')
		return false;
	return is_only((struct str){text.bytes + 2, text.len - 3},
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
}

static bool is_kept(struct str value, enum redact_key_kind kind)
{
	struct str word = without_punctuation(value);

	if (value.len > PLAIN_LIMIT)
		return false;
	if (word.len == 0 || is_plain_word(word))
		return true;
	if (is_placeholder(value) || is_placeholder((struct str){word.bytes, word.len + (word.len < value.len)}))
		return true;
	if (kind == REDACT_KEY_COUNTABLE)
		return is_only(word, "0123456789.,_");
	return kind == REDACT_KEY_COOKIE && !memchr(value.bytes, '=', value.len);
}

/* What follows `Basic` or `Bearer` in a sentence. */
static bool is_prose(struct str value)
{
	static const char *const prose[] = {"token", "tokens", "auth", "authentication", "authorization",
		"authorisation", "credential", "credentials", "scheme", "schemes", "header", "headers", "value",
		"values", "of", "or", "and", "is", "are", "in", "for", "the", "to", "with", "as", "only", "access",
		"usage", "use", "example", "examples", "support", "setup", "test", "tests", "testing", "check",
		"checks", "info", "information", "config", "configuration", "knowledge", "functionality", "feature",
		"features", "reviewer", "review", "reader", "read", "reads", "write", "filesystem", "project", "tool",
		"tools", "rule", "rules", "step", "steps", "type", "types", "idea", "structure", "overview", "search",
		"validation", "context", "plan", "html", "css", "understanding", "principles", "operations", "case",
		"cases", "flow", "level", "version", "needs", "requirements", "research", "data", "sanity", "unit",
		"qa", "agent", "worker"};
	struct str word = without_punctuation(value);

	if (value.len > PLAIN_LIMIT)
		return false;
	return is_only(word, "-.~_+/=") || is_plain_word(word) || is_among(word, prose, COUNT_OF(prose));
}

/* ---- where a value ends */

/* The quote that closes what a quote with `escapes` backslashes before it opened, or the text's length. */
static size_t closing_quote(struct str text, size_t at, char quote, size_t escapes)
{
	const char *found;

	for (; at < text.len; at++) {
		size_t before;

		found = memchr(text.bytes + at, quote, text.len - at);
		if (!found)
			return text.len;
		at = (size_t)(found - text.bytes);
		before = escapes_before(text, at);
		if (before <= escapes || (escapes == 0 && before % 2 == 0 && before < ESCAPES_LIMIT))
			return at - (before < escapes ? before : escapes);
	}
	return text.len;
}

/* A quote that ends a string of JSON or a shell rather than being part of a word. */
static bool is_structural_quote(struct str text, size_t at)
{
	char after = byte_at(text, at + 1);

	return is_quote(text.bytes[at]) && (at + 1 >= text.len || is_blank(after) || strchr(",:}])", after));
}

/* Behind the word that begins at `begin`: before white space, or before the quote, escaped or not, that ends a string
 * around it.
 */
static size_t word_end(struct str text, size_t begin)
{
	size_t end = begin;

	while (end < text.len && !is_blank(text.bytes[end]) && !is_structural_quote(text, end))
		end++;
	if (end < text.len && is_quote(text.bytes[end]))
		while (end > begin && text.bytes[end - 1] == '\\')
			end--;
	return end;
}

size_t redact_next(struct redact_cursor *cursor, char byte, size_t from)
{
	static const char bytes[] = "]}\n@ ";
	size_t *next = &cursor->next[strchr(bytes, byte) - bytes];
	const char *found;

	if (*next != SIZE_MAX && *next >= from)
		return *next;
	found = from < cursor->text.len ? memchr(cursor->text.bytes + from, byte, cursor->text.len - from) : NULL;
	*next = found ? (size_t)(found - cursor->text.bytes) : cursor->text.len;
	return *next;
}

static void mask(struct redact_cursor *cursor, size_t begin, size_t end)
{
	redact_span_add(cursor, begin, end);
	if (end > cursor->covered)
		cursor->covered = end;
}

static void mask_unless_kept(struct redact_cursor *cursor, size_t begin, size_t end, enum redact_key_kind kind)
{
	if (!is_kept((struct str){cursor->text.bytes + begin, end - begin}, kind))
		mask(cursor, begin, end);
}

/* `Bearer abc` of a header: behind the scheme, so that it stays readable. */
static size_t behind_scheme(struct str text, size_t at)
{
	static const char *const schemes[] = {
		"basic ", "bearer ", "token ", "digest ", "negotiate ", "ntlm ", "apikey "};

	for (size_t i = 0; i < COUNT_OF(schemes); i++) {
		size_t len = strlen(schemes[i]);

		if (text.len - at > len && strncasecmp(text.bytes + at, schemes[i], len) == 0)
			return at + len;
	}
	return at;
}

/* The quote before the key encloses key and value together: 'token=a b'. */
static bool find_enclosing(struct str text, const struct redact_head *head, char *ret_quote, size_t *ret_escapes)
{
	char before = head->begin ? text.bytes[head->begin - 1] : '\0';

	if (head->is_closed || !is_quote(before))
		return false;
	*ret_quote = before;
	*ret_escapes = escapes_before(text, head->begin - 1);
	return true;
}

/* A value that opens with a quote, perhaps an escaped one. */
static bool mask_quoted(struct redact_cursor *cursor, size_t at, enum redact_key_kind kind)
{
	size_t open = at;
	struct str text = cursor->text;

	while (byte_at(text, open) == '\\' && open - at < ESCAPES_LIMIT)
		open++;
	if (!is_quote(byte_at(text, open)))
		return false;
	mask_unless_kept(cursor, open + 1, closing_quote(text, open + 1, text.bytes[open], open - at), kind);
	return true;
}

static bool mask_bracketed(struct redact_cursor *cursor, size_t at)
{
	char open = byte_at(cursor->text, at);
	size_t close;

	if (open != '[' && open != '{')
		return false;
	close = redact_next(cursor, open == '[' ? ']' : '}', at);
	if (close == at + 1)
		return true;
	mask(cursor, at, close < cursor->text.len ? close + 1 : close);
	return true;
}

static bool begins_with_mask(struct str text, size_t at)
{
	size_t end = at + sizeof(REDACT_MASK) - 1;

	return end < text.len && memcmp(text.bytes + at, REDACT_MASK, end - at) == 0 && is_blank(text.bytes[end]);
}

void redact_value_mask(struct redact_cursor *cursor, const struct redact_head *head, enum redact_key_kind kind)
{
	struct str text = cursor->text;
	size_t at = kind == REDACT_KEY_HEADER ? behind_scheme(text, head->value) : head->value;
	size_t escapes;
	char quote;

	if (at >= text.len || mask_quoted(cursor, at, kind))
		return;
	if (find_enclosing(text, head, &quote, &escapes)) {
		mask_unless_kept(cursor, at, closing_quote(text, at, quote, escapes), kind);
		return;
	}
	if (mask_bracketed(cursor, at))
		return;
	if (kind == REDACT_KEY_LINE || kind == REDACT_KEY_COOKIE) {
		/* The second time the line's end is gone (R1). */
		if (begins_with_mask(text, at))
			return;
		mask_unless_kept(cursor, at, redact_next(cursor, '\n', at), kind);
		return;
	}
	/* Inside a word that is masked already it ends where that one does. */
	if (at >= cursor->covered)
		mask_unless_kept(cursor, at, word_end(text, at), kind);
}

void redact_word_mask(struct redact_cursor *cursor, size_t begin, bool may_be_prose)
{
	struct str text = cursor->text;
	size_t end;

	if (begin < cursor->covered)
		return;
	while (byte_at(text, begin) == '\\' || is_quote(byte_at(text, begin)))
		begin++;
	end = word_end(text, begin);
	if (!may_be_prose || !is_prose((struct str){text.bytes + begin, end - begin}))
		mask(cursor, begin, end);
}
