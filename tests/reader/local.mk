# ---- the contained reader
if HAVE_CMOCKA
check_PROGRAMS += test_contained test_walk test_tools test_race test_packet
TESTS += test_contained test_walk test_tools test_race test_packet
reader_tree = tests/reader/tree.c tests/reader/tree.h
test_contained_SOURCES = tests/reader/test_contained.c $(reader_tree)
test_contained_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SECCOMP_CFLAGS) $(CMOCKA_CFLAGS)
test_contained_LDADD = libreader.la $(CMOCKA_LIBS) $(SECCOMP_LIBS)
test_walk_SOURCES = tests/reader/test_walk.c $(reader_tree)
test_walk_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_walk_LDADD = libreader.la $(CMOCKA_LIBS)
test_tools_SOURCES = tests/reader/test_tools.c $(reader_tree)
test_tools_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_tools_LDADD = libreader.la libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
test_race_SOURCES = tests/reader/test_race.c $(reader_tree)
test_race_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_race_LDADD = libreader.la $(CMOCKA_LIBS) $(PTHREAD_LIBS)
test_packet_SOURCES = tests/reader/test_packet.c $(reader_tree)
test_packet_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS) $(CMOCKA_CFLAGS)
test_packet_LDADD = libreader.la libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS) $(SODIUM_LIBS)
# Each check of the reader, taken out: needs the objects of the tests above.
TESTS += tests/reader/test_mutants.py
endif
EXTRA_DIST += tests/reader/test_mutants.py
# Targets, names and .gitignore; contents that are redacted. tests/fuzz/replay.sh runs both.
check_PROGRAMS += fuzz_body fuzz_target
fuzz_body_SOURCES = tests/fuzz/fuzz_body.c
fuzz_body_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
fuzz_body_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_body_LDADD = libpolicy.la
fuzz_target_SOURCES = tests/fuzz/fuzz_target.c
fuzz_target_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
fuzz_target_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LDFLAGS)
fuzz_target_LDADD = libreader.la libpolicy.la
if !FUZZING
fuzz_body_SOURCES += tests/fuzz/fuzz_replay.c
fuzz_target_SOURCES += tests/fuzz/fuzz_replay.c
endif
TESTS += tests/reader/test_reading.py
EXTRA_DIST += tests/reader/test_reading.py tests/reader/cases

# ---- knowledge bundles
TESTS += tests/reader/test_bundles.py tests/reader/test_bundle_checks.py
EXTRA_DIST += tests/reader/test_bundles.py tests/reader/test_bundle_checks.py tests/reader/bundle_maker.py tests/reader/bundles tests/reader/fold_maker.py
# The two checks, and each of them and both replaced: a test's own object stands before the library's.
check_PROGRAMS += bundle_probe bundle_probe_unnamed bundle_probe_outside bundle_probe_unchecked
bundle_probe_cppflags = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
bundle_probe_SOURCES = tests/reader/bundle_probe.c
bundle_probe_CPPFLAGS = $(bundle_probe_cppflags)
bundle_probe_LDADD = libreader.la
bundle_probe_unnamed_SOURCES = tests/reader/bundle_probe.c tests/reader/bundle_unchecked_named.c
bundle_probe_unnamed_CPPFLAGS = $(bundle_probe_cppflags)
bundle_probe_unnamed_LDADD = libreader.la
bundle_probe_outside_SOURCES = tests/reader/bundle_probe.c tests/reader/bundle_unchecked_inside.c
bundle_probe_outside_CPPFLAGS = $(bundle_probe_cppflags)
bundle_probe_outside_LDADD = libreader.la
bundle_probe_unchecked_SOURCES = $(bundle_probe_unnamed_SOURCES) tests/reader/bundle_unchecked_inside.c
bundle_probe_unchecked_CPPFLAGS = $(bundle_probe_cppflags)
bundle_probe_unchecked_LDADD = libreader.la
if HAVE_CMOCKA
check_PROGRAMS += test_front_matter test_rank test_rank_portable
TESTS += test_front_matter test_rank test_rank_portable
# Ranks with SQLite's FTS5 beside ours.
test_rank_SOURCES = tests/reader/test_rank.c tests/reader/fts5_peer.c tests/reader/fts5_peer.h
test_rank_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SQLITE_CFLAGS) $(CMOCKA_CFLAGS) \
  -DTEST_BUNDLES='"$(abs_top_srcdir)/tests/reader/bundles"'
# The same with what machines have that are no x86-64: its own object stands before the library's.
test_rank_portable_SOURCES = $(test_rank_SOURCES) reader/terms_count.c
test_rank_portable_CPPFLAGS = $(test_rank_CPPFLAGS) -U__SSE2__
test_rank_portable_LDADD = $(test_rank_LDADD)
test_rank_LDADD = libreader.la libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS) $(SQLITE_LIBS)
test_front_matter_SOURCES = tests/reader/test_front_matter.c
test_front_matter_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_front_matter_LDADD = libreader.la libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
endif
# ---- end of knowledge bundles
