# libreader.la: reads inside one root, and nothing else.
noinst_LTLIBRARIES += libreader.la
libreader_la_SOURCES = \
  %D%/contained.c %D%/contained.h %D%/contained_steps.c %D%/contained_steps.h %D%/contained_target.c \
  %D%/name.c %D%/name.h %D%/walk.c %D%/walk.h %D%/walk_names.c %D%/walk_names.h
libreader_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libreader_la_CFLAGS = $(AM_CFLAGS)
libreader_la_LIBADD = libpolicy.la $(JANSSON_LIBS)
