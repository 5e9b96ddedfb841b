/* Which addresses the prober connects to, after a name was resolved (chapter 3.2 "Processes"). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "prober/address_rule.h"

static const struct {
	const char *address;
	enum address_kind kind;
} table[] = {
	{"127.0.0.1", ADDRESS_LOOPBACK},
	{"127.255.255.254", ADDRESS_LOOPBACK},
	{"::1", ADDRESS_LOOPBACK},
	{"::ffff:127.0.0.1", ADDRESS_LOOPBACK},
	{"64:ff9b::7f00:1", ADDRESS_LOOPBACK},
	{"2002:7f00:1::", ADDRESS_LOOPBACK},
	{"10.0.0.1", ADDRESS_PRIVATE},
	{"10.255.255.255", ADDRESS_PRIVATE},
	{"172.16.0.1", ADDRESS_PRIVATE},
	{"172.31.255.255", ADDRESS_PRIVATE},
	{"192.168.1.1", ADDRESS_PRIVATE},
	{"100.64.0.1", ADDRESS_PRIVATE},
	{"198.18.0.1", ADDRESS_PRIVATE},
	{"fc00::1", ADDRESS_PRIVATE},
	{"fdff::1", ADDRESS_PRIVATE},
	{"::ffff:10.0.0.1", ADDRESS_PRIVATE},
	{"2002:a00:1::1", ADDRESS_PRIVATE},
	{"169.254.169.254", ADDRESS_NEVER},
	{"::ffff:169.254.169.254", ADDRESS_NEVER},
	{"64:ff9b::a9fe:a9fe", ADDRESS_NEVER},
	{"2002:a9fe:a9fe::", ADDRESS_NEVER},
	{"100.100.100.200", ADDRESS_NEVER},
	{"192.0.0.192", ADDRESS_NEVER},
	{"fd00:ec2::254", ADDRESS_NEVER},
	{"fe80::1", ADDRESS_NEVER},
	{"febf::1", ADDRESS_NEVER},
	{"224.0.0.1", ADDRESS_NEVER},
	{"239.255.255.255", ADDRESS_NEVER},
	{"255.255.255.255", ADDRESS_NEVER},
	{"240.0.0.1", ADDRESS_NEVER},
	{"0.0.0.0", ADDRESS_NEVER},
	{"0.1.2.3", ADDRESS_NEVER},
	{"::", ADDRESS_NEVER},
	{"::ffff:0.0.0.0", ADDRESS_NEVER},
	{"::2", ADDRESS_NEVER},
	{"ff02::1", ADDRESS_NEVER},
	{"4000::1", ADDRESS_NEVER},
	{"1.1.1.1", ADDRESS_PUBLIC},
	{"126.255.255.255", ADDRESS_PUBLIC},
	{"128.0.0.1", ADDRESS_PUBLIC},
	{"172.15.255.255", ADDRESS_PUBLIC},
	{"172.32.0.0", ADDRESS_PUBLIC},
	{"100.63.255.255", ADDRESS_PUBLIC},
	{"100.128.0.0", ADDRESS_PUBLIC},
	{"2606:4700::1111", ADDRESS_PUBLIC},
	{"::ffff:1.1.1.1", ADDRESS_PUBLIC},
	{"64:ff9b::101:101", ADDRESS_PUBLIC},
};

static struct sockaddr_storage parse(const char *text)
{
	struct sockaddr_storage storage = {0};
	struct sockaddr_in *ipv4 = (struct sockaddr_in *)&storage;
	struct sockaddr_in6 *ipv6 = (struct sockaddr_in6 *)&storage;

	if (strchr(text, ':') == NULL) {
		ipv4->sin_family = AF_INET;
		assert_int_equal(inet_pton(AF_INET, text, &ipv4->sin_addr), 1);
	} else {
		ipv6->sin6_family = AF_INET6;
		assert_int_equal(inet_pton(AF_INET6, text, &ipv6->sin6_addr), 1);
	}
	return storage;
}

static void every_address_of_the_table_is_of_its_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct sockaddr_storage address = parse(table[i].address);

		if (address_rule_kind((const struct sockaddr *)&address) != table[i].kind)
			fail_msg("%s is of another kind", table[i].address);
	}
}

static void plain_http_stays_on_this_machine_and_https_leaves_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct sockaddr_storage storage = parse(table[i].address);
		const struct sockaddr *address = (const struct sockaddr *)&storage;
		enum address_kind kind = table[i].kind;

		assert_int_equal(address_rule_allows(address, true, false), kind == ADDRESS_LOOPBACK);
		assert_int_equal(address_rule_allows(address, true, true), kind == ADDRESS_LOOPBACK);
		assert_int_equal(address_rule_allows(address, false, false), kind == ADDRESS_PUBLIC);
		assert_int_equal(address_rule_allows(address, false, true), kind != ADDRESS_NEVER);
	}
}

static void what_is_no_internet_address_is_never_asked(void **state)
{
	const struct sockaddr other = {.sa_family = AF_UNIX};

	(void)state;
	assert_int_equal(address_rule_kind(&other), ADDRESS_NEVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_address_of_the_table_is_of_its_kind),
		cmocka_unit_test(plain_http_stays_on_this_machine_and_https_leaves_it),
		cmocka_unit_test(what_is_no_internet_address_is_never_asked),
	};

	return cmocka_run_group_tests_name("address rule", tests, NULL, NULL);
}
