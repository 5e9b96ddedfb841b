/* The strict pass over bytes that comes before jansson, and the pointers of what it refuses. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/http/json_in.h"
#include "policy/buf.h"
#include "policy/json_parse.h"
#include "policy/text.h"

enum { NUMBER_MAX = 400, POINTER_MAX = 1024 };

/* Where the scan stands: inside a member or an item of each open value. */
struct frame {
	bool in_object;
	const char *key; /* raw, between its quotes */
	size_t key_len;
	size_t index;
};

struct scan {
	const char *begin;
	const char *at;
	const char *end;
	struct frame frames[JSON_IN_DEPTH];
	unsigned depth;
	size_t values;
	size_t duplicate_end; /* offset behind a key that jansson saw twice; 0 while scanning the first time */
	const char *detail;   /* of the fault; NULL while there is none */
	size_t offset;
};

static bool scan_value(struct scan *scan);

static bool fail(struct scan *scan, const char *at, const char *detail)
{
	scan->detail = detail;
	scan->offset = (size_t)(at - scan->begin);
	return false;
}

static void skip_space(struct scan *scan)
{
	while (scan->at < scan->end &&
		(*scan->at == ' ' || *scan->at == '\t' || *scan->at == '\n' || *scan->at == '\r'))
		scan->at++;
}

static bool scan_word(struct scan *scan, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(scan->end - scan->at) < len || memcmp(scan->at, word, len) != 0)
		return fail(scan, scan->at, "this is no JSON value");
	scan->at += len;
	return true;
}

/* The value of four hex digits, or -1. */
static int hex4(const char *at, const char *end)
{
	int value = 0;

	if (end - at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char digit = at[i];

		value <<= 4;
		if (digit >= '0' && digit <= '9')
			value |= digit - '0';
		else if ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f')
			value |= (digit | 0x20) - 'a' + 10;
		else
			return -1;
	}
	return value;
}

/* At a backslash. */
static bool scan_escape(struct scan *scan)
{
	const char *start = scan->at;
	int unit;

	if (scan->end - start < 2)
		return fail(scan, start, "the text does not end");
	if (start[1] != 'u') {
		if (!strchr("\"\\/bfnrt", start[1]) || start[1] == '\0')
			return fail(scan, start, "there is no such escape");
		scan->at += 2;
		return true;
	}
	unit = hex4(start + 2, scan->end);
	if (unit < 0)
		return fail(scan, start, "\\u needs four hex digits");
	if (unit == 0)
		return fail(scan, start, "a NUL is not allowed");
	scan->at += 6;
	if (unit >= 0xdc00 && unit <= 0xdfff)
		return fail(scan, start, "a lone surrogate is no character");
	if (unit < 0xd800 || unit > 0xdbff)
		return true;
	if (scan->end - scan->at < 2 || scan->at[0] != '\\' || scan->at[1] != 'u')
		return fail(scan, start, "a lone surrogate is no character");
	unit = hex4(scan->at + 2, scan->end);
	if (unit < 0xdc00 || unit > 0xdfff)
		return fail(scan, start, "a lone surrogate is no character");
	scan->at += 6;
	return true;
}

/* At a byte outside ASCII. */
static bool scan_multibyte(struct scan *scan)
{
	struct str rest = {scan->at, (size_t)(scan->end - scan->at)};
	size_t size = 0;

	if (text_next(rest, &size) == TEXT_INVALID)
		return fail(scan, scan->at, "this is not UTF-8");
	scan->at += size;
	return true;
}

/* At a quote; leaves behind the closing one. */
static bool scan_text(struct scan *scan)
{
	const char *start = scan->at++;

	while (scan->at < scan->end) {
		unsigned char byte = (unsigned char)*scan->at;

		if (byte == '"') {
			scan->at++;
			return true;
		}
		if (byte == '\\') {
			if (!scan_escape(scan))
				return false;
			continue;
		}
		if (byte < 0x20)
			return fail(scan, scan->at, "a control byte in a text must be escaped");
		if (byte < 0x80)
			scan->at++;
		else if (!scan_multibyte(scan))
			return false;
	}
	return fail(scan, start, "the text does not end");
}

