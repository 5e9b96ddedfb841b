/* The rule of chapter 5.6 on addresses of tool servers, as a table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agents/url_rule.h"

static const char *const allowed[] = {
	"https://mcp.example.com:8443/x",
	"HTTPS://X.COM",
	"https://user@mcp.example.com/",
	"https://127.0.0.1/",
	"https://10.0.0.1:8443/mcp?x=@y#@z",
	"https://[2001:db8::1]/",
	"https://a_b.example/",
};

static const char *const loopback[] = {
	"http://localhost:3000/mcp",
	"HTTP://LOCALHOST",
	"http://127.9.9.9/x",
	"http://127.0.0.1",
	"http://127.255.255.255:65535",
	"http://[::1]:80/",
	"http://[0:0:0:0:0:0:0:1]/",
	"http://user@127.0.0.1:8080",
	"http://evil.example@127.0.0.1/",
	"http://user@evil.example@127.0.0.1",
	"http://127.0.0.1/@evil.example",
	"http://localhost?x=@evil.example",
};

static const char *const refused[] = {
	"http://127.1/",
	"http://0177.0.0.1/",
	"http://2130706433/",
	"http://0x7f.0.0.1/",
	"http://0x7f000001/",
	"http://127.0.0.01/",
	"http://127.0.0.1./",
	"http://mcp.example.com/",
	"http://127.0.0.1.evil.example/",
	"http://a127.0.0.1",
	"http://127x0x0x1",
	"http://128.0.0.1",
	"http://126.255.255.255",
	"http://0.0.0.0/",
	"http://127.0.0.1@evil.example/",
	"http://localhost@evil.example/",
	"http://user:pw@localhost@evil.example/",
	"http://evil.example/@127.0.0.1",
	"http://evil.example?x=@127.0.0.1",
	"http://evil.example#@127.0.0.1",
	"http://evil.example\\@127.0.0.1/",
	"http://evil.example\\@localhost",
	"https://evil.example\\x",
	"http://[127.0.0.1",
	"http://[localhost:",
	"http://x127.0.0.1]",
	"http://[]",
	"http://[::1",
	"http://[::1]x/",
	"http://[::2]/",
	"http://[::ffff:127.0.0.1]/",
	"http://[::1%25lo]/",
	"http://localhost.evil.example/",
	"http://localhost./",
	"http://localhostx/",
	"http://localhost:/",
	"http://localhost:65536/",
	"http://localhost:123456/",
	"http://localhost:80x/",
	"http://localhost:80:80/",
	"http:///x",
	"http://",
	"https://",
	"https:///x",
	"https://@/",
	"https://?x",
	"https://0177.0.0.1/",
	"https://2130706433/",
	"https://1.2.3/",
	"https://a/b.example:x y",
	"https://ex\xc3\xa4mple/",
	"https:/x.com",
	"https:x.com",
	"ws://localhost/",
	"wss://x.example/",
	"file:///etc/passwd",
	"javascript:alert(1)",
	"//host/x",
	"/x",
	"not a url",
	"localhost:3000",
	"",
};

static struct str text(const char *url)
{
	return (struct str){url, strlen(url)};
}

static void every_url_of_the_table_has_its_verdict(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++)
		if (url_rule_judge(text(allowed[i])) != URL_RULE_HTTPS)
			fail_msg("%s is refused", allowed[i]);
	for (size_t i = 0; i < sizeof(loopback) / sizeof(*loopback); i++)
		if (url_rule_judge(text(loopback[i])) != URL_RULE_LOOPBACK)
			fail_msg("%s is no loopback", loopback[i]);
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		if (url_rule_judge(text(refused[i])) != URL_RULE_REFUSED)
			fail_msg("%s is allowed", refused[i]);
}

/* Put anywhere into an allowed URL, they refuse it. */
static void a_byte_that_clients_read_differently_refuses_any_url(void **state)
{
	static const char bytes[] = " \t\n\r\x01\x1f\x7f\\\x80\xff";

	(void)state;
	for (size_t i = 0; i < sizeof(loopback) / sizeof(*loopback); i++)
		for (size_t at = 0; at <= strlen(loopback[i]); at++)
			for (size_t b = 0; b < sizeof(bytes); b++) {
				char url[256];
				size_t len = strlen(loopback[i]) + 1;

				memcpy(url, loopback[i], at);
				url[at] = bytes[b];
				memcpy(url + at + 1, loopback[i] + at, len - at);
				if (url_rule_judge((struct str){url, len}) != URL_RULE_REFUSED)
					fail_msg("%s is allowed with byte %d at %zu", loopback[i], bytes[b], at);
			}
}

/* The text ends where it says, not at a NUL behind it. */
static void a_cut_url_is_judged_by_its_length_alone(void **state)
{
	const char *url = "http://127.0.0.1.evil.example/";

	(void)state;
	assert_int_equal(url_rule_judge((struct str){url, strlen("http://127.0.0.1")}), URL_RULE_LOOPBACK);
	assert_int_equal(url_rule_judge((struct str){url, strlen("http://127.0.0.")}), URL_RULE_REFUSED);
}

static void a_password_is_seen_before_the_last_at_and_nowhere_else(void **state)
{
	(void)state;
	assert_true(url_rule_has_password(text("https://user:pw@x.example/")));
	assert_true(url_rule_has_password(text("http://a:b@c@127.0.0.1/")));
	assert_false(url_rule_has_password(text("https://user@x.example:80/")));
	assert_false(url_rule_has_password(text("https://x.example:80/a:b@c")));
	assert_false(url_rule_has_password(text("ftp://a:b@c/")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_url_of_the_table_has_its_verdict),
		cmocka_unit_test(a_byte_that_clients_read_differently_refuses_any_url),
		cmocka_unit_test(a_cut_url_is_judged_by_its_length_alone),
		cmocka_unit_test(a_password_is_seen_before_the_last_at_and_nowhere_else),
	};

	return cmocka_run_group_tests_name("url rule", tests, NULL, NULL);
}
