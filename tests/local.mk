# tests

# How every test runs: all of them speak TAP. A .py or .sh test lies in the source tree and finds the programs
# through ADMITD and ADMITCTL; it writes only into a directory of its own.
TEST_EXTENSIONS = .py .sh .mjs
TAP_LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
LOG_DRIVER = $(TAP_LOG_DRIVER)
PY_LOG_DRIVER = $(TAP_LOG_DRIVER)
SH_LOG_DRIVER = $(TAP_LOG_DRIVER)
MJS_LOG_DRIVER = $(TAP_LOG_DRIVER)
MJS_LOG_COMPILER = $(NODE)
PY_LOG_COMPILER = $(PYTHON)
AM_PY_LOG_FLAGS = -B
AM_TESTS_ENVIRONMENT = \
  CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
  SRCDIR='$(abs_top_srcdir)'; export SRCDIR; \
  BUILDDIR='$(abs_top_builddir)'; export BUILDDIR; \
  ADMITD='$(abs_top_builddir)/admitd'; export ADMITD; \
  ADMITCTL='$(abs_top_builddir)/admitctl'; export ADMITCTL; \
  NPM_MODULES='$(abs_top_builddir)/tests/npm'; export NPM_MODULES; \
  CHROMIUM='$(CHROMIUM)'; export CHROMIUM; \
  PYTHON='$(PYTHON)'; export PYTHON;

# ---- tests/lint: the rules of the house are found broken
TESTS += %D%/lint/test_lint.py
EXTRA_DIST += %D%/lint/test_lint.py %D%/lint/bad

# ---- tests/scripts: what the scripts do to a machine, shown with stand-ins; what the built programs link and their pages say
TESTS += %D%/scripts/test_scripts.py %D%/scripts/test_programs.py %D%/scripts/test_assurance.py
EXTRA_DIST += %D%/scripts/test_scripts.py %D%/scripts/test_programs.py %D%/scripts/test_assurance.py

# ---- the daemon from outside: over HTTP, killed, and through the quickstart
black_box_tests = \
  %D%/http/test_exchanges.py %D%/http/test_surfaces.py %D%/http/test_access.py %D%/http/test_impact.py %D%/http/test_project_actions.py %D%/http/test_bad_bodies.py \
  %D%/http/test_console.py %D%/http/test_public_cases.py %D%/http/test_examples.py %D%/fault/test_kill9.py %D%/fault/test_audit.py %D%/fault/test_backup.py %D%/fault/test_full.py %D%/scripts/test_quickstart.py
black_box_tests += %D%/http/test_catalog_memory.py %D%/http/test_tls.py %D%/http/test_local.py %D%/http/test_actions.py %D%/http/test_conditions.py
black_box_tests += %D%/http/test_refusals.py %D%/http/test_server_cases.py %D%/fault/test_damaged.py
TESTS += $(black_box_tests)
EXTRA_DIST += \
  $(black_box_tests) %D%/http/daemon.py %D%/http/certificates.py %D%/http/secure.py %D%/http/local_socket.py %D%/http/catalogs.py %D%/http/compare.py %D%/http/examples %D%/http/cases \
  examples/README.md examples/tracker.json examples/cannot-be-approved.json examples/legacy.json
# ---- end of the daemon from outside

