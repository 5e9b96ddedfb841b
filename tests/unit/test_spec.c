/* Specs of tool servers at the strict door, and the forms they are kept, shown and sent in (chapters 5.6, 5.7). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <sodium.h>

#include "agents/probe_message.h"
#include "agents/seal.h"
#include "agents/secret_mask.h"
#include "agents/spec.h"
#include "policy/cleanup.h"
#include "policy/json_parse.h"
#include "policy/redact.h"

#define CANARY "canary-0a1b2c3d"

struct fixture {
	struct arena arena;
	json_t *json;
	struct spec_faults faults;
	struct spec spec;
};

static int setup(void **state)
{
	static struct fixture fixture;

	assert_true(sodium_init() >= 0);
	assert_int_equal(redact_init(), 0);
	fixture = (struct fixture){0};
	arena_init(&fixture.arena, (size_t)64 << 20);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	json_decref(fixture->json);
	arena_release(&fixture->arena);
	return 0;
}

static struct str text(const char *bytes)
{
	return (struct str){bytes, strlen(bytes)};
}

static int read_as(struct fixture *fixture, struct str id, const char *json)
{
	json_decref(fixture->json);
	fixture->json = NULL;
	assert_int_equal(json_parse(text(json), &fixture->json, NULL), 0);
	fixture->faults = (struct spec_faults){.arena = &fixture->arena};
	return spec_read(id, fixture->json, &fixture->faults, &fixture->spec);
}

static void takes(struct fixture *fixture, const char *json)
{
	int r = read_as(fixture, STR("s"), json);

	if (r != 0)
		fail_msg("%s is refused at %.*s: %.*s", json, (int)fixture->faults.items[0].pointer.len,
			fixture->faults.items[0].pointer.bytes, (int)fixture->faults.items[0].text.len,
			fixture->faults.items[0].text.bytes);
}

/* Refused with exactly these pointers, in their order, separated by blanks. */
static void refuses(struct fixture *fixture, const char *json, const char *pointers)
{
	char found[2048] = "";
	int r = read_as(fixture, STR("s"), json);

	for (size_t i = 0; i < fixture->faults.count; i++) {
		strncat(found, i > 0 ? " " : "", sizeof(found) - strlen(found) - 1);
		strncat(found, fixture->faults.items[i].pointer.bytes, sizeof(found) - strlen(found) - 1);
	}
	assert_int_equal(r, SPEC_REFUSED);
	assert_string_equal(found, pointers);
}

/* ---- the strict door */

