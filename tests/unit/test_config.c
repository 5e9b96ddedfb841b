/* What an operator may set, what is refused with which line, and files with secrets (chapters 3.2, 4.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/config.h"
#include "daemon/secret_file.h"

static int setup(void **state)
{
	static struct config config;

	config_init(&config);
	*state = &config;
	return 0;
}

static int teardown(void **state)
{
	config_release(*state);
	return 0;
}

static void refuses(struct config *config, const char *text, int line, const char *words)
{
	struct config_fault fault;

	assert_int_equal(config_parse(config, text, strlen(text), &fault), CONFIG_REFUSED);
	assert_int_equal(fault.line, line);
	assert_non_null(strstr(fault.text, words));
}

static void without_a_file_it_listens_on_loopback(void **state)
{
	const struct config *config = *state;

	assert_string_equal(config->address, "127.0.0.1");
	assert_int_equal(config->port, 7333);
	assert_null(config->state);
	assert_int_equal(config->roots.count + config->hosts.count, 0);
	assert_false(config->allow_self_approval || config->durable_previews);
}

static void every_setting_is_read(void **state)
{
	static const char text[] =
		"; a comment\n[server]\nlisten = [::1]:0\nhosts = a.example, b.example:443\nhosts = c.example\n"
		"[store]\nstate = /srv/a b\n[roots]\nallow = /srv/one\nallow = /srv/two\n"
		"[approval]\nallow_self = yes\n[preview]\ndurable = true\n[events]\nbeat = 30\n[runs]\nlease_seconds = "
		"3600\n[health]\nmax_age_seconds = 300\n[context]\nfiles = 1\nbytes = 2\nfile_bytes = 3\ndepth = "
		"4\nentries = "
		"5\n";
	struct config *config = *state;
	struct config_fault fault;

	assert_int_equal(config_parse(config, text, sizeof(text) - 1, &fault), 0);
	assert_string_equal(config->address, "::1");
	assert_int_equal(config->port, 0);
	assert_int_equal(config->hosts.count, 3);
	assert_string_equal(config->hosts.items[1], "b.example:443");
	assert_string_equal(config->state, "/srv/a b");
	assert_int_equal(config->roots.count, 2);
	assert_string_equal(config->roots.items[1], "/srv/two");
	assert_true(config->allow_self_approval && config->durable_previews);
	assert_int_equal(config->beat_seconds, 30);
	assert_int_equal(config->lease_seconds, 3600);
	assert_int_equal(config->health_age_seconds, 300);
	assert_int_equal(config->context.files, 1);
	assert_int_equal(config->context.bytes, 2);
	assert_int_equal(config->context.file_bytes, 3);
	assert_int_equal(config->context.depth, 4);
	assert_int_equal(config->context.entries, 5);
}

static void what_is_not_known_is_refused_with_its_line(void **state)
{
	refuses(*state, "[server]\n\nlissten = 127.0.0.1:1\n", 3, "no setting lissten in [server]");
	refuses(*state, "[sever]\nlisten = 127.0.0.1:1\n", 2, "no setting listen in [sever]");
	refuses(*state, "listen = 127.0.0.1:1\n", 1, "before any [section]");
	refuses(*state, "[server]\nlisten\n", 2, "neither");
	refuses(*state, "[server\n", 1, "neither");
}

static void a_value_that_makes_no_sense_is_refused_with_its_line(void **state)
{
	refuses(*state, "[approval]\nallow_self = maybe\n", 2, "yes or no");
	refuses(*state, "[roots]\nallow = srv\n", 2, "from the root on");
	refuses(*state, "[server]\nlisten = localhost:1\n", 2, "numeric address");
	refuses(*state, "[store]\nstate =\n", 2, "folder");
	refuses(*state, "[events]\nbeat = 0\n", 2, "from 1 to 300");
	refuses(*state, "[events]\nbeat = 15s\n", 2, "from 1 to 300");
	refuses(*state, "[events]\nbeat = -1\n", 2, "from 1 to 300");
	refuses(*state, "[runs]\nlease_seconds = 0\n", 2, "1 to 3600");
	refuses(*state, "[runs]\nlease_seconds = 3601\n", 2, "1 to 3600");
	refuses(*state, "[runs]\nlease_seconds = 99999999999999999999\n", 2, "1 to 3600");
	refuses(*state, "[runs]\nlease_seconds = 1.5\n", 2, "1 to 3600");
	refuses(*state, "[runs]\nlease_seconds =\n", 2, "1 to 3600");
	refuses(*state, "[context]\nfiles = 5001\n", 2, "1 to 5000");
	refuses(*state, "[context]\nfile = 1\n", 2, "no setting file in [context]");
	refuses(*state, "[health]\nmax_age_seconds = 0\n", 2, "1 to 300");
	refuses(*state, "[health]\nmax_age_seconds = 301\n", 2, "1 to 300");
}

static void what_a_uid_may_is_read(void **state)
{
	static const char text[] = "[server]\nsocket = /run/a.sock\n[peers]\n1000 = planner, executor\n0 = read\n";
	struct config *config = *state;
	struct config_fault fault;

	assert_int_equal(config_parse(config, text, sizeof(text) - 1, &fault), 0);
	assert_string_equal(config->socket, "/run/a.sock");
	assert_int_equal(config->peer_count, 2);
	assert_int_equal(config->peers[0].uid, 1000);
	assert_string_equal(config->peers[0].words, "planner, executor");
	assert_string_equal(config->peers[1].words, "read");
	refuses(config, "[server]\nsocket = run", 2, "twice");
	refuses(config, "[peers]\n1000 = read", 2, "twice");
	refuses(config, "[peers]\njan = read", 2, "a number");
	refuses(config, "[peers]\n-1 = read", 2, "a number");
}

static void certificate_and_key_are_paths_of_their_own(void **state)
{
	static const char text[] = "[server]\ncertificate_file = /t/a.crt\nkey_file = /t/a.key\ntls_proxy = "
				   "yes\n[secrets]\nkey_file = /s\n";
	struct config *config = *state;
	struct config_fault fault;

	assert_int_equal(config_parse(config, text, sizeof(text) - 1, &fault), 0);
	assert_string_equal(config->certificate_file, "/t/a.crt");
	assert_string_equal(config->certificate_key_file, "/t/a.key");
	assert_string_equal(config->key_file, "/s");
	assert_true(config->is_behind_tls_proxy);
	refuses(config, "[server]\nkey_file = /u", 2, "twice");
	refuses(config, "[server]\ncertificate_file = /u", 2, "twice");
	refuses(config, "[server]\ntls_proxy = perhaps", 2, "yes or no");
}

static void who_gets_webhooks_is_read(void **state)
{
	static const char text[] =
		"[webhooks]\nurl = http://127.0.0.1:8080/hook\nkey_file = /k\nevents = hold.opened task.status\n";
	struct config *config = *state;
	struct config_fault fault;

	assert_int_equal(config_parse(config, text, sizeof(text) - 1, &fault), 0);
	assert_string_equal(config->webhooks.url, "http://127.0.0.1:8080/hook");
	assert_string_equal(config->webhooks.key_file, "/k");
	assert_int_equal(config->webhooks.events.count, 2);
	assert_string_equal(config->webhooks.events.items[1], "task.status");
	refuses(config, "[webhooks]\nurl = https://ops.example/", 2, "twice");
	config_release(config);
	refuses(config, "[webhooks]\nkey_file = here", 2, "from the root");
	refuses(config, "[webhooks]\nevents = holds", 2, "no event of the type holds");
	refuses(config, "[webhooks]\nsecret = x", 2, "no setting");
}

static void what_is_given_twice_is_refused(void **state)
{
	refuses(*state, "[preview]\ndurable = no\ndurable = yes\n", 3, "twice");
	refuses(*state, "[store]\nstate = /a\nstate = /b\n", 3, "twice");
	refuses(*state, "[runs]\nlease_seconds = 5\nlease_seconds = 6\n", 3, "twice");
}

static void only_the_first_fault_is_told(void **state)
{
	refuses(*state, "[roots]\nallow = a\n[server]\nlisten = b\n", 2, "from the root on");
}

static void a_line_that_the_parser_would_cut_is_refused(void **state)
{
	char text[512];

	(void)snprintf(text, sizeof(text), "[roots]\nallow = /%0*d\n", CONFIG_LINE_MAX, 1);
	refuses(*state, text, 2, "longer than");
}

static void a_byte_that_would_end_the_text_is_refused(void **state)
{
	static const char text[] = "[server]\n\0lissten = 1\n";
	struct config_fault fault;

	assert_int_equal(config_parse(*state, text, sizeof(text) - 1, &fault), CONFIG_REFUSED);
	assert_int_equal(fault.line, 2);
}

static void more_roots_than_fit_are_refused(void **state)
{
	static const char line[] = "allow = /srv\n";
	char text[(CONFIG_LIST_MAX + 2) * sizeof(line)] = "[roots]\n";
	char *end = text + strlen(text);

	for (int i = 0; i <= CONFIG_LIST_MAX; i++, end += sizeof(line) - 1)
		memcpy(end, line, sizeof(line));
	refuses(*state, text, CONFIG_LIST_MAX + 2, "more than");
}

static void a_file_that_is_not_there_is_refused(void **state)
{
	struct config_fault fault;

	assert_int_equal(config_read(*state, "/nonexistent/admitd.conf", &fault), CONFIG_REFUSED);
	assert_int_equal(fault.line, 0);
	assert_non_null(strstr(fault.text, "can't be read"));
}

static void an_address_is_numeric_and_has_a_port(void **state)
{
	static const char *const bad[] = {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
		"127.0.0.1: 1", "127.0.0.1:1x", "::1:80", "[::1]", "[::1]80", "[127.0.0.1]:80", "300.0.0.1:80",
		"host:80", "[]:80"};
	char address[INET6_ADDRSTRLEN];
	uint16_t port = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(config_listen(bad[i], address, &port));
	assert_true(config_listen("0.0.0.0:65535", address, &port));
	assert_string_equal(address, "0.0.0.0");
	assert_int_equal(port, 65535);
}

/* ---- files with a secret */