# ---- engine
if HAVE_CMOCKA
check_PROGRAMS += test_json_out test_catalog test_admission test_projection test_decision_id test_policy_alloc
TESTS += test_json_out test_catalog test_admission test_projection test_decision_id test_policy_alloc
decided = %D%/lib/decided.c %D%/lib/decided.h
check_PROGRAMS += test_libadmit
TESTS += test_libadmit
test_libadmit_SOURCES = %D%/unit/test_libadmit.c
test_libadmit_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
test_libadmit_LDADD = libadmit.la $(CMOCKA_LIBS)
test_policy_alloc_SOURCES = %D%/unit/test_policy_alloc.c
test_policy_alloc_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_policy_alloc_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc -Wl,--wrap=calloc -Wl,--wrap=realloc
test_policy_alloc_LDADD = libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
test_json_out_SOURCES = %D%/unit/test_json_out.c
test_json_out_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_json_out_LDADD = libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
test_catalog_SOURCES = %D%/unit/test_catalog.c
test_catalog_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_catalog_LDADD = libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
test_admission_SOURCES = %D%/unit/test_admission.c $(decided)
test_admission_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_admission_LDADD = libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
test_projection_SOURCES = %D%/unit/test_projection.c $(decided)
test_projection_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_projection_LDADD = libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
test_decision_id_SOURCES = %D%/unit/test_decision_id.c $(decided)
test_decision_id_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_decision_id_LDADD = libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
endif
TESTS += %D%/policy/test_link.sh
EXTRA_DIST += %D%/policy/test_link.sh
# ---- end of engine

# ---- cli and words
if HAVE_CMOCKA
check_PROGRAMS += test_words
TESTS += test_words
test_words_SOURCES = %D%/unit/test_words.c
test_words_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_words_LDADD = libpolicy.la $(CMOCKA_LIBS)

check_PROGRAMS += test_words_event
TESTS += test_words_event
test_words_event_SOURCES = %D%/unit/test_words_event.c
test_words_event_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_words_event_LDADD = libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
check_PROGRAMS += test_cli_table test_cli_remedy
TESTS += test_cli_table test_cli_remedy
test_cli_table_SOURCES = %D%/unit/test_cli_table.c
test_cli_table_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_cli_table_LDADD = libcli.la libpolicy.la $(CMOCKA_LIBS)
test_cli_remedy_SOURCES = %D%/unit/test_cli_remedy.c
test_cli_remedy_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_cli_remedy_LDADD = libcli.la libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
endif
TESTS += %D%/cli/test_cli.py %D%/cli/test_client.py %D%/cli/test_reaching.py %D%/cli/test_way.py
EXTRA_DIST += %D%/cli/test_cli.py %D%/cli/test_client.py %D%/cli/test_reaching.py %D%/cli/test_way.py %D%/http/daemon.py
# ---- end of cli and words

# ---- tests/vectors, tests/model: what is decided, written down, and a second evaluator
TESTS += %D%/model/test_model.py %D%/model/test_engine.py
EXTRA_DIST += \
  %D%/vectors/README.md %D%/vectors/check.py \
  %D%/vectors/classes.jsonl %D%/vectors/named.jsonl %D%/vectors/random.jsonl \
  %D%/model/README.md %D%/model/capability.py %D%/model/catalog.json %D%/model/check_classes.py \
  %D%/model/contract.py %D%/model/differential.py %D%/model/entries.py %D%/model/evaluate.py \
  %D%/model/generate.py %D%/model/state.py %D%/model/test_engine.py %D%/model/test_model.py %D%/model/text.py
# chapter 2's model beside the daemon; what must be true after a storm of clients
TESTS += %D%/model/test_lifecycle_model.py %D%/http/test_storm.py
EXTRA_DIST += \
  %D%/http/test_storm.py %D%/lib/invariants.py \
  %D%/model/compare_state.py %D%/model/judge.py %D%/model/ledger.py %D%/model/lifecycle.py %D%/model/plans.py \
  %D%/model/random_walk.py %D%/model/test_lifecycle_model.py %D%/model/walk_drive.py %D%/model/walk_ops.py
# ---- end of tests/vectors, tests/model

# ---- redactor
if HAVE_CMOCKA
check_PROGRAMS += test_redact test_redact_growth
TESTS += test_redact test_redact_growth
test_redact_SOURCES = %D%/unit/test_redact.c %D%/unit/redact_table.c %D%/unit/redact_table.h
test_redact_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_redact_LDADD = libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS) $(PTHREAD_LIBS)
test_redact_growth_SOURCES = %D%/unit/test_redact_growth.c
test_redact_growth_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_redact_growth_LDADD = libpolicy.la $(CMOCKA_LIBS)
endif
# ---- end of redactor

