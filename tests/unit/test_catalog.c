/* A catalog is data, and every fault in it is found when it is loaded (chapter 1.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "policy/capability.h"
#include "policy/catalog.h"
#include "policy/cleanup.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* One change to the default catalog and the pointer that its refusal names. `text` NULL takes the member away. */
struct refusal {
	const char *what;
	const char *path; /* dots between keys */
	const char *text;
	const char *pointer;
};

#define GITHUB_READS "mcps.github.runtime.capabilities"
#define FILESYSTEM "mcps.filesystem."

static const struct refusal refusals[] = {
	{"an unknown key at the top", "extra", "1", "/extra"},
	{"another schema version", "schemaVersion", "2", "/schemaVersion"},
	{"mcps is an array", "mcps", "[]", "/mcps"},
	{"an id with a capital", "mcps.GitHub", "{}", "/mcps/GitHub"},
	{"an id with a dot", "mcps.a_b", "7", "/mcps/a_b"},
	{"an id that begins with a dash", "mcps.-x", "{}", "/mcps/-x"},
	{"an unknown key in an entry", "mcps.github.liveTools", "true", "/mcps/github/liveTools"},
	{"an unknown key in runtime", "mcps.github.runtime.extra", "true", "/mcps/github/runtime/extra"},
	{"a display name that is a number", "mcps.github.displayName", "7", "/mcps/github/displayName"},
	{"a description with a control character", "mcps.github.description", "\"a\\u0007b\"",
		"/mcps/github/description"},
	{"no description", "mcps.github.description", NULL, "/mcps/github/description"},
	{"recommended is a word", "mcps.github.recommended", "\"yes\"", "/mcps/github/recommended"},
	{"requiresAuth is missing", "mcps.github.requiresAuth", NULL, "/mcps/github/requiresAuth"},
	{"live tools are offered", "mcps.github.runtime.liveTools", "true", "/mcps/github/runtime/liveTools"},
	{"the health gate is missing", "mcps.github.runtime.healthGated", NULL, "/mcps/github/runtime/healthGated"},
	{"a mode nobody knows", "mcps.github.runtime.mode", "\"live\"", "/mcps/github/runtime/mode"},
	{"a safe read that isn't canonical", GITHUB_READS, "[\"GitHub.issues.read\"]",
		"/mcps/github/runtime/capabilities/0"},
	{"a safe read with padding", GITHUB_READS, "[\"github.issues.read \"]", "/mcps/github/runtime/capabilities/0"},
	{"a safe read of another MCP", GITHUB_READS, "[\"filesystem.project.read\"]",
		"/mcps/github/runtime/capabilities/0"},
	{"a safe read twice", GITHUB_READS, "[\"github.issues.read\",\"github.issues.read\"]",
		"/mcps/github/runtime/capabilities/1"},
	{"a safe read and a supplement alike", GITHUB_READS, "[\"github.actions.read\"]",
		"/mcps/github/safeReadSupplement/0"},
	{"a safe read that is deferred", GITHUB_READS, "[\"github.branches.read\"]",
		"/mcps/github/runtime/capabilities/0"},
	{"a safe read that writes", GITHUB_READS, "[\"github.issues.write\"]", "/mcps/github/runtime/capabilities/0"},
	{"a safe read of another verb", GITHUB_READS, "[\"github.issues.fetch\"]",
		"/mcps/github/runtime/capabilities/0"},
	{"a safe read of four parts", GITHUB_READS, "[\"github.issues.read.all\"]",
		"/mcps/github/runtime/capabilities/0"},
	{"a safe read of two parts without a root resource", GITHUB_READS, "[\"github.read\"]",
		"/mcps/github/runtime/capabilities/0"},
	{"a safe read with an empty resource", GITHUB_READS, "[\"github..read\"]",
		"/mcps/github/runtime/capabilities/0"},
	{"a safe read that spells out the root", FILESYSTEM "runtime.capabilities", "[\"filesystem.root.read\"]",
		"/mcps/filesystem/runtime/capabilities/0"},
	{"a safe read that is a number", GITHUB_READS, "[7]", "/mcps/github/runtime/capabilities/0"},
	{"a supplement that writes", "mcps.github.safeReadSupplement", "[\"github.issues.create\"]",
		"/mcps/github/safeReadSupplement/0"},
	{"a supplement that isn't owned", "mcps.github.safeReadSupplement", "[\"gitlab.issues.read\"]",
		"/mcps/github/safeReadSupplement/0"},
	{"planning text that is also a safe read", FILESYSTEM "planningOnly", "[\"filesystem.project.read\"]",
		"/mcps/filesystem/runtime/capabilities/0"},
	{"an alias that points at nothing", FILESYSTEM "aliases.filesystem-read", "\"filesystem.project.reed\"",
		"/mcps/filesystem/aliases/filesystem-read"},
	{"an alias that points at a number", FILESYSTEM "aliases.x", "7", "/mcps/filesystem/aliases/x"},
	{"an alias with a capital", FILESYSTEM "aliases.Read", "\"filesystem.project.read\"",
		"/mcps/filesystem/aliases/Read"},
	{"an alias that is a capability itself", FILESYSTEM "aliases",
		"{\"filesystem.project.list\":\"filesystem.project.read\"}",
		"/mcps/filesystem/aliases/filesystem.project.list"},
	{"an alias that can't be written into a pointer", FILESYSTEM "aliases", "{\"a/b\":7}",
		"/mcps/filesystem/aliases/(unprintable)"},
	{"aliases in an array", FILESYSTEM "aliases", "[]", "/mcps/filesystem/aliases"},
	{"deferred operations in a word", "mcps.github.deferred.issues", "\"write\"", "/mcps/github/deferred/issues"},
	{"a deferred operation with a dot", "mcps.github.deferred.issues", "[\"a.b\"]",
		"/mcps/github/deferred/issues/0"},
	{"a deferred operation twice", "mcps.github.deferred.issues", "[\"write\",\"write\"]",
		"/mcps/github/deferred/issues/1"},
	{"a root resource that is a number", FILESYSTEM "rootResource", "7", "/mcps/filesystem/rootResource"},
	{"remediation for a status nobody knows", "mcps.github.remediation.broken", "\"x\"",
		"/mcps/github/remediation/broken"},
};