static void in_folder(void (*test)(const char *folder))
{
	char folder[] = "/tmp/test_config.XXXXXX";
	char command[128];

	assert_non_null(mkdtemp(folder));
	test(folder);
	(void)snprintf(command, sizeof(command), "%s/secret", folder);
	(void)unlink(command);
	assert_int_equal(rmdir(folder), 0);
}

static mode_t mode_of(const char *folder)
{
	char path[128];
	struct stat found;

	(void)snprintf(path, sizeof(path), "%s/secret", folder);
	assert_int_equal(stat(path, &found), 0);
	return found.st_mode & 07777;
}

static void write_and_read(const char *folder)
{
	char found[6];

	assert_int_equal(secret_file_read(folder, "secret", found, 6), SECRET_FILE_ABSENT);
	assert_int_equal(secret_file_write(folder, "secret", "abcdef", 6, false), 0);
	assert_int_equal(mode_of(folder), 0600);
	assert_int_equal(secret_file_read(folder, "secret", found, 6), 0);
	assert_memory_equal(found, "abcdef", 6);
	assert_int_equal(secret_file_read(folder, "secret", found, 5), SECRET_FILE_DAMAGED);
}

static void a_secret_is_read_as_it_was_written(void **state)
{
	(void)state;
	in_folder(write_and_read);
}

