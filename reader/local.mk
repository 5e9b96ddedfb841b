# libreader.la: reads inside one root, and nothing else.
noinst_LTLIBRARIES += libreader.la
libreader_la_SOURCES = \
  %D%/arguments.c %D%/arguments.h \
  %D%/contained.c %D%/contained.h %D%/contained_steps.c %D%/contained_steps.h %D%/contained_target.c \
  %D%/credential_file.c %D%/credential_file.h \
  %D%/inventory.c %D%/inventory.h %D%/name.c %D%/name.h \
  %D%/search.c %D%/search.h %D%/search_file.c %D%/search_parts.h %D%/search_write.c %D%/shown.c %D%/shown.h \
  %D%/tools.c %D%/tools.h %D%/tools_arguments.h %D%/walk.c %D%/walk.h %D%/walk_names.c %D%/walk_names.h
libreader_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS)
libreader_la_CFLAGS = $(AM_CFLAGS)
libreader_la_LIBADD = libpolicy.la $(JANSSON_LIBS) $(SODIUM_LIBS)
