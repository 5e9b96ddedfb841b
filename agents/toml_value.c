#include "agents/toml_value.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "policy/cleanup.h"
#include "policy/text.h"

enum { NUMBER_SIZE = 512 };

static void buf_drop(struct buf *buf)
{
	buf_release(buf);
}

int toml_refuse(struct toml_reading *reading, const char *words)
{
	reading->words = words;
	return TOML_READ_REFUSED;
}

bool toml_is_at(const struct toml_reading *reading, char byte)
{
	return reading->at < reading->text.len && reading->text.bytes[reading->at] == byte;
}

bool toml_begins(const struct toml_reading *reading, const char *literal)
{
	size_t len = strlen(literal);

	return reading->text.len - reading->at >= len && memcmp(reading->text.bytes + reading->at, literal, len) == 0;
}

void toml_skip_blanks(struct toml_reading *reading)
{
	while (toml_is_at(reading, ' ') || toml_is_at(reading, '\t'))
		reading->at++;
}

bool toml_take_line_end(struct toml_reading *reading)
{
	size_t len = toml_begins(reading, "\r\n") ? 2 : toml_is_at(reading, '\n') ? 1 : 0;

	reading->at += len;
	return len > 0;
}

/* One character of a comment or string, which may not be a control character but for a tab. */
static int take_character(struct toml_reading *reading)
{
	size_t behind = reading->at;
	uint32_t point = text_next(reading->text, &behind);

	if (point == TEXT_INVALID)
		return toml_refuse(reading, "bytes that aren't UTF-8");
	if ((point < 0x20 && point != '\t') || point == 0x7f)
		return toml_refuse(reading, "a control character");
	reading->at = behind;
	return 0;
}

int toml_skip_comment(struct toml_reading *reading)
{
	int r = 0;

	if (!toml_is_at(reading, '#'))
		return 0;
	while (r == 0 && reading->at < reading->text.len && !toml_is_at(reading, '\n') && !toml_begins(reading, "\r\n"))
		r = take_character(reading);
	return r;
}

/* ---- strings */

static void put_point(struct buf *out, uint32_t point)
{
	if (point < 0x80) {
		buf_putc(out, (char)point);
		return;
	}
	if (point < 0x800) {
		buf_putc(out, (char)(0xc0 | (point >> 6)));
	} else {
		if (point < 0x10000) {
			buf_putc(out, (char)(0xe0 | (point >> 12)));
		} else {
			buf_putc(out, (char)(0xf0 | (point >> 18)));
			buf_putc(out, (char)(0x80 | ((point >> 12) & 0x3f)));
		}
		buf_putc(out, (char)(0x80 | ((point >> 6) & 0x3f)));
	}
	buf_putc(out, (char)(0x80 | (point & 0x3f)));
}

/* \uXXXX and \UXXXXXXXX, behind the letter. */
static int take_hex(struct toml_reading *reading, int digits, struct buf *out)
{
	uint32_t point = 0;

	for (int i = 0; i < digits; i++, reading->at++) {
		const char *found = NULL;

		if (reading->at < reading->text.len)
			found = memchr("0123456789abcdefABCDEF", reading->text.bytes[reading->at], 22);
		if (found == NULL)
			return toml_refuse(reading, "an escape that TOML doesn't have");
		point = point * 16 + (uint32_t)(*found <= '9' ? *found - '0' : (*found | 0x20) - 'a' + 10);
	}
	if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
		return toml_refuse(reading, "an escape of what is no character");
	put_point(out, point);
	return 0;
}

/* A backslash at the end of a line takes the white space behind it away. */
static bool skip_folded(struct toml_reading *reading)
{
	size_t start = reading->at;

	toml_skip_blanks(reading);
	if (!toml_take_line_end(reading)) {
		reading->at = start;
		return false;
	}
	do
		toml_skip_blanks(reading);
	while (toml_take_line_end(reading));
	return true;
}

static int take_escape(struct toml_reading *reading, bool is_long, struct buf *out)
{
	static const char names[] = "btnfr\"\\";
	static const char meanings[] = "\b\t\n\f\r\"\\";
	const char *found = NULL;

	reading->at++;
	if (is_long && skip_folded(reading))
		return 0;
	if (reading->at == reading->text.len)
		return toml_refuse(reading, "the file ends within a value");
	if (toml_is_at(reading, 'u') || toml_is_at(reading, 'U')) {
		int digits = toml_is_at(reading, 'u') ? 4 : 8;

		reading->at++;
		return take_hex(reading, digits, out);
	}
	found = memchr(names, reading->text.bytes[reading->at], sizeof(names) - 1);
	if (found == NULL)
		return toml_refuse(reading, "an escape that TOML doesn't have");
	buf_putc(out, meanings[found - names]);
	reading->at++;
	return 0;
}

