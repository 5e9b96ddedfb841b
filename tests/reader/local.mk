# ---- the contained reader
if HAVE_CMOCKA
check_PROGRAMS += test_contained test_walk test_tools
TESTS += test_contained test_walk test_tools
reader_tree = tests/reader/tree.c tests/reader/tree.h
test_contained_SOURCES = tests/reader/test_contained.c $(reader_tree)
test_contained_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_contained_LDADD = libreader.la $(CMOCKA_LIBS)
test_walk_SOURCES = tests/reader/test_walk.c $(reader_tree)
test_walk_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_walk_LDADD = libreader.la $(CMOCKA_LIBS)
test_tools_SOURCES = tests/reader/test_tools.c $(reader_tree)
test_tools_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(CMOCKA_CFLAGS)
test_tools_LDADD = libreader.la libpolicy.la $(CMOCKA_LIBS) $(JANSSON_LIBS)
endif
TESTS += tests/reader/test_reading.py
EXTRA_DIST += tests/reader/test_reading.py tests/reader/cases