static void write_twice(const char *folder)
{
	char found[6];

	assert_int_equal(secret_file_write(folder, "secret", "abcdef", 6, false), 0);
	assert_int_equal(secret_file_write(folder, "secret", "ghijkl", 6, false), -EEXIST);
	assert_int_equal(secret_file_read(folder, "secret", found, 6), 0);
	assert_memory_equal(found, "abcdef", 6);
	assert_int_equal(secret_file_write(folder, "secret", "ghijkl", 6, true), 0);
	assert_int_equal(secret_file_read(folder, "secret", found, 6), 0);
	assert_memory_equal(found, "ghijkl", 6);
}

static void a_secret_is_replaced_only_when_told_to(void **state)
{
	(void)state;
	in_folder(write_twice);
}

static void open_to_others(const char *folder)
{
	char path[128];
	char found[6];

	assert_int_equal(secret_file_write(folder, "secret", "abcdef", 6, false), 0);
	(void)snprintf(path, sizeof(path), "%s/secret", folder);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(secret_file_read(folder, "secret", found, 6), SECRET_FILE_OPEN_TO_OTHERS);
}

static void a_secret_that_others_can_read_is_none(void **state)
{
	(void)state;
	in_folder(open_to_others);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_file_it_listens_on_loopback),
		TEST(every_setting_is_read),
		TEST(what_is_not_known_is_refused_with_its_line),
		TEST(a_value_that_makes_no_sense_is_refused_with_its_line),
		TEST(what_a_uid_may_is_read),
		TEST(certificate_and_key_are_paths_of_their_own),
		TEST(who_gets_webhooks_is_read),
		TEST(what_is_given_twice_is_refused),
		TEST(only_the_first_fault_is_told),
		TEST(a_line_that_the_parser_would_cut_is_refused),
		TEST(a_byte_that_would_end_the_text_is_refused),
		TEST(more_roots_than_fit_are_refused),
		TEST(a_file_that_is_not_there_is_refused),
		TEST(an_address_is_numeric_and_has_a_port),
		TEST(a_secret_is_read_as_it_was_written),
		TEST(a_secret_is_replaced_only_when_told_to),
		TEST(a_secret_that_others_can_read_is_none),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