static json_t *default_catalog(void)
{
	struct str bytes = catalog_default_bytes();
	json_t *root = json_loadb(bytes.bytes, bytes.len, 0, NULL);

	assert_non_null(root);
	return root;
}

/* Follows the dots to the last member's parent; the last key is *ret_key. */
static json_t *find_parent(json_t *root, const char *path, const char **ret_key)
{
	const char *dot;

	while ((dot = strchr(path, '.')) != NULL) {
		char key[64];

		assert_true((size_t)(dot - path) < sizeof(key));
		memcpy(key, path, (size_t)(dot - path));
		key[dot - path] = '\0';
		root = json_object_get(root, key);
		assert_non_null(root);
		path = dot + 1;
	}
	*ret_key = path;
	return root;
}

static int load(const json_t *root, struct catalog **ret_catalog, struct catalog_fault *ret_fault)
{
	CLEANUP(free_drop) char *text = json_dumps(root, 0);

	assert_non_null(text);
	return catalog_new((struct str){text, strlen(text)}, ret_catalog, ret_fault);
}

static void every_fault_refuses_the_catalog_and_names_its_entry(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(refusals); i++) {
		CLEANUP(json_drop) json_t *root = default_catalog();
		CLEANUP(catalog_drop) struct catalog *catalog = NULL;
		struct catalog_fault fault = {0};
		const char *key;
		json_t *parent = find_parent(root, refusals[i].path, &key);

		if (refusals[i].text)
			json_object_set_new(parent, key, json_loads(refusals[i].text, JSON_DECODE_ANY, NULL));
		else
			json_object_del(parent, key);
		if (load(root, &catalog, &fault) != CATALOG_REFUSED || strcmp(fault.pointer, refusals[i].pointer) != 0)
			fail_msg("%s: refused at \"%s\": %s", refusals[i].what, fault.pointer, fault.text);
		assert_true(strlen(fault.text) > 0);
	}
}

