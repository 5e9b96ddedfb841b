# ---- agents and prober: specs, seals, addresses; tool servers that are checked through the real daemon
if HAVE_CMOCKA
check_PROGRAMS += test_url_rule test_spec test_address_rule
TESTS += test_url_rule test_spec test_address_rule
test_url_rule_SOURCES = tests/unit/test_url_rule.c
test_url_rule_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_url_rule_LDADD = libagents.la $(CMOCKA_LIBS)
test_spec_SOURCES = tests/unit/test_spec.c
test_spec_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS) $(CMOCKA_CFLAGS)
test_spec_LDADD = libagents.la libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS) $(SODIUM_LIBS)
test_address_rule_SOURCES = tests/unit/test_address_rule.c
test_address_rule_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
test_address_rule_LDADD = libprober.la $(CMOCKA_LIBS)
endif
prober_tests = \
  tests/prober/test_servers.py tests/prober/test_server_secrets.py tests/prober/test_server_health.py tests/prober/test_server_specs.py \
  tests/prober/test_webhooks.py
TESTS += $(prober_tests)
EXTRA_DIST += $(prober_tests) tests/prober/servers.py tests/prober/fake_http.py tests/prober/fake_stdio.py