# ---- tests/fuzz: one target a parser. With --enable-fuzzing they are libFuzzer's, else they replay their corpus
check_PROGRAMS += fuzz_bundle fuzz_catalog fuzz_filter fuzz_json_edit fuzz_package fuzz_redact fuzz_toml
fuzz_bundle_SOURCES = %D%/fuzz/fuzz_bundle.c
fuzz_bundle_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
fuzz_bundle_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_bundle_LDADD = libreader.la libpolicy.la
fuzz_catalog_SOURCES = %D%/fuzz/fuzz_catalog.c
fuzz_catalog_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
fuzz_catalog_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_catalog_LDADD = libpolicy.la
fuzz_json_edit_SOURCES = %D%/fuzz/fuzz_json_edit.c
fuzz_json_edit_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
fuzz_json_edit_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_json_edit_LDADD = libagents.la libpolicy.la $(JANSSON_LIBS)
fuzz_filter_SOURCES = %D%/fuzz/fuzz_filter.c
fuzz_filter_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS)
fuzz_filter_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_filter_LDADD = libagents.la libpolicy.la $(SODIUM_LIBS)
fuzz_package_SOURCES = %D%/fuzz/fuzz_package.c
fuzz_package_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
fuzz_package_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_package_LDADD = libpolicy.la $(JANSSON_LIBS)
fuzz_redact_SOURCES = %D%/fuzz/fuzz_redact.c
fuzz_redact_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
fuzz_redact_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_redact_LDADD = libpolicy.la
fuzz_toml_SOURCES = %D%/fuzz/fuzz_toml.c
fuzz_toml_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
fuzz_toml_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_toml_LDADD = libagents.la libpolicy.la $(JANSSON_LIBS)
if !FUZZING
fuzz_bundle_SOURCES += %D%/fuzz/fuzz_replay.c
fuzz_catalog_SOURCES += %D%/fuzz/fuzz_replay.c
fuzz_json_edit_SOURCES += %D%/fuzz/fuzz_replay.c
fuzz_filter_SOURCES += %D%/fuzz/fuzz_replay.c
fuzz_package_SOURCES += %D%/fuzz/fuzz_replay.c
fuzz_redact_SOURCES += %D%/fuzz/fuzz_replay.c
fuzz_toml_SOURCES += %D%/fuzz/fuzz_replay.c
endif
TESTS += %D%/fuzz/replay.sh
EXTRA_DIST += %D%/fuzz/replay.sh %D%/fuzz/corpus %D%/fuzz/fuzz_replay.c
# ---- end of tests/fuzz

# ---- decisions: why, again, and by another catalog
if HAVE_CMOCKA
check_PROGRAMS += test_trace test_jobs
TESTS += test_trace test_jobs
test_jobs_SOURCES = %D%/unit/test_jobs.c
test_jobs_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
test_jobs_LDADD = libjobs.la libpolicy.la $(CMOCKA_LIBS) $(PTHREAD_LIBS)
test_trace_SOURCES = %D%/unit/test_trace.c %D%/lib/decided.c %D%/lib/decided.h
test_trace_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_trace_LDADD = libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
endif
TESTS += %D%/http/test_decisions.py %D%/cli/test_decision_tests.py
EXTRA_DIST += %D%/http/test_decisions.py %D%/cli/test_decision_tests.py examples/decision-tests
# ---- end of decisions

