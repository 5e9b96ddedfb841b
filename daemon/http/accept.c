#include "daemon/http/accept.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { WEIGHT_FULL = 1000 };

static struct str trim(struct str text)
{
	while (text.len > 0 && (text.bytes[0] == ' ' || text.bytes[0] == '\t'))
		text = (struct str){text.bytes + 1, text.len - 1};
	while (text.len > 0 && (text.bytes[text.len - 1] == ' ' || text.bytes[text.len - 1] == '\t'))
		text.len--;
	return text;
}

/* What stands before `mark`, trimmed; *rest is what stands behind it. */
static struct str cut(struct str *rest, char mark)
{
	const char *at = rest->len > 0 ? memchr(rest->bytes, mark, rest->len) : NULL;
	struct str piece = {rest->bytes, at != NULL ? (size_t)(at - rest->bytes) : rest->len};

	*rest = at != NULL ? (struct str){at + 1, rest->len - piece.len - 1} : (struct str){rest->bytes, 0};
	return trim(piece);
}

/* "0.5" in thousandths; what is no weight counts as none. */
static int read_weight(struct str text)
{
	int weight = 0;
	int place = WEIGHT_FULL;

	if (text.len == 0 || text.len > 5 || (text.bytes[0] != '0' && text.bytes[0] != '1'))
		return 0;
	weight = (text.bytes[0] - '0') * WEIGHT_FULL;
	for (size_t i = 2; i < text.len && text.bytes[i] >= '0' && text.bytes[i] <= '9'; i++) {
		place /= 10;
		weight += (text.bytes[i] - '0') * place;
	}
	return weight < WEIGHT_FULL ? weight : WEIGHT_FULL;
}

static bool is_same(struct str text, const char *literal, size_t len)
{
	return text.len == len && strncasecmp(text.bytes, literal, len) == 0;
}

/* How closely a range names an offer: 0 not at all, 1 by the star of all, 2 by its kind, 3 itself. */
static int closeness(struct str range, const char *offer)
{
	size_t kind = strcspn(offer, "/") + 1;

	if (is_same(range, offer, strlen(offer)))
		return 3;
	if (range.len == kind + 1 && range.bytes[kind] == '*' && strncasecmp(range.bytes, offer, kind) == 0)
		return 2;
	return is_same(range, "*/*", 3) ? 1 : 0;
}

static int weight_of(struct str parameters)
{
	while (parameters.len > 0) {
		struct str parameter = cut(&parameters, ';');

		if (parameter.len > 2 && (parameter.bytes[0] | 0x20) == 'q' && parameter.bytes[1] == '=')
			return read_weight((struct str){parameter.bytes + 2, parameter.len - 2});
	}
	return WEIGHT_FULL;
}

/* The weight that the closest range gives an offer. */
static int weigh(struct str header, const char *offer)
{
	int best = 0;
	int weight = 0;

	while (header.len > 0) {
		struct str rest = cut(&header, ',');
		struct str range = cut(&rest, ';');
		int close = closeness(range, offer);

		if (close <= best)
			continue;
		best = close;
		weight = weight_of(rest);
	}
	return weight;
}

int accept_choose(struct str header, const char *const *offers, size_t count)
{
	int chosen = -1;
	int best = 0;

	if (trim(header).len == 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		int weight = weigh(header, offers[i]);

		if (weight <= best)
			continue;
		best = weight;
		chosen = (int)i;
	}
	return chosen;
}