/* Up to two quotes may stand in front of the three that end a long string. */
static bool take_long_end(struct toml_reading *reading, char quote, struct buf *out)
{
	size_t count = 0;

	while (count < 5 && reading->at + count < reading->text.len &&
		reading->text.bytes[reading->at + count] == quote)
		count++;
	if (count < 3)
		return false;
	for (size_t i = 3; i < count; i++)
		buf_putc(out, quote);
	reading->at += count;
	return true;
}

/* One step within a string: an escape, a line end, or a character as it is. */
static int take_piece(struct toml_reading *reading, char quote, bool is_long, struct buf *out)
{
	size_t start = reading->at;
	int r;

	if (quote == '"' && toml_is_at(reading, '\\'))
		return take_escape(reading, is_long, out);
	if (!is_long && (toml_is_at(reading, '\n') || toml_begins(reading, "\r\n")))
		return toml_refuse(reading, "a line ends within a string");
	if (toml_take_line_end(reading)) {
		buf_putc(out, '\n'); /* however the file ends its lines */
		return 0;
	}
	r = take_character(reading);
	if (r == 0)
		buf_add(out, reading->text.bytes + start, reading->at - start);
	return r;
}

static int take_text(struct toml_reading *reading, bool may_be_long, struct buf *out)
{
	char quote = reading->text.bytes[reading->at];
	const char three[] = {quote, quote, quote, '\0'};
	bool is_long = toml_begins(reading, three);
	int r = 0;

	if (is_long && !may_be_long)
		return toml_refuse(reading, "a key is on one line");
	reading->at += is_long ? 3 : 1;
	if (is_long)
		(void)toml_take_line_end(reading);
	while (r == 0) {
		if (reading->at == reading->text.len)
			return toml_refuse(reading, "the file ends within a value");
		if (is_long && take_long_end(reading, quote, out))
			return buf_error(out);
		if (!is_long && toml_is_at(reading, quote)) {
			reading->at++;
			return buf_error(out);
		}
		r = take_piece(reading, quote, is_long, out);
	}
	return r;
}

static bool is_bare(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
		byte == '_' || byte == '-';
}

int toml_take_key(struct toml_reading *reading, struct buf *ret_key)
{
	size_t start = reading->at;

	if (toml_is_at(reading, '"') || toml_is_at(reading, '\''))
		return take_text(reading, false, ret_key);
	while (reading->at < reading->text.len && is_bare(reading->text.bytes[reading->at]))
		reading->at++;
	if (reading->at == start)
		return toml_refuse(reading, "a key must stand here");
	buf_add(ret_key, reading->text.bytes + start, reading->at - start);
	return buf_error(ret_key);
}

int toml_take_string(struct toml_reading *reading, json_t **ret)
{
	CLEANUP(buf_drop) struct buf text = {0};
	int r;

	buf_init(&text, TOML_READ_BYTES_LIMIT + 1);
	r = take_text(reading, true, &text);
	if (r != 0)
		return r;
	*ret = json_stringn(buf_str(&text).bytes, text.len);
	return *ret == NULL ? -ENOMEM : 0;
}

/* ---- numbers, dates, words */

/* Whether `text` fits `shape`: 0 a digit, any other byte itself. *ret_end: what is behind it. */
static bool fits(const char *text, const char *shape, const char **ret_end)
{
	for (; *shape != '\0'; shape++, text++)
		if (*shape == '0' ? *text < '0' || *text > '9' : *text != *shape)
			return false;
	*ret_end = text;
	return true;
}

static int two_digits(const char *text)
{
	return (text[0] - '0') * 10 + text[1] - '0';
}

static bool is_date(const char *text, const char **ret_end)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int year;
	int month;
	int last;

	if (!fits(text, "0000-00-00", ret_end))
		return false;
	year = two_digits(text) * 100 + two_digits(text + 2);
	month = two_digits(text + 5);
	if (year < 1 || month < 1 || month > 12)
		return false;
	last = days[month - 1] + (month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
	return two_digits(text + 8) >= 1 && two_digits(text + 8) <= last;
}

static bool is_time(const char *text, const char **ret_end)
{
	const char *end;

	if (!fits(text, "00:00:00", &end) || two_digits(text) > 23 || two_digits(text + 3) > 59 ||
		two_digits(text + 6) > 59)
		return false;
	if (*end == '.') {
		const char *digits = ++end;

		while (*end >= '0' && *end <= '9')
			end++;
		if (end == digits)
			return false;
	}
	*ret_end = end;
	return true;
}

static bool is_offset(const char *text, const char **ret_end)
{
	if (*text == 'Z' || *text == 'z') {
		*ret_end = text + 1;
		return true;
	}
	return (*text == '+' || *text == '-') && fits(text + 1, "00:00", ret_end) && two_digits(text + 1) <= 23 &&
		two_digits(text + 4) <= 59;
}

