#include "agents/url_rule.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

enum { PORT_LIMIT = 65535, PORT_DIGITS = 5, IPV4_PARTS = 4 };

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* A byte that every client takes as it stands. */
static bool is_plain(char byte)
{
	return byte > 0x20 && byte < 0x7f && byte != '\\';
}

static bool is_all_plain(struct str url)
{
	for (size_t i = 0; i < url.len; i++)
		if (!is_plain(url.bytes[i]))
			return false;
	return url.len > 0;
}

static bool take_prefix(struct str *text, const char *prefix)
{
	size_t len = strlen(prefix);

	if (text->len < len || strncasecmp(text->bytes, prefix, len) != 0)
		return false;
	text->bytes += len;
	text->len -= len;
	return true;
}

/* What stands before the path, the query or the fragment. */
static struct str cut_authority(struct str rest)
{
	size_t len = 0;

	while (len < rest.len && rest.bytes[len] != '/' && rest.bytes[len] != '?' && rest.bytes[len] != '#')
		len++;
	return (struct str){rest.bytes, len};
}

/* The part before the last @; absent without one. */
static struct str user_of(struct str authority)
{
	for (size_t i = authority.len; i > 0; i--)
		if (authority.bytes[i - 1] == '@')
			return (struct str){authority.bytes, i - 1};
	return (struct str){0};
}

static bool is_port(struct str text)
{
	unsigned value = 0;

	if (text.len == 0 || text.len > PORT_DIGITS)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		if (!is_digit(text.bytes[i]))
			return false;
		value = value * 10 + (unsigned)(text.bytes[i] - '0');
	}
	return value <= PORT_LIMIT;
}

/* Splits "host", "host:port", "[v6]", "[v6]:port"; false when it is none of them. */
static bool split_port(struct str authority, struct str *ret_host)
{
	const char *end = NULL;
	size_t used = 0;

	if (authority.len > 0 && authority.bytes[0] == '[')
		end = memchr(authority.bytes, ']', authority.len);
	else
		end = memchr(authority.bytes, ':', authority.len);
	if (authority.len > 0 && authority.bytes[0] == '[' && end == NULL)
		return false;
	if (end == NULL) {
		*ret_host = authority;
		return authority.len > 0;
	}
	used = (size_t)(end - authority.bytes) + (*end == ']');
	*ret_host = (struct str){authority.bytes, used};
	if (used == authority.len)
		return true;
	return authority.bytes[used] == ':' &&
		is_port((struct str){authority.bytes + used + 1, authority.len - used - 1}) && used > 0;
}

/* Four decimal numbers without leading zeros. */
static bool read_ipv4(struct str host, unsigned char ret[static IPV4_PARTS])
{
	char text[INET_ADDRSTRLEN];

	if (host.len == 0 || host.len >= sizeof(text))
		return false;
	memcpy(text, host.bytes, host.len);
	text[host.len] = '\0';
	return inet_pton(AF_INET, text, ret) == 1;
}

/* "[…]" with an IPv6 address in it. */
static bool read_ipv6(struct str host, struct in6_addr *ret)
{
	char text[INET6_ADDRSTRLEN];

	if (host.len < 4 || host.len - 2 >= sizeof(text))
		return false;
	memcpy(text, host.bytes + 1, host.len - 2);
	text[host.len - 2] = '\0';
	return inet_pton(AF_INET6, text, ret) == 1;
}

static bool is_name_byte(char byte)
{
	return is_digit(byte) || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '.' ||
		byte == '-' || byte == '_';
}

/* Whether clients would read the host as a number: its last label is decimal, or hexadecimal with 0x. */
static bool looks_numeric(struct str host)
{
	size_t end = host.len > 0 && host.bytes[host.len - 1] == '.' ? host.len - 1 : host.len;
	size_t start = end;

	while (start > 0 && host.bytes[start - 1] != '.')
		start--;
	if (end - start >= 2 && host.bytes[start] == '0' && (host.bytes[start + 1] | 0x20) == 'x')
		return true;
	for (size_t i = start; i < end; i++)
		if (!is_digit(host.bytes[i]))
			return false;
	return end > start;
}

enum host { HOST_REFUSED = 0, HOST_OTHER, HOST_LOOPBACK };

static enum host judge_address(struct str host)
{
	unsigned char ipv4[IPV4_PARTS];

	if (!read_ipv4(host, ipv4))
		return HOST_REFUSED;
	return ipv4[0] == 127 ? HOST_LOOPBACK : HOST_OTHER;
}

static enum host judge_host(struct str host)
{
	struct in6_addr ipv6;

	if (host.bytes[0] == '[') {
		if (!read_ipv6(host, &ipv6))
			return HOST_REFUSED;
		return IN6_IS_ADDR_LOOPBACK(&ipv6) ? HOST_LOOPBACK : HOST_OTHER;
	}
	for (size_t i = 0; i < host.len; i++)
		if (!is_name_byte(host.bytes[i]))
			return HOST_REFUSED;
	if (host.bytes[0] == '.' || host.bytes[0] == '-')
		return HOST_REFUSED;
	if (looks_numeric(host))
		return judge_address(host);
	return host.len == strlen("localhost") && strncasecmp(host.bytes, "localhost", host.len) == 0 ? HOST_LOOPBACK
												      : HOST_OTHER;
}

enum url_rule_verdict url_rule_judge(struct str url)
{
	struct str rest = url;
	struct str authority = {0};
	struct str user = {0};
	struct str host = {0};
	bool is_https = false;
	enum host found = HOST_REFUSED;

	if (!is_all_plain(url))
		return URL_RULE_REFUSED;
	is_https = take_prefix(&rest, "https://");
	if (!is_https && !take_prefix(&rest, "http://"))
		return URL_RULE_REFUSED;
	authority = cut_authority(rest);
	user = user_of(authority);
	if (user.bytes != NULL)
		authority = (struct str){authority.bytes + user.len + 1, authority.len - user.len - 1};
	if (!split_port(authority, &host))
		return URL_RULE_REFUSED;
	found = judge_host(host);
	if (is_https)
		return found != HOST_REFUSED ? URL_RULE_HTTPS : URL_RULE_REFUSED;
	return found == HOST_LOOPBACK ? URL_RULE_LOOPBACK : URL_RULE_REFUSED;
}

bool url_rule_has_password(struct str url)
{
	struct str rest = url;
	struct str user = {0};

	if (!take_prefix(&rest, "https://") && !take_prefix(&rest, "http://"))
		return false;
	user = user_of(cut_authority(rest));
	return user.bytes != NULL && memchr(user.bytes, ':', user.len) != NULL;
}