static bool skip_digits(struct scan *scan)
{
	const char *start = scan->at;

	while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9')
		scan->at++;
	return scan->at > start;
}

static bool check_range(struct scan *scan, const char *start, bool is_real)
{
	char text[NUMBER_MAX + 1];
	size_t len = (size_t)(scan->at - start);

	if (len > NUMBER_MAX)
		return fail(scan, start, "the number is too long");
	memcpy(text, start, len);
	text[len] = '\0';
	errno = 0;
	if (is_real ? !isfinite(strtod(text, NULL)) : (strtoll(text, NULL, 10), errno == ERANGE))
		return fail(scan, start, "the number is out of range");
	return true;
}

static bool scan_number(struct scan *scan)
{
	const char *start = scan->at;
	bool is_real = false;

	if (*scan->at == '-')
		scan->at++;
	if (scan->at < scan->end && *scan->at == '0')
		scan->at++;
	else if (!skip_digits(scan))
		return fail(scan, start, "this is no JSON value");
	if (scan->at < scan->end && *scan->at == '.') {
		is_real = true;
		scan->at++;
		if (!skip_digits(scan))
			return fail(scan, start, "a number needs digits behind the point");
	}
	if (scan->at < scan->end && (*scan->at == 'e' || *scan->at == 'E')) {
		is_real = true;
		scan->at++;
		if (scan->at < scan->end && (*scan->at == '+' || *scan->at == '-'))
			scan->at++;
		if (!skip_digits(scan))
			return fail(scan, start, "a number needs digits in its exponent");
	}
	return check_range(scan, start, is_real);
}

static bool scan_key(struct scan *scan, struct frame *frame)
{
	const char *start = scan->at;

	if (scan->at == scan->end || *scan->at != '"')
		return fail(scan, start, "a member needs a name in quotes");
	frame->key = NULL; /* a fault inside the name is the object's */
	if (!scan_text(scan))
		return false;
	frame->key = start + 1;
	frame->key_len = (size_t)(scan->at - start - 2);
	if (scan->duplicate_end && (size_t)(scan->at - scan->begin) >= scan->duplicate_end)
		return fail(scan, start, "a member stands twice in its object");
	skip_space(scan);
	if (scan->at == scan->end || *scan->at != ':')
		return fail(scan, scan->at, "a colon is missing");
	scan->at++;
	return true;
}

/* Behind `{` or `[`, with its frame open. */
static bool scan_items(struct scan *scan, struct frame *frame, char close)
{
	skip_space(scan);
	if (scan->at < scan->end && *scan->at == close) {
		scan->at++;
		return true;
	}
	for (;; frame->index++) {
		skip_space(scan);
		if (frame->in_object && !scan_key(scan, frame))
			return false;
		if (!scan_value(scan))
			return false;
		skip_space(scan);
		if (scan->at < scan->end && *scan->at == close) {
			scan->at++;
			return true;
		}
		if (scan->at == scan->end)
			return fail(scan, scan->at, "the document ends too early");
		if (*scan->at != ',')
			return fail(scan, scan->at, "a comma is missing");
		scan->at++;
	}
}

static bool scan_container(struct scan *scan)
{
	bool in_object = *scan->at == '{';
	struct frame *frame;

	if (scan->depth == JSON_IN_DEPTH)
		return fail(scan, scan->at, "the document is nested too deeply");
	frame = &scan->frames[scan->depth];
	*frame = (struct frame){.in_object = in_object};
	scan->depth++;
	scan->at++;
	if (!scan_items(scan, frame, in_object ? '}' : ']'))
		return false; /* the frames stay, for the pointer */
	scan->depth--;
	return true;
}

static bool scan_value(struct scan *scan)
{
	skip_space(scan);
	if (scan->at == scan->end)
		return fail(scan, scan->at, "the document ends too early");
	if (++scan->values > JSON_IN_VALUES)
		return fail(scan, scan->at, "the document has too many values");
	switch (*scan->at) {
	case '{':
	case '[':
		return scan_container(scan);
	case '"':
		return scan_text(scan);
	case 't':
		return scan_word(scan, "true");
	case 'f':
		return scan_word(scan, "false");
	case 'n':
		return scan_word(scan, "null");
	default:
		return scan_number(scan);
	}
}