static void an_id_is_matched_over_its_exact_bytes(void **state)
{
	static const char *const bad[] = {"Bad Id", "", "-x", "_x", "ok\n", "a__b", "a.b", "A",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL};
	static const char *const good[] = {
		"0-_a", "a", "a-_b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL};

	(void)state;
	for (size_t i = 0; bad[i] != NULL; i++)
		assert_false(spec_id_is_valid(text(bad[i])));
	for (size_t i = 0; good[i] != NULL; i++)
		assert_true(spec_id_is_valid(text(good[i])));
	assert_false(spec_id_is_valid((struct str){"a\0b", 3}));
}

static void a_stdio_server_has_a_command_and_an_http_server_a_url(void **state)
{
	struct fixture *fixture = *state;

	takes(fixture, "{\"transport\":\"stdio\",\"command\":\"/bin/x\"}");
	takes(fixture,
		"{\"id\":\"s\",\"transport\":\"stdio\",\"command\":\"npx\",\"args\":[\"-y\",\"line\\nfeed\","
		"\"\\u007f\"],\"env\":{\"A.B\\\"C\":\"1\"}}");
	assert_int_equal(fixture->spec.arg_count, 3);
	takes(fixture, "{\"transport\":\"http\",\"url\":\"https://x.example/mcp\",\"headers\":{\"X-Team\":\"a\"}}");
	refuses(fixture, "{\"transport\":\"stdio\"}", "/command");
	refuses(fixture, "{\"transport\":\"stdio\",\"command\":\"\"}", "/command");
	refuses(fixture, "{\"transport\":\"stdio\",\"command\":7}", "/command");
	refuses(fixture, "{\"transport\":\"http\"}", "/url");
	refuses(fixture, "{\"transport\":\"http\",\"url\":\"http://x.example/\"}", "/url");
	refuses(fixture, "{\"command\":\"/bin/x\"}", "/transport");
	refuses(fixture, "{\"transport\":\"sse\",\"url\":\"https://x.example/\"}", "/transport");
	refuses(fixture, "[]", "");
}

static void every_fault_is_told_with_its_pointer_and_not_only_the_first(void **state)
{
	struct fixture *fixture = *state;

	refuses(fixture,
		"{\"id\":\"t\",\"transport\":\"stdio\",\"command\":\"/bin/x\",\"args\":[1,\"a\",null],"
		"\"env\":{\"A\":\"1\",\"B\":3,\"C\":null,\"D=E\":\"x\"},\"allowedTools\":[\"a,b\",\"list\",\"list\"],"
		"\"url\":\"https://x.example/\",\"a/b~c\":1}",
		"/id /args/0 /args/2 /env/B /env/C /env/D=E /allowedTools/0 /allowedTools/2 /url /a~1b~0c");
	refuses(fixture,
		"{\"transport\":\"http\",\"url\":\"https://x.example/\",\"headers\":{\"a b\":\"1\",\"Host\":\"y\","
		"\"X-A\":\"a\\r\\nb\"},\"secretKeys\":[\"X-B\",\"X-B\"],\"env\":{}}",
		"/secretKeys/1 /headers/a b /headers/Host /headers/X-A /env");
}

static void names_of_tools_are_exact(void **state)
{
	struct fixture *fixture = *state;

	takes(fixture, "{\"transport\":\"stdio\",\"command\":\"/x\",\"allowedTools\":[\"list\",\"a.b-c_D9\"]}");
	assert_true(fixture->spec.narrows_tools);
	refuses(fixture,
		"{\"transport\":\"stdio\",\"command\":\"/x\",\"allowedTools\":[\"get_*\",\" x\",\"\",\"a,b\"]}",
		"/allowedTools/0 /allowedTools/1 /allowedTools/2 /allowedTools/3");
	refuses(fixture, "{\"transport\":\"stdio\",\"command\":\"/x\",\"allowedTools\":[]}", "/allowedTools");
}

/* ---- credentials */

static void a_short_credential_is_refused_and_another_value_may_be_short(void **state)
{
	struct fixture *fixture = *state;

	refuses(fixture,
		"{\"transport\":\"stdio\",\"command\":\"/x\",\"env\":{\"T\":\"12345\",\"LEVEL\":\"info\"},"
		"\"secretKeys\":[\"T\"]}",
		"/env/T");
	takes(fixture,
		"{\"transport\":\"stdio\",\"command\":\"/x\",\"env\":{\"T\":\"123456\",\"LEVEL\":\"info\"},"
		"\"secretKeys\":[\"T\"]}");
}

static void a_value_under_a_telling_name_is_a_credential_unasked(void **state)
{
	struct fixture *fixture = *state;

	takes(fixture,
		"{\"transport\":\"stdio\",\"command\":\"/x\",\"env\":{\"DB_PASSWORD\":\"" CANARY
		"\",\"LEVEL\":\"info\"}}");
	assert_true(fixture->spec.values[0].is_credential);
	assert_false(fixture->spec.values[1].is_credential);
	takes(fixture,
		"{\"transport\":\"http\",\"url\":\"https://x.example/\",\"headers\":{\"Authorization\":\"Bearer " CANARY
		"\"}}");
	assert_true(fixture->spec.values[0].is_credential);
}

static void a_secret_where_others_can_read_it_is_refused(void **state)
{
	struct fixture *fixture = *state;

	refuses(fixture, "{\"transport\":\"stdio\",\"command\":\"/x\",\"args\":[\"--token=" CANARY "\",\"x\"]}",
		"/args/0");
	refuses(fixture,
		"{\"transport\":\"stdio\",\"command\":\"/x\",\"args\":[\"--token\",\"of-two-words\",\"--token\","
		"\"/run/token\"]}",
		"/args/1");
	refuses(fixture, "{\"transport\":\"http\",\"url\":\"https://user:" CANARY "@x.example/\"}", "/url");
	refuses(fixture, "{\"transport\":\"http\",\"url\":\"https://x.example/?api_key=" CANARY "\"}", "/url");
	takes(fixture, "{\"transport\":\"http\",\"url\":\"https://user@x.example/\"}");
}

static void a_named_credential_without_a_value_is_not_set(void **state)
{
	struct fixture *fixture = *state;

	takes(fixture, "{\"transport\":\"stdio\",\"command\":\"/x\",\"secretKeys\":[\"T\"]}");
	assert_true(spec_has_credentials(&fixture->spec));
	assert_true(str_is(spec_missing_credential(&fixture->spec), "T"));
}

/* ---- forms */

#define WITH_SECRET                                                                                  \
	"{\"transport\":\"stdio\",\"command\":\"/bin/x\",\"args\":[\"-y\"],\"env\":{\"T\":\"" CANARY \
	"\",\"LEVEL\":\"plain-level\"},\"secretKeys\":[\"T\"],\"allowedTools\":[\"list\"]}"

static struct str write_form(struct fixture *fixture, void (*write)(const struct spec *, struct json_out *))
{
	struct buf buf;
	struct json_out out;
	struct str copy;

	buf_init(&buf, 1 << 20);
	json_out_init(&out, &buf);
	write(&fixture->spec, &out);
	assert_int_equal(buf_error(&buf), 0);
	copy = arena_str(&fixture->arena, buf_str(&buf));
	buf_release(&buf);
	return copy;
}

static void kept(const struct spec *spec, struct json_out *out)
{
	spec_write_kept(spec, STR("SEALED"), out);
}

/* As it comes out of the store. */
static void shown(const struct spec *spec, struct json_out *out)
{
	struct arena arena;
	struct buf buf;
	struct json_out kept_out;
	struct spec again;
	struct str sealed;

	arena_init(&arena, 1 << 20);
	buf_init(&buf, 1 << 20);
	json_out_init(&kept_out, &buf);
	kept(spec, &kept_out);
	assert_int_equal(spec_read_kept(&arena, buf_str(&buf), &again, &sealed), 0);
	spec_write_shown(&again, out);
	buf_release(&buf);
	arena_release(&arena);
}

static void the_kept_form_has_no_credential_and_the_shown_one_no_value_at_all(void **state)
{
	struct fixture *fixture = *state;

	takes(fixture, WITH_SECRET);
	assert_null(strstr(write_form(fixture, kept).bytes, CANARY));
	assert_non_null(strstr(write_form(fixture, kept).bytes, "plain-level"));
	assert_null(strstr(write_form(fixture, shown).bytes, CANARY));
	assert_null(strstr(write_form(fixture, shown).bytes, "plain-level"));
	assert_non_null(strstr(write_form(fixture, shown).bytes, "\"T\":{\"credential\":true,\"set\":true}"));
}

static void what_was_kept_and_sealed_is_the_spec_again(void **state)
{
	struct fixture *fixture = *state;
	struct seal_key key = {{7}};
	struct spec again;
	struct str whole;
	struct str sealed;
	struct str plain;
	struct str found;

	takes(fixture, WITH_SECRET);
	whole = write_form(fixture, spec_write_whole);
	assert_int_equal(
		seal_close(&fixture->arena, &key, STR("p/s"), write_form(fixture, spec_write_credentials), &sealed), 0);
	assert_int_equal(spec_read_kept(&fixture->arena, write_form(fixture, kept), &again, &found), 0);
	assert_true(str_is(found, "SEALED"));
	assert_true(str_is(spec_missing_credential(&again), "T"));
	assert_int_equal(seal_open(&fixture->arena, &key, STR("p/s"), sealed, &plain), 0);
	assert_int_equal(spec_read_credentials(&fixture->arena, plain, &again), 0);
	fixture->spec = again;
	assert_string_equal(write_form(fixture, spec_write_whole).bytes, whole.bytes);
	assert_int_equal(spec_read_kept(&fixture->arena, STR("{\"id\":\"s\"}"), &again, &found), -EUCLEAN);
	assert_int_equal(spec_read_kept(&fixture->arena, STR("{"), &again, &found), -EUCLEAN);
}

static void a_seal_opens_with_its_key_and_in_its_context_only(void **state)
{
	struct fixture *fixture = *state;
	struct seal_key key = {{7}};
	struct seal_key other = {{8}};
	struct str sealed;
	struct str plain;
	char *changed;

	assert_int_equal(seal_close(&fixture->arena, &key, STR("p/s"), STR(CANARY), &sealed), 0);
	assert_null(strstr(sealed.bytes, CANARY));
	assert_int_equal(seal_open(&fixture->arena, &key, STR("p/s"), sealed, &plain), 0);
	assert_true(str_is(plain, CANARY));
	assert_int_equal(seal_open(&fixture->arena, &other, STR("p/s"), sealed, &plain), SEAL_OTHER_KEY);
	assert_int_equal(seal_open(&fixture->arena, &key, STR("p/t"), sealed, &plain), SEAL_DAMAGED);
	for (size_t i = 0; i < sealed.len; i++) {
		changed = arena_copy(&fixture->arena, sealed.bytes, sealed.len);
		changed[i] = changed[i] == 'A' ? 'B' : 'A';
		assert_int_not_equal(
			seal_open(&fixture->arena, &key, STR("p/s"), (struct str){changed, sealed.len}, &plain), 0);
		assert_int_not_equal(
			seal_open(&fixture->arena, &key, STR("p/s"), (struct str){sealed.bytes, i}, &plain), 0);
	}
}

/* ---- texts that a server sends back */

static void no_form_of_a_secret_comes_through_the_mask(void **state)
{
	struct fixture *fixture = *state;
	struct secret_mask mask;
	struct str out;
	char encoded[256];
	char sent[512];
	static const char secret[] = "p\"w/+abc def123";

	takes(fixture,
		"{\"transport\":\"stdio\",\"command\":\"/x\",\"env\":{\"T\":\"p\\\"w/+abc def123\","
		"\"U\":\"abcdef\",\"V\":\"abcdef123456\"},\"secretKeys\":[\"T\",\"U\",\"V\"]}");
	assert_int_equal(secret_mask_init(&mask, &fixture->arena, &fixture->spec), 0);
	assert_int_equal(secret_mask_apply(&mask, &fixture->arena, STR("a p\"w/+abc def123 b"), &out), 0);
	assert_string_equal(out.bytes, "a *** b");
	assert_int_equal(secret_mask_apply(&mask, &fixture->arena, STR("p\\\"w/+abc def123"), &out), 0);
	assert_string_equal(out.bytes, "***");
	assert_int_equal(secret_mask_apply(&mask, &fixture->arena, STR("p%22w%2F%2Babc%20def123"), &out), 0);
	assert_string_equal(out.bytes, "***");
	assert_int_equal(secret_mask_apply(&mask, &fixture->arena, STR("abcdef123456"), &out), 0);
	assert_string_equal(out.bytes, "***");
	for (int before = 0; before < 3; before++) {
		int len = snprintf(sent, sizeof(sent), "%.*s%s and more", before, "xyz", secret);

		sodium_bin2base64(encoded, sizeof(encoded), (const unsigned char *)sent, (size_t)len,
			sodium_base64_VARIANT_ORIGINAL);
		assert_int_equal(secret_mask_apply(&mask, &fixture->arena, text(encoded), &out), 0);
		assert_non_null(strstr(out.bytes, "***"));
		assert_true(out.len < strlen(encoded) - 8);
	}
}

/* ---- messages of daemon and prober */

static void a_check_reaches_the_prober_whole_however_it_is_cut(void **state)
{
	struct fixture *fixture = *state;
	struct probe_message message = {.type = PROBE_CHECK};
	struct probe_message again;
	struct str body;
	struct buf buf;
	size_t used = 0;

	takes(fixture, WITH_SECRET);
	message.check = (struct probe_check){.id = 9, .timeout_ms = 3000, .spec = fixture->spec};
	buf_init(&buf, 1 << 20);
	probe_message_write(&message, &buf);
	probe_message_write(&message, &buf);
	assert_int_equal(buf_error(&buf), 0);
	for (size_t len = 0; len < buf.len / 2; len++)
		assert_int_equal(probe_frame_find(buf.bytes, len, &body, &used), PROBE_MORE);
	assert_int_equal(probe_frame_find(buf.bytes, buf.len, &body, &used), 0);
	assert_int_equal(used, buf.len / 2);
	assert_int_equal(probe_message_read(&fixture->arena, body, &again), 0);
	assert_int_equal(again.type, PROBE_CHECK);
	assert_int_equal(again.check.id, 9);
	assert_true(str_is(again.check.spec.values[0].value, CANARY));
	assert_int_equal(probe_frame_find("\xff\xff\xff\xff", 4, &body, &used), -EMSGSIZE);
	assert_int_equal(probe_message_read(&fixture->arena, STR("{\"type\":\"other\"}"), &again), -EUCLEAN);
	assert_int_equal(probe_message_read(&fixture->arena, STR("x"), &again), -EUCLEAN);
	buf_release(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_id_is_matched_over_its_exact_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(a_stdio_server_has_a_command_and_an_http_server_a_url, setup, teardown),
		cmocka_unit_test_setup_teardown(
			every_fault_is_told_with_its_pointer_and_not_only_the_first, setup, teardown),
		cmocka_unit_test_setup_teardown(names_of_tools_are_exact, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_short_credential_is_refused_and_another_value_may_be_short, setup, teardown),
		cmocka_unit_test_setup_teardown(a_value_under_a_telling_name_is_a_credential_unasked, setup, teardown),
		cmocka_unit_test_setup_teardown(a_secret_where_others_can_read_it_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_named_credential_without_a_value_is_not_set, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_kept_form_has_no_credential_and_the_shown_one_no_value_at_all, setup, teardown),
		cmocka_unit_test_setup_teardown(what_was_kept_and_sealed_is_the_spec_again, setup, teardown),
		cmocka_unit_test_setup_teardown(a_seal_opens_with_its_key_and_in_its_context_only, setup, teardown),
		cmocka_unit_test_setup_teardown(no_form_of_a_secret_comes_through_the_mask, setup, teardown),
		cmocka_unit_test_setup_teardown(a_check_reaches_the_prober_whole_however_it_is_cut, setup, teardown),
	};

	return cmocka_run_group_tests_name("spec", tests, NULL, NULL);
}