static void what_is_no_catalog_is_refused_without_quoting_it(void **state)
{
	static const char *const texts[] = {"", "[]", "7", "{", "{\"CANARY\":1,\"CANARY\":2}",
		"{\"schemaVersion\": CANARY}", "{\"schemaVersion\":1,\"mcps\":{}} {}"};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct catalog *catalog = NULL;
		struct catalog_fault fault = {0};

		assert_int_equal(
			catalog_new((struct str){texts[i], strlen(texts[i])}, &catalog, &fault), CATALOG_REFUSED);
		assert_null(catalog);
		assert_null(strstr(fault.text, "CANARY"));
	}
}

static void the_default_catalog_is_known_by_its_canonical_bytes(void **state)
{
	CLEANUP(json_drop) json_t *root = default_catalog();
	CLEANUP(catalog_drop) struct catalog *shipped = NULL;
	CLEANUP(catalog_drop) struct catalog *respaced = NULL;
	CLEANUP(catalog_drop) struct catalog *changed = NULL;
	struct catalog_fault fault;

	(void)state;
	assert_int_equal(catalog_new(catalog_default_bytes(), &shipped, &fault), 0);
	assert_int_equal(load(root, &respaced, &fault), 0);
	assert_true(str_equal(shipped->digest, respaced->digest));
	assert_true(str_equal(shipped->bytes, respaced->bytes));
	json_object_set_new(json_object_get(json_object_get(root, "mcps"), "github"), "recommended", json_false());
	assert_int_equal(load(root, &changed, &fault), 0);
	assert_false(str_equal(shipped->digest, changed->digest));
}

static void the_default_catalog_counts_what_the_contract_lists(void **state)
{
	CLEANUP(catalog_drop) struct catalog *catalog = NULL;
	const struct catalog_mcp *filesystem;
	const struct catalog_mcp *github;
	struct catalog_fault fault;

	(void)state;
	assert_int_equal(catalog_new(catalog_default_bytes(), &catalog, &fault), 0);
	filesystem = catalog_find_mcp(catalog, STR("filesystem"));
	github = catalog_find_mcp(catalog, STR("github"));
	assert_int_equal(catalog->mcp_count, 2);
	/* 3 safe reads, 1 planning text (which is deferred too), 10 deferred less that one */
	assert_int_equal(filesystem->capability_count, 3 + 10);
	/* 4 safe reads, 5 supplements; 5 + 9 + 4 + 3 + 3 + 7 + 5 + 8 + 10 deferred */
	assert_int_equal(github->capability_count, 4 + 5 + 54);
	assert_int_equal(catalog->capability_count, 13 + 63);
	assert_null(catalog_find_mcp(catalog, STR("slack")));
	assert_null(catalog_find_mcp(catalog, STR("__proto__")));
}

static void a_mistyped_capability_is_answered_with_the_nearest_known_one(void **state)
{
	CLEANUP(catalog_drop) struct catalog *catalog = NULL;
	const struct catalog_capability *nearest;
	struct catalog_fault fault;

	(void)state;
	assert_int_equal(catalog_new(catalog_default_bytes(), &catalog, &fault), 0);
	nearest = capability_nearest(catalog, STR("github.secerts.write"));
	assert_non_null(nearest);
	assert_string_equal(nearest->name.bytes, "github.secrets.write");
	nearest = capability_nearest(catalog, STR("github.issues.reed"));
	assert_non_null(nearest);
	assert_string_equal(nearest->name.bytes, "github.issues.read");
	nearest = capability_nearest(catalog, STR("github.isues.write"));
	assert_non_null(nearest);
	assert_string_equal(nearest->name.bytes, "github.issues.write");
	nearest = capability_nearest(catalog, STR("github.issues.writexyz")); /* three edits away */
	assert_non_null(nearest);
	assert_string_equal(nearest->name.bytes, "github.issues.write");
	assert_null(capability_nearest(catalog, STR("github.issues.writewxyz"))); /* four */
	assert_null(capability_nearest(catalog, STR("something.else.entirely")));
}