# ---- daemon/store: entities, units of work, faults, kills
if HAVE_CMOCKA
store_tests = test_store test_store_entities test_store_ledger test_store_kill test_store_fault test_store_audit
check_PROGRAMS += $(store_tests)
TESTS += $(store_tests)
store_fixture = %D%/lib/store_fixture.c %D%/lib/store_fixture.h
store_test_cppflags = $(AM_CPPFLAGS) $(SQLITE_CFLAGS) $(SODIUM_CFLAGS) $(CMOCKA_CFLAGS)
store_test_libs = libstore.la libpolicy.la $(SQLITE_LIBS) $(SODIUM_LIBS) $(CMOCKA_LIBS) $(PTHREAD_LIBS)
test_store_SOURCES = %D%/unit/test_store.c $(store_fixture)
test_store_CPPFLAGS = $(store_test_cppflags)
test_store_LDADD = $(store_test_libs)
test_store_entities_SOURCES = %D%/unit/test_store_entities.c $(store_fixture)
test_store_entities_CPPFLAGS = $(store_test_cppflags)
test_store_entities_LDADD = $(store_test_libs)
test_store_ledger_SOURCES = %D%/unit/test_store_ledger.c $(store_fixture)
test_store_ledger_CPPFLAGS = $(store_test_cppflags)
test_store_ledger_LDADD = $(store_test_libs)
test_store_kill_SOURCES = %D%/unit/test_store_kill.c $(store_fixture)
test_store_kill_CPPFLAGS = $(store_test_cppflags)
test_store_kill_LDADD = $(store_test_libs)
test_store_fault_SOURCES = %D%/fault/test_store_fault.c %D%/fault/fault_vfs.c %D%/fault/fault_vfs.h $(store_fixture)
test_store_fault_CPPFLAGS = $(store_test_cppflags)
test_store_fault_LDADD = $(store_test_libs)
test_store_audit_SOURCES = %D%/fault/test_store_audit.c $(store_fixture)
test_store_audit_CPPFLAGS = $(store_test_cppflags)
test_store_audit_LDADD = $(store_test_libs)
endif
# ---- end of daemon/store

# ---- tests/http: the HTTP core, byte by byte
check_PROGRAMS += http_echo_server
http_echo_server_SOURCES = %D%/http/echo_server.c
http_echo_server_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
http_echo_server_LDADD = libhttp.la
TESTS += %D%/http/test_wire.py %D%/http/test_connections.py %D%/http/test_streams.py
EXTRA_DIST += %D%/http/test_wire.py %D%/http/test_connections.py %D%/http/test_streams.py %D%/http/wire.py %D%/lib/tap.py
if HAVE_CMOCKA
check_PROGRAMS += test_http_json_in test_http_router
TESTS += test_http_json_in test_http_router
test_http_json_in_SOURCES = %D%/unit/test_http_json_in.c
test_http_json_in_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_http_json_in_LDADD = libhttp.la $(CMOCKA_LIBS)
test_http_router_SOURCES = %D%/unit/test_http_router.c
test_http_router_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_http_router_LDADD = libhttp.la $(CMOCKA_LIBS)
endif
# ---- end of tests/http

