/* PCRE2 is told the size of a code unit before its header is read. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <pcre2.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "policy/cleanup.h"
#include "policy/redact_internal.h"

/* How patterns stay linear (R2): each begins at a place that the one before can't have looked beyond (a lookbehind of
 * the class that follows), repeats are possessive or bounded, and nothing repeats inside a repeat. A pattern finds
 * only where a secret begins; how far it goes is walked in C, where what was looked up is remembered.
 *
 * Patterns work on bytes of cleaned text, so white space is a blank or a newline, and a newline is a blank the
 * second time (R1). They don't cross: each rule reads the same text, and overlapping spans become one mask.
 */

/* What a key is written with. */
#define KEY "[A-Za-z0-9_.\\x80-\\xff-]"
#define NO_KEY_BEFORE "(?<!" KEY ")"
/* No letter or digit before, or one that belongs to an escape: \n, %20. */
#define WORD_BEGIN "(?:(?<![A-Za-z0-9])|(?<=\\\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
#define BLANK "[ \\n]"
#define QUOTE "\\\\*+[\"']"
#define SLASHES "(?:\\\\?/){2}"

static const char private_key_pattern[] = "-{4,5} ?(BEGIN|END)" BLANK "[A-Z0-9 ]{0,40}PRIVATE KEY[A-Z0-9 ]{0,12}-{0,5}";

static const char database_pattern[] =
	"(?i)" WORD_BEGIN
	"(?:(?:postgres(?:ql)?|pg|mysqlx?|mariadb|mongodb|rediss?|valkeys?|amqps?|mssql|sqlserver|oracle|"
	"clickhouse|cockroach(?:db)?|cassandra|neo4j|bolt|couchdb|couchbases?|influxdb|snowflake|db2|nats|kafka)"
	"(?:[+][a-z0-9]{1,20}){0,3}:" SLASHES "|jdbc:[a-z0-9]{1,40}:)(?=[^ \\n])";

static const char url_pattern[] = "(:?)" SLASHES "(?=[^/ \\n])";

static const char auth_pattern[] = "(?i)" WORD_BEGIN "(?:bearer|basic)(?:" BLANK "|%20|[+]|(?:" QUOTE ")?+ ?[:=]" BLANK
				   "?)(?=[A-Za-z0-9._~+/=\\\\\"'-])";

static const char token_pattern[] =
	"(?:" WORD_BEGIN "(?:"
	"gh[pousr]_[A-Za-z0-9_]++(?:[.-][A-Za-z0-9_]++)*+"
	"|github_pat_(?=[a-z_]{0,64}+[A-Z0-9])[A-Za-z0-9_]++"
	"|glpat-[A-Za-z0-9_.-]++"
	"|gl(?:ptt|dt|ft|soat|oas|rt|rtr|cbt|imt|agent|ffct)-(?=[A-Za-z0-9_-]{12})[A-Za-z0-9_.-]++"
	"|xox[a-z]-[A-Za-z0-9-]++"
	"|xapp-(?=[A-Za-z0-9-]{8})[A-Za-z0-9-]++"
	"|sk-(?!learn(?![A-Za-z0-9]))(?=[A-Za-z0-9_-]{8})(?=(?:proj|svcacct|admin|ant|or)-"
	"|[a-z_-]{0,64}+[A-Z0-9]|[a-z]{20})[A-Za-z0-9_-]++"
	"|[sr]k_(?:live|test)_[A-Za-z0-9]++"
	"|A(?:KIA|SIA|BIA|CCA|IDA|ROA|GPA|IPA|NPA|NVA)(?=[A-Z0-9]{12})[A-Z0-9]++"
	"|AIza(?=[A-Za-z0-9_-]{16})[A-Za-z0-9_-]++"
	"|ya29[.][A-Za-z0-9_.-]++"
	"|GOCSPX-[A-Za-z0-9_-]++"
	"|1//0(?=[A-Za-z0-9_-]{16})[A-Za-z0-9_-]++"
	"|eyJ(?:(?=[A-Za-z0-9_-]{16})[A-Za-z0-9_-]++|[A-Za-z0-9_-]{1,15}+[.][A-Za-z0-9_-]++)(?:[.][A-Za-z0-9_-]*+){0,8}"
	"+"
	")|gh[pousr]_(?=[A-Za-z0-9]{36})[A-Za-z0-9_]++)";