static bool is_moment(const char *text)
{
	const char *end = text;

	if (is_time(text, &end))
		return *end == '\0';
	if (!is_date(text, &end))
		return false;
	if (*end == '\0')
		return true;
	if (strchr("Tt ", *end) == NULL || !is_time(end + 1, &end))
		return false;
	return *end == '\0' || (is_offset(end, &end) && *end == '\0');
}

static bool is_in(const char *bytes, char byte)
{
	return byte != '\0' && strchr(bytes, byte) != NULL;
}

/* Copies digits of a kind without the underscores between them; NULL where they aren't well-formed. */
static const char *copy_digits(const char *text, const char *digits, char **out)
{
	const char *start = text;

	while (is_in(digits, *text) || (*text == '_' && text > start && is_in(digits, text[1]))) {
		if (*text != '_')
			*(*out)++ = *text;
		text++;
	}
	return text == start ? NULL : text;
}

static bool read_based(const char *text, long long *ret)
{
	static const char *const digits[] = {"0123456789abcdefABCDEF", "01234567", "01"};
	static const int bases[] = {16, 8, 2};
	char plain[NUMBER_SIZE];
	char *out = plain;
	size_t kind;
	const char *end;

	if (text[0] != '0' || !is_in("xob", text[1]))
		return false;
	kind = text[1] == 'x' ? 0 : text[1] == 'o' ? 1 : 2;
	end = copy_digits(text + 2, digits[kind], &out);
	if (end == NULL || *end != '\0')
		return false;
	*out = '\0';
	errno = 0;
	*ret = strtoll(plain, NULL, bases[kind]);
	return errno == 0;
}

/* Decimal: an optional sign, no leading zero, then what makes it a float. */
static bool read_decimal(const char *text, char plain[static NUMBER_SIZE], bool *ret_is_float)
{
	static const char digits[] = "0123456789";
	char *out = plain;

	*ret_is_float = false;
	if (*text == '+' || *text == '-')
		*out++ = *text++;
	if (text[0] == '0' && (is_in(digits, text[1]) || text[1] == '_'))
		return false;
	text = copy_digits(text, digits, &out);
	if (text != NULL && *text == '.') {
		*ret_is_float = true;
		*out++ = *text++;
		text = copy_digits(text, digits, &out);
	}
	if (text != NULL && (*text == 'e' || *text == 'E')) {
		*ret_is_float = true;
		*out++ = *text++;
		if (*text == '+' || *text == '-')
			*out++ = *text++;
		text = copy_digits(text, digits, &out);
	}
	*out = '\0';
	return text != NULL && *text == '\0';
}

static json_t *float_of(const char *text)
{
	double value = strtod(text, NULL);

	return isfinite(value) ? json_real(value) : json_null();
}

static bool is_endless(const char *text)
{
	text += *text == '+' || *text == '-';
	return strcmp(text, "inf") == 0 || strcmp(text, "nan") == 0;
}

/* The value of one word, or NULL; *ret_is_known tells no memory from no value. */
static json_t *value_of(const char *word, bool *ret_is_known)
{
	char plain[NUMBER_SIZE];
	long long number = 0;
	bool is_float = false;

	*ret_is_known = true;
	if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)
		return json_boolean(*word == 't');
	if (is_endless(word) || is_moment(word))
		return json_null();
	if (read_based(word, &number))
		return json_integer(number);
	*ret_is_known = read_decimal(word, plain, &is_float);
	if (!*ret_is_known)
		return NULL;
	if (is_float)
		return float_of(plain);
	errno = 0;
	number = strtoll(plain, NULL, 10);
	*ret_is_known = errno == 0;
	return errno == 0 ? json_integer(number) : NULL;
}

static size_t word_length(const struct toml_reading *reading)
{
	const char *text = reading->text.bytes + reading->at;
	size_t left = reading->text.len - reading->at;
	size_t len = 0;
	const char *end;
	char date[11] = "";

	while (len < left && (is_bare(text[len]) || is_in("+.:", text[len])))
		len++;
	if (len != 10 || left < 19 || text[10] != ' ')
		return len;
	/* A blank may part a date from its time. */
	memcpy(date, text, 10);
	if (!is_date(date, &end) || text[11] < '0' || text[11] > '9')
		return len;
	for (len = 11; len < left && (is_bare(text[len]) || is_in("+.:", text[len]));)
		len++;
	return len;
}

int toml_take_scalar(struct toml_reading *reading, json_t **ret)
{
	char word[NUMBER_SIZE];
	size_t len = word_length(reading);
	bool is_known = true;

	if (reading->at == reading->text.len)
		return toml_refuse(reading, "the file ends within a value");
	if (len == 0 || len >= sizeof(word))
		return toml_refuse(reading, "a value must stand here");
	memcpy(word, reading->text.bytes + reading->at, len);
	word[len] = '\0';
	*ret = value_of(word, &is_known);
	if (*ret == NULL)
		return is_known ? -ENOMEM : toml_refuse(reading, "a value must stand here");
	reading->at += len;
	return 0;
}