# ---- daemon/lifecycle: chapter 2 on a real store, without HTTP
if HAVE_CMOCKA
lifecycle_tests = test_package_cache test_grant_precedence test_package_status test_lifecycle_way test_lifecycle_plan test_lifecycle_grant test_lifecycle_surface test_lifecycle_world test_lifecycle_store test_lifecycle_move test_lifecycle_run test_lifecycle_upkeep
check_PROGRAMS += $(lifecycle_tests)
TESTS += $(lifecycle_tests)
lifecycle_fixture = %D%/lib/lifecycle_fixture.c %D%/lib/lifecycle_fixture.h $(store_fixture)
lifecycle_test_cppflags = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
lifecycle_test_libs = liblifecycle.la libstore.la libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS) $(PTHREAD_LIBS)
test_grant_precedence_SOURCES = %D%/unit/test_grant_precedence.c
test_grant_precedence_CPPFLAGS = $(lifecycle_test_cppflags)
test_grant_precedence_LDADD = $(lifecycle_test_libs)
test_package_status_SOURCES = %D%/unit/test_package_status.c
test_package_status_CPPFLAGS = $(lifecycle_test_cppflags)
test_package_status_LDADD = $(lifecycle_test_libs)
test_lifecycle_way_SOURCES = %D%/unit/test_lifecycle_way.c $(lifecycle_fixture)
test_lifecycle_way_CPPFLAGS = $(lifecycle_test_cppflags)
test_lifecycle_way_LDADD = $(lifecycle_test_libs)
test_lifecycle_plan_SOURCES = %D%/unit/test_lifecycle_plan.c $(lifecycle_fixture)
test_lifecycle_plan_CPPFLAGS = $(lifecycle_test_cppflags)
test_lifecycle_plan_LDADD = $(lifecycle_test_libs)
test_lifecycle_grant_SOURCES = %D%/unit/test_lifecycle_grant.c $(lifecycle_fixture)
test_lifecycle_grant_CPPFLAGS = $(lifecycle_test_cppflags)
test_lifecycle_grant_LDADD = $(lifecycle_test_libs)
test_lifecycle_surface_SOURCES = %D%/unit/test_lifecycle_surface.c $(lifecycle_fixture)
test_lifecycle_surface_CPPFLAGS = $(lifecycle_test_cppflags)
test_lifecycle_surface_LDADD = $(lifecycle_test_libs)
test_lifecycle_world_SOURCES = %D%/unit/test_lifecycle_world.c $(lifecycle_fixture)
test_lifecycle_world_CPPFLAGS = $(lifecycle_test_cppflags)
test_lifecycle_world_LDADD = $(lifecycle_test_libs)
test_package_cache_SOURCES = %D%/unit/test_package_cache.c
test_package_cache_CPPFLAGS = $(lifecycle_test_cppflags)
test_package_cache_LDADD = $(lifecycle_test_libs)
test_lifecycle_move_SOURCES = %D%/unit/test_lifecycle_move.c $(lifecycle_fixture)
test_lifecycle_move_CPPFLAGS = $(lifecycle_test_cppflags)
test_lifecycle_move_LDADD = $(lifecycle_test_libs)
test_lifecycle_run_SOURCES = %D%/unit/test_lifecycle_run.c $(lifecycle_fixture)
test_lifecycle_run_CPPFLAGS = $(lifecycle_test_cppflags)
test_lifecycle_run_LDADD = $(lifecycle_test_libs)
check_PROGRAMS += test_lifecycle_context
TESTS += test_lifecycle_context
test_lifecycle_context_SOURCES = %D%/unit/test_lifecycle_context.c $(lifecycle_fixture)
test_lifecycle_context_CPPFLAGS = $(lifecycle_test_cppflags)
test_lifecycle_context_LDADD = $(lifecycle_test_libs)
test_lifecycle_store_SOURCES = %D%/unit/test_lifecycle_store.c $(lifecycle_fixture)
test_lifecycle_store_CPPFLAGS = $(lifecycle_test_cppflags)
test_lifecycle_store_LDADD = $(lifecycle_test_libs)
test_lifecycle_upkeep_SOURCES = %D%/unit/test_lifecycle_upkeep.c $(lifecycle_fixture)
test_lifecycle_upkeep_CPPFLAGS = $(lifecycle_test_cppflags)
test_lifecycle_upkeep_LDADD = $(lifecycle_test_libs)
endif
# ---- end of daemon/lifecycle