static const char webhook_pattern[] =
	"(?i)hooks[.]slack(?:-gov)?[.]com\\\\?/(?:services|workflows|triggers)\\\\?/(?=[^ \\n])";

static const char netrc_pattern[] =
	"(?i)" NO_KEY_BEFORE "(?:machine|login|account)" BLANK "[^ \\n]++" BLANK "password" BLANK;

/* host:port:database:user: with a database and a user that aren't numbers: a compiler's file:line:column isn't
 * one, nor an address of many short hexadecimal parts.
 */
static const char pgpass_pattern[] =
	"(?<![^ \\n\"'=])(?!(?:[0-9A-Fa-f]{0,4}:){4})[^ \\n\"'=:]++:(?:[0-9]{2,5}|[*]):(?![0-9]*+:)[^ \\n\"':/]++:"
	"(?![0-9]*+:)[^ \\n\"':/]++:(?=[^ \\n])";

static const char key_pattern[] =
	"(?i)" NO_KEY_BEFORE "((?:api|private|secret|access|signing|encryption|shared|ssh|auth)" BLANK
	"keys?|pass phrase|" KEY "++)(" QUOTE "[]]?)?+" BLANK "?(=>|:=|={1,3}+|:(?!:|\\\\?/\\\\?/)|%3[ad])" BLANK
	"?(?=[^ \\n])";

/* --key value, also as items of a list: "--key", "value". */
static const char flag_pattern[] = "(?i)" NO_KEY_BEFORE "(--[a-z][a-z0-9_-]*+)(?:(" QUOTE ")(?:," BLANK "?|" BLANK
				   ")|" BLANK ")(?:- )?(?!--)(?=[^ \\n])";

/* -e NAME=value: whatever the name says. */
static const char environment_pattern[] =
	"(?i)" NO_KEY_BEFORE "(?:-e|--env|--build-arg)(?:" QUOTE ",?+" BLANK "?|[ \\n=])(?:- )?"
	"(?:" QUOTE ")?+([A-Za-z_][A-Za-z0-9_]*+)=(?=[^ \\n])";

/* ---- what each rule does with a match: `at` are the byte positions of the whole and of its groups */

static struct redact_head head_of(struct str text, const size_t *at, size_t groups)
{
	struct redact_head head = {.begin = at[2], .end = at[3], .value = at[1], .separator = ' '};

	head.is_closed = groups > 2 && at[4] != PCRE2_UNSET;
	if (groups > 3)
		head.separator = text.bytes[at[6]];
	return head;
}

static struct str key_of(struct str text, const struct redact_head *head)
{
	return (struct str){text.bytes + head->begin, head->end - head->begin};
}

/* `secrets:filesystem` puts two names together; `secrets: x` gives one a value. */
static bool is_joined_name(struct str text, const struct redact_head *head)
{
	size_t end = head->value;

	if (head->separator != ':' || head->value != head->end + 1)
		return false;
	while (end < text.len && end - head->value < 80 &&
		((text.bytes[end] >= 'a' && text.bytes[end] <= 'z') || strchr("_-.:", text.bytes[end])))
		end++;
	return end == text.len || text.bytes[end] == ' ' || text.bytes[end] == '\n';
}

static void take_key_value(struct redact_cursor *cursor, const size_t *at, size_t groups)
{
	struct redact_head head = head_of(cursor->text, at, groups);
	char before = head.begin ? cursor->text.bytes[head.begin - 1] : '\0';
	enum redact_key_kind kind = redact_key_kind_of(key_of(cursor->text, &head), head.separator, before);

	if (kind == REDACT_KEY_PLAIN || (kind == REDACT_KEY_COUNTABLE && is_joined_name(cursor->text, &head)))
		return;
	redact_value_mask(cursor, &head, kind);
}

static void take_environment(struct redact_cursor *cursor, const size_t *at, size_t groups)
{
	struct redact_head head = head_of(cursor->text, at, groups);

	redact_value_mask(cursor, &head, REDACT_KEY_SECRET);
}

static void take_whole(struct redact_cursor *cursor, const size_t *at, size_t groups)
{
	(void)groups;
	redact_span_add(cursor, at[0], at[1]);
}

static void take_word(struct redact_cursor *cursor, const size_t *at, size_t groups)
{
	(void)groups;
	redact_word_mask(cursor, at[1], false);
}

static void take_auth(struct redact_cursor *cursor, const size_t *at, size_t groups)
{
	(void)groups;
	redact_word_mask(cursor, at[1], true);
}