static bool scan_document(struct scan *scan)
{
	if (!scan_value(scan))
		return false;
	skip_space(scan);
	return scan->at == scan->end || fail(scan, scan->at, "there is something behind the document");
}

/* Names that the API itself uses. Only these are said in the pointer of a broken document: any other name may
 * be a secret that lost its place, and a broken document is not stored, so nobody else ever shows it.
 */
static const char *const api_names[] = {
	"action",
	"agent",
	"agentConfig",
	"args",
	"assignment",
	"baseUrl",
	"blocked",
	"body",
	"capabilities",
	"capability",
	"catalog",
	"checkedAt",
	"class",
	"command",
	"consumedAt",
	"decision",
	"dependsOn",
	"document",
	"effect",
	"enabled",
	"env",
	"error",
	"expectedRevision",
	"expires",
	"expiresAt",
	"fallback",
	"grants",
	"headers",
	"health",
	"id",
	"installState",
	"label",
	"mcpAwareSubtasks",
	"mcpCapabilities",
	"mcpId",
	"mcpRequirements",
	"name",
	"observed",
	"outcome",
	"package",
	"packages",
	"planRevision",
	"principal",
	"project",
	"projects",
	"promptOverlays",
	"reason",
	"replace",
	"requirement",
	"requirementKey",
	"role",
	"roles",
	"root",
	"rootRevision",
	"rules",
	"schemaVersion",
	"server",
	"servers",
	"sourceRequirementIndex",
	"status",
	"subtasks",
	"summary",
	"targetId",
	"task",
	"title",
	"tool",
	"tools",
	"transport",
	"type",
	"url",
	"validSeconds",
	"version",
	"waitSeconds",
	"worker",
};

static bool is_api_name(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(api_names) / sizeof(api_names[0]); i++) {
		if (strlen(api_names[i]) == len && memcmp(api_names[i], name, len) == 0)
			return true;
	}
	return false;
}

static struct str render_pointer(const struct scan *scan, struct arena *arena)
{
	struct buf text;
	struct str pointer = {0};

	buf_init(&text, POINTER_MAX);
	for (unsigned i = 0; i < scan->depth; i++) {
		const struct frame *frame = &scan->frames[i];

		if (!frame->in_object)
			buf_printf(&text, "/%zu", frame->index);
		else if (frame->key && is_api_name(frame->key, frame->key_len))
			buf_printf(&text, "/%.*s", (int)frame->key_len, frame->key);
		else if (frame->key || i + 1 < scan->depth)
			buf_fail(&text, -EINVAL);
	}
	if (!buf_error(&text))
		pointer = arena_str(arena, buf_str(&text));
	buf_release(&text);
	return pointer;
}

static int refuse(const struct scan *scan, struct arena *arena, struct json_in_error *ret_error)
{
	*ret_error = (struct json_in_error){
		.offset = scan->offset,
		.detail = scan->detail,
		.pointer = render_pointer(scan, arena),
	};
	return JSON_IN_REFUSED;
}

/* jansson knows that a key came twice and where it stopped, but says so with the key; scan again up to there. */
static int refuse_duplicate(struct arena *arena, struct scan *scan, size_t position, struct json_in_error *ret_error)
{
	*scan = (struct scan){.begin = scan->begin, .at = scan->begin, .end = scan->end};
	scan->duplicate_end = position > 0 ? position : 1;
	if (scan_document(scan))
		(void)fail(scan, scan->begin + position, "a member stands twice in its object");
	return refuse(scan, arena, ret_error);
}

int json_in_parse(struct arena *arena, const char *bytes, size_t len, json_t **ret, struct json_in_error *ret_error)
{
	struct scan scan = {.begin = bytes, .at = bytes, .end = bytes + len};
	struct json_parse_fault fault;
	int result = 0;

	if (!scan_document(&scan))
		return refuse(&scan, arena, ret_error);
	result = json_parse((struct str){bytes, len}, ret, &fault);
	if (result != JSON_PARSE_NOT_JSON)
		return result;
	if (fault.kind == JSON_PARSE_DUPLICATE)
		return refuse_duplicate(arena, &scan, fault.offset, ret_error);
	/* The scan takes nothing that jansson refuses, so what is left is memory. */
	return -ENOMEM;
}