static void every_operation_of_a_safe_read_may_be_one(void **state)
{
	CLEANUP(json_drop) json_t *root = default_catalog();
	CLEANUP(catalog_drop) struct catalog *catalog = NULL;
	struct catalog_fault fault;
	const char *key;
	json_t *parent = find_parent(root, GITHUB_READS, &key);

	(void)state;
	json_object_set_new(parent, key,
		json_pack(
			"[s,s,s,s]", "github.wiki.read", "github.wiki.list", "github.wiki.search", "github.wiki.get"));
	assert_int_equal(load(root, &catalog, &fault), 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(
			catalog_find_capability(catalog_find_mcp(catalog, STR("github")),
				(struct str){json_string_value(json_array_get(json_object_get(parent, key), i)),
					json_string_length(json_array_get(json_object_get(parent, key), i))})
				->class,
			CLASS_BOUNDED_READ_ONLY);
}

static void a_catalog_over_four_mebibytes_is_refused_unread(void **state)
{
	const size_t len = 4 * 1024 * 1024 + 1;
	CLEANUP(free_drop) char *bytes = malloc(len);
	struct catalog *catalog = NULL;
	struct catalog_fault fault = {0};

	(void)state;
	assert_non_null(bytes);
	memset(bytes, ' ', len);
	assert_int_equal(catalog_new((struct str){bytes, len}, &catalog, &fault), CATALOG_REFUSED);
	assert_string_equal(fault.text, "a catalog has at most 4 MiB");
	assert_int_equal(catalog_new((struct str){bytes, len - 1}, &catalog, &fault), CATALOG_REFUSED);
	assert_string_not_equal(fault.text, "a catalog has at most 4 MiB");
}

static void unsafe_text_is_explained_as_unknown_and_not_repeated(void **state)
{
	CLEANUP(catalog_drop) struct catalog *catalog = NULL;
	struct capability capability;
	enum delivery_kind delivery;
	struct catalog_fault fault;
	struct arena arena;

	(void)state;
	arena_init(&arena, 1 << 16);
	assert_int_equal(catalog_new(catalog_default_bytes(), &catalog, &fault), 0);
	assert_int_equal(capability_explain(&arena, catalog, STR("filesystem"), STR("filesystem.read\x01"), &capability,
				 &delivery),
		0);
	assert_int_equal(capability.class, CLASS_UNKNOWN);
	assert_null(capability.requested.bytes);
	assert_null(capability.canonical.bytes);
	assert_int_equal(delivery, DELIVERY_BOUNDED_CONTEXT_PACKET);
	assert_int_equal(
		capability_explain(&arena, catalog, STR("filesystem"), STR(" Filesystem.Read"), &capability, &delivery),
		0);
	assert_string_equal(capability.canonical.bytes, "filesystem.project.read");
	assert_int_equal(
		capability_explain(&arena, catalog, STR("slack"), STR("filesystem.read"), &capability, &delivery), 0);
	assert_int_equal(capability.class, CLASS_UNKNOWN);
	assert_int_equal(delivery, DELIVERY_NONE);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_fault_refuses_the_catalog_and_names_its_entry),
		cmocka_unit_test(what_is_no_catalog_is_refused_without_quoting_it),
		cmocka_unit_test(the_default_catalog_is_known_by_its_canonical_bytes),
		cmocka_unit_test(the_default_catalog_counts_what_the_contract_lists),
		cmocka_unit_test(every_operation_of_a_safe_read_may_be_one),
		cmocka_unit_test(a_catalog_over_four_mebibytes_is_refused_unread),
		cmocka_unit_test(unsafe_text_is_explained_as_unknown_and_not_repeated),
		cmocka_unit_test(a_mistyped_capability_is_answered_with_the_nearest_known_one),
	};

	return cmocka_run_group_tests_name("catalog", tests, NULL, NULL);
}