/* From BEGIN to its END; an END alone hides what is before it, a BEGIN alone what follows (find_by_rule). */
static void take_private_key(struct redact_cursor *cursor, const size_t *at, size_t groups)
{
	(void)groups;
	if (cursor->text.bytes[at[2]] == 'B') {
		if (cursor->open_key == SIZE_MAX)
			cursor->open_key = at[0];
		return;
	}
	redact_span_add(cursor, cursor->open_key == SIZE_MAX ? cursor->closed_key : cursor->open_key, at[1]);
	cursor->open_key = SIZE_MAX;
	cursor->closed_key = at[1];
}

/* What stands behind the first colon isn't a port: a password that holds a slash, which ends the authority early. */
static bool is_password_cut(struct str text, size_t begin, size_t end)
{
	const char *colon = memchr(text.bytes + begin, ':', end - begin);
	size_t at = colon ? (size_t)(colon - text.bytes) + 1 : end;
	bool is_port = true;

	if (!colon || at == end || text.bytes[begin] == '[' || end >= text.len || text.bytes[end] == '"')
		return false;
	for (; at < end && is_port; at++)
		is_port = text.bytes[at] >= '0' && text.bytes[at] <= '9';
	return !is_port;
}

static size_t authority_end(struct str text, size_t at)
{
	while (at < text.len && !strchr(" \n/?#\"<>", text.bytes[at]))
		at++;
	return at;
}

/* The authority ended at a slash of the password: up to the last @ of the word. */
static void take_cut_password(struct redact_cursor *cursor, size_t begin, size_t end)
{
	size_t blank = redact_next(cursor, ' ', end), line = redact_next(cursor, '\n', end);
	const char *sign;

	if (begin < cursor->covered)
		return;
	blank = blank < line ? blank : line;
	if (redact_next(cursor, '@', end) >= blank)
		return;
	sign = memrchr(cursor->text.bytes + end, '@', blank - end);
	cursor->covered = (size_t)(sign - cursor->text.bytes);
	redact_span_add(cursor, begin, cursor->covered);
}

/* Bare slashes (`//u:p@h`) want a password: a comment's address has none. */
static void take_url_user(struct redact_cursor *cursor, const size_t *at, size_t groups)
{
	struct str text = cursor->text;
	size_t begin = at[1], end = authority_end(text, begin), sign;
	const char *last = memrchr(text.bytes + begin, '@', end - begin);
	bool has_scheme = at[3] > at[2];

	(void)groups;
	if (!last && has_scheme && is_password_cut(text, begin, end)) {
		take_cut_password(cursor, begin, end);
		return;
	}
	if (!last)
		return;
	sign = (size_t)(last - text.bytes);
	if (has_scheme || memchr(text.bytes + begin, ':', sign - begin))
		redact_span_add(cursor, begin, sign);
}

/* ---- the table */

struct rule {
	enum redact_category category;
	unsigned needs; /* one of these was seen */
	const char *pattern;
	void (*take)(struct redact_cursor *cursor, const size_t *at, size_t groups);
};

/* Each goes on behind what its pattern matched, so that a secret inside another's value is seen too. */
static const struct rule rules[] = {
	{REDACT_PRIVATE_KEY, REDACT_SEEN_DASHES, private_key_pattern, take_private_key},
	{REDACT_DATABASE_URL, REDACT_SEEN_SEPARATOR, database_pattern, take_word},
	{REDACT_URL_USER, REDACT_SEEN_SEPARATOR, url_pattern, take_url_user},
	{REDACT_AUTH_VALUE, REDACT_SEEN_SPACE | REDACT_SEEN_SEPARATOR, auth_pattern, take_auth},
	{REDACT_TOKEN, REDACT_SEEN_TOKEN, token_pattern, take_whole},
	{REDACT_TOKEN, REDACT_SEEN_TOKEN | REDACT_SEEN_SEPARATOR, webhook_pattern, take_word},
	{REDACT_CREDENTIAL_FILE, REDACT_SEEN_SPACE, netrc_pattern, take_word},
	{REDACT_CREDENTIAL_FILE, REDACT_SEEN_SEPARATOR, pgpass_pattern, take_word},
	{REDACT_KEY_VALUE, REDACT_SEEN_SEPARATOR, key_pattern, take_key_value},
	{REDACT_KEY_VALUE, REDACT_SEEN_DASHES, flag_pattern, take_key_value},
	{REDACT_KEY_VALUE, REDACT_SEEN_SEPARATOR, environment_pattern, take_environment},
};
enum { RULES = sizeof(rules) / sizeof(*rules) };

