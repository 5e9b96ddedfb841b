#include "prober/address_rule.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

struct range {
	const char *network;
	unsigned bits;
	enum address_kind kind;
};

/* The first that fits. */
static const struct range ipv4_ranges[] = {
	{"127.0.0.0", 8, ADDRESS_LOOPBACK},
	{"100.100.100.200", 32, ADDRESS_NEVER}, /* a cloud's metadata */
	{"0.0.0.0", 8, ADDRESS_NEVER},
	{"169.254.0.0", 16, ADDRESS_NEVER},
	{"192.0.0.0", 24, ADDRESS_NEVER}, /* protocol assignments, and a cloud's metadata */
	{"224.0.0.0", 4, ADDRESS_NEVER},
	{"240.0.0.0", 4, ADDRESS_NEVER},
	{"10.0.0.0", 8, ADDRESS_PRIVATE},
	{"100.64.0.0", 10, ADDRESS_PRIVATE},
	{"172.16.0.0", 12, ADDRESS_PRIVATE},
	{"192.168.0.0", 16, ADDRESS_PRIVATE},
	{"192.0.2.0", 24, ADDRESS_PRIVATE},
	{"198.18.0.0", 15, ADDRESS_PRIVATE},
	{"198.51.100.0", 24, ADDRESS_PRIVATE},
	{"203.0.113.0", 24, ADDRESS_PRIVATE},
	{"0.0.0.0", 0, ADDRESS_PUBLIC},
};

static const struct range ipv6_ranges[] = {
	{"::1", 128, ADDRESS_LOOPBACK}, {"::", 128, ADDRESS_NEVER},
	{"fd00:ec2::", 32, ADDRESS_NEVER}, /* a cloud's metadata */
	{"fe80::", 10, ADDRESS_NEVER}, {"ff00::", 8, ADDRESS_NEVER}, {"fc00::", 7, ADDRESS_PRIVATE},
	{"fec0::", 10, ADDRESS_PRIVATE}, {"2001:db8::", 32, ADDRESS_PRIVATE}, {"2000::", 3, ADDRESS_PUBLIC},
	{"::", 0, ADDRESS_NEVER}, /* not given out to anybody */
};

/* Where an IPv6 address carries one of IPv4. */
static const struct {
	const char *network;
	unsigned bits;
	size_t at; /* of the four bytes */
} carriers[] = {
	{"::ffff:0:0", 96, 12},
	{"64:ff9b::", 96, 12},
	{"64:ff9b:1::", 48, 12},
	{"2002::", 16, 2},
};

static bool is_in(const unsigned char *address, const unsigned char *network, unsigned bits)
{
	unsigned whole = bits / 8;

	if (memcmp(address, network, whole) != 0)
		return false;
	return bits % 8 == 0 || ((address[whole] ^ network[whole]) >> (8 - bits % 8)) == 0;
}

static enum address_kind judge(int family, const unsigned char *address, const struct range *ranges, size_t count)
{
	unsigned char network[sizeof(struct in6_addr)];

	for (size_t i = 0; i < count; i++)
		if (inet_pton(family, ranges[i].network, network) == 1 && is_in(address, network, ranges[i].bits))
			return ranges[i].kind;
	return ADDRESS_NEVER;
}

static enum address_kind judge_ipv4(const unsigned char *address)
{
	return judge(AF_INET, address, ipv4_ranges, sizeof(ipv4_ranges) / sizeof(*ipv4_ranges));
}

static enum address_kind judge_ipv6(const unsigned char *address)
{
	unsigned char network[sizeof(struct in6_addr)];

	for (size_t i = 0; i < sizeof(carriers) / sizeof(*carriers); i++)
		if (inet_pton(AF_INET6, carriers[i].network, network) == 1 && is_in(address, network, carriers[i].bits))
			return judge_ipv4(address + carriers[i].at);
	return judge(AF_INET6, address, ipv6_ranges, sizeof(ipv6_ranges) / sizeof(*ipv6_ranges));
}

enum address_kind address_rule_kind(const struct sockaddr *address)
{
	struct sockaddr_in ipv4;
	struct sockaddr_in6 ipv6;

	if (address->sa_family == AF_INET) {
		memcpy(&ipv4, address, sizeof(ipv4));
		return judge_ipv4((const unsigned char *)&ipv4.sin_addr);
	}
	if (address->sa_family != AF_INET6)
		return ADDRESS_NEVER;
	memcpy(&ipv6, address, sizeof(ipv6));
	return judge_ipv6(ipv6.sin6_addr.s6_addr);
}

bool address_rule_allows(const struct sockaddr *address, bool loopback_only, bool allow_private)
{
	enum address_kind kind = address_rule_kind(address);

	if (loopback_only)
		return kind == ADDRESS_LOOPBACK;
	if (kind == ADDRESS_PRIVATE || kind == ADDRESS_LOOPBACK)
		return allow_private;
	return kind == ADDRESS_PUBLIC;
}