# ---- tests/bench: figures of docs/quality.md; no part of make check
EXTRA_PROGRAMS = bench_bundle bench_decide bench_read
bench_bundle_SOURCES = %D%/bench/bench_bundle.c %D%/bench/figure.h
bench_bundle_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS)
bench_bundle_LDADD = libreader.la libpolicy.la $(JANSSON_LIBS) $(SODIUM_LIBS)
bench_read_SOURCES = %D%/bench/bench_read.c %D%/bench/figure.h
bench_read_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
bench_read_LDADD = libreader.la libpolicy.la $(JANSSON_LIBS)
bench_decide_SOURCES = %D%/bench/bench_decide.c
bench_decide_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
bench_decide_LDADD = libpolicy.la $(JANSSON_LIBS)
benches = bench_bundle bench_decide bench_read
CLEANFILES += $(benches) bench.json
.PHONY: bench
bench: $(benches)
	status=0; separator='['; for bench in $(benches); do echo "$$separator"; ./$$bench || status=1; separator=','; done > bench.json; \
	  echo ']' >> bench.json; cat bench.json; exit $$status
# ---- end of tests/bench

# ---- the daemon itself: configuration, actions, keys; its start and end
if HAVE_CMOCKA
check_PROGRAMS += test_config test_actions
TESTS += test_config test_actions
test_config_SOURCES = %D%/unit/test_config.c
test_config_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
test_config_LDADD = libdaemon.la $(CMOCKA_LIBS)
check_PROGRAMS += test_run_token
TESTS += test_run_token
test_run_token_SOURCES = %D%/unit/test_run_token.c $(lifecycle_fixture)
test_run_token_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS) $(CMOCKA_CFLAGS)
test_run_token_LDADD = libapi.la libhttp.la liblifecycle.la libstore.la libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS) $(SODIUM_LIBS) $(PTHREAD_LIBS)
test_actions_SOURCES = %D%/unit/test_actions.c
test_actions_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_actions_LDADD = libapi.la libhttp.la liblifecycle.la libstore.la libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
endif
TESTS += %D%/http/test_start.py %D%/http/test_claims.py
EXTRA_DIST += %D%/http/test_start.py %D%/http/test_claims.py
TESTS += %D%/http/test_recovery.py %D%/http/test_events.py
EXTRA_DIST += %D%/http/test_recovery.py %D%/http/test_events.py
TESTS += %D%/http/test_moves.py %D%/http/test_runs.py %D%/http/test_words.py
EXTRA_DIST += %D%/http/test_moves.py %D%/http/test_runs.py %D%/http/test_words.py
TESTS += %D%/http/test_context.py
EXTRA_DIST += %D%/http/test_context.py
TESTS += %D%/http/test_metrics.py %D%/cli/test_watch.py
EXTRA_DIST += %D%/http/test_metrics.py %D%/cli/test_watch.py
# ---- end of the daemon itself

# ---- the description of the API
TESTS += %D%/http/test_openapi.py %D%/http/test_schema.py
EXTRA_DIST += %D%/http/openapi.py %D%/http/test_openapi.py %D%/http/test_schema.py %D%/lib/schema.py
# ---- end of the description of the API
# ---- register and import: other people's files
if HAVE_CMOCKA
check_PROGRAMS += test_json_edit test_project_file
TESTS += test_json_edit test_project_file
test_json_edit_SOURCES = tests/unit/test_json_edit.c
test_json_edit_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_json_edit_LDADD = libagents.la libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
test_project_file_SOURCES = tests/unit/test_project_file.c
test_project_file_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_project_file_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=renameat2
test_project_file_LDADD = libagents.la libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
endif
check_PROGRAMS += toml_json
toml_json_SOURCES = tests/lib/toml_json.c
toml_json_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
toml_json_LDADD = libagents.la libpolicy.la $(JANSSON_LIBS)
TESTS += tests/cli/test_import.py tests/cli/test_toml.py
EXTRA_DIST += tests/cli/test_import.py tests/cli/test_toml.py
TESTS += tests/cli/test_register.py tests/cli/test_register_others.py tests/cli/test_public_cases.py
EXTRA_DIST += tests/cli/registering.py tests/cli/test_register.py tests/cli/test_register_others.py tests/cli/test_public_cases.py tests/cli/cases
# ---- end of register and import