/* Compiled once and never freed: they live as long as the process. */
static pcre2_code *codes[RULES];
static int init_result;
static pthread_once_t init_once = PTHREAD_ONCE_INIT;

/* JIT is a matter of speed only: where it isn't to be had (no executable memory), patterns are interpreted. */
static void compile_all(void)
{
	int error;
	PCRE2_SIZE offset;

	for (size_t i = 0; i < RULES; i++) {
		codes[i] = pcre2_compile((PCRE2_SPTR)rules[i].pattern, PCRE2_ZERO_TERMINATED, 0, &error, &offset, NULL);
		CHECK(codes[i] || error == PCRE2_ERROR_HEAP_FAILED);
		if (!codes[i])
			init_result = -ENOMEM;
		else
			(void)pcre2_jit_compile(codes[i], PCRE2_JIT_COMPLETE);
	}
}

int redact_init(void)
{
	return pthread_once(&init_once, compile_all) ? -ENOMEM : init_result;
}

/* A text of 16 MiB stays far below: what a pattern repeats is bounded or costs one step. */
const struct redact_limits redact_default_limits = {.match = 1000000, .heap_kib = 16 * 1024};

struct matcher {
	pcre2_match_data *data;
	pcre2_match_context *context;
	uint32_t options;
};

static void matcher_release(struct matcher *matcher)
{
	pcre2_match_data_free(matcher->data);
	pcre2_match_context_free(matcher->context);
}

static int matcher_init(struct matcher *matcher, const struct redact_limits *limits)
{
	matcher->options = limits->is_interpreted ? PCRE2_NO_JIT : 0;
	matcher->data = pcre2_match_data_create(4, NULL);
	matcher->context = pcre2_match_context_create(NULL);
	if (!matcher->data || !matcher->context)
		return -ENOMEM;
	(void)pcre2_set_match_limit(matcher->context, limits->match);
	(void)pcre2_set_heap_limit(matcher->context, limits->heap_kib);
	return 0;
}

/* The number of groups, 0 for no match, or negative as PCRE2 says. */
static int match_next(const struct matcher *matcher, const pcre2_code *code, struct str text, size_t from)
{
	int groups = pcre2_match(
		code, (PCRE2_SPTR)text.bytes, text.len, from, matcher->options, matcher->data, matcher->context);

	if (groups == PCRE2_ERROR_JIT_STACKLIMIT)
		groups = pcre2_match(code, (PCRE2_SPTR)text.bytes, text.len, from, matcher->options | PCRE2_NO_JIT,
			matcher->data, matcher->context);
	return groups == PCRE2_ERROR_NOMATCH ? 0 : groups;
}

static bool is_enough(const struct redact_spans *spans)
{
	return spans->is_out_of_memory || (spans->is_first_enough && spans->count);
}

static int find_by_rule(const struct matcher *matcher, size_t number, struct str text, struct redact_spans *spans)
{
	struct redact_cursor cursor = {
		.text = text, .spans = spans, .category = rules[number].category, .open_key = SIZE_MAX};
	const size_t *at = pcre2_get_ovector_pointer(matcher->data);
	size_t from = 0;
	int groups = 0;

	memset(cursor.next, 0xFF, sizeof(cursor.next));
	while (from < text.len && !is_enough(spans)) {
		groups = match_next(matcher, codes[number], text, from);
		if (groups <= 0)
			break;
		rules[number].take(&cursor, at, (size_t)groups);
		from = at[1] > from ? at[1] : from + 1;
	}
	spans->is_key_open = spans->is_key_open || cursor.open_key != SIZE_MAX;
	if (cursor.open_key != SIZE_MAX)
		redact_span_add(&cursor, cursor.open_key, text.len);
	return groups < 0 ? REDACT_LIMIT_HIT : 0;
}

int redact_find(struct str clean, unsigned seen, const struct redact_limits *limits, struct redact_spans *spans)
{
	struct matcher matcher CLEANUP(matcher_release) = {NULL, NULL, 0};
	int result = redact_init();

	if (result == 0)
		result = matcher_init(&matcher, limits);
	for (size_t i = 0; i < RULES && result == 0 && !is_enough(spans); i++)
		if (rules[i].needs & seen)
			result = find_by_rule(&matcher, i, clean, spans);
	return result == 0 && spans->is_out_of_memory ? -ENOMEM : result;
}