# ---- agents: what a run's child prints, and what its client is given
if HAVE_CMOCKA
check_PROGRAMS += test_job test_secret_filter
TESTS += test_job test_secret_filter
test_job_SOURCES = %D%/unit/test_job.c
test_job_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_job_LDADD = libagents.la libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
test_secret_filter_SOURCES = %D%/unit/test_secret_filter.c
test_secret_filter_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS) $(CMOCKA_CFLAGS)
test_secret_filter_LDADD = libagents.la libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS) $(SODIUM_LIBS)
endif
check_PROGRAMS += yaml_pairs
yaml_pairs_SOURCES = %D%/lib/yaml_pairs.c
yaml_pairs_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(YAML_CFLAGS)
yaml_pairs_LDADD = $(JANSSON_LIBS) $(YAML_LIBS)
agent_tests = %D%/cli/test_redact.py %D%/cli/test_materialize.py %D%/cli/test_run_lifetime.py %D%/cli/test_handoff_config.py %D%/http/test_agent_config.py
TESTS += $(agent_tests)
EXTRA_DIST += $(agent_tests) %D%/cli/materializing.py
# ---- end of agents
# ---- tests/mcp: both eras of the protocol, over both fronts
mcp_tests = %D%/mcp/test_stdio.py %D%/mcp/test_tools.py %D%/mcp/test_http.py %D%/mcp/test_readonly.py
TESTS += $(mcp_tests)
EXTRA_DIST += $(mcp_tests) %D%/mcp/rpc.py
if HAVE_CMOCKA
check_PROGRAMS += test_confine_reading
TESTS += test_confine_reading
test_confine_reading_SOURCES = tests/unit/test_confine_reading.c
test_confine_reading_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_confine_reading_LDADD = libconfine.la libpolicy.la $(CMOCKA_LIBS)
endif
if HAVE_CMOCKA
check_PROGRAMS += test_mcp
TESTS += test_mcp
test_mcp_SOURCES = tests/unit/test_mcp.c
test_mcp_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_mcp_LDADD = libmcp.la libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
endif
check_PROGRAMS += fuzz_mcp
fuzz_mcp_SOURCES = tests/fuzz/fuzz_mcp.c
fuzz_mcp_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
fuzz_mcp_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_mcp_LDADD = libmcp.la libpolicy.la $(JANSSON_LIBS)
if !FUZZING
fuzz_mcp_SOURCES += tests/fuzz/fuzz_replay.c
endif

# The official clients and the conformance suite: their modules come from npm once a build, before any test runs. Where they are
# missing the test fails and says so.
check_PROGRAMS += mcp_fixture_server
mcp_fixture_server_SOURCES = tests/mcp/fixture_server.c
mcp_fixture_server_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
mcp_fixture_server_LDADD = libhttp.la libmcp.la libjobs.la libpolicy.la
TESTS += tests/mcp/test_clients.py
EXTRA_DIST += tests/mcp/test_clients.py tests/mcp/clients.mjs tests/mcp/npm/package.json tests/mcp/npm/package-lock.json
check_DATA += tests/mcp/npm/installed
tests/mcp/npm/installed: tests/mcp/npm/package-lock.json
	$(AM_V_GEN)$(MKDIR_P) tests/mcp/npm && \
	{ cmp -s $(srcdir)/tests/mcp/npm/package.json tests/mcp/npm/package.json || cp -f $(srcdir)/tests/mcp/npm/package*.json tests/mcp/npm/; } && \
	{ $(NPM) ci --prefix tests/mcp/npm --prefer-offline --ignore-scripts --no-audit --no-fund >tests/mcp/npm/installed.log 2>&1 && echo done >$@ || \
	  echo "npm could not install what tests/mcp/test_clients.py needs: tests/mcp/npm/installed.log says why" >&2; }
# ---- end of tests/mcp
