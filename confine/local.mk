# libconfine.la: Landlock and seccomp, for every program that gives rights up at its start.
noinst_LTLIBRARIES += libconfine.la
libconfine_la_SOURCES = %D%/confine.h %D%/confine_calls.c %D%/confine_paths.c %D%/confine_reading.c
libconfine_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SECCOMP_CFLAGS)
libconfine_la_CFLAGS = $(AM_CFLAGS)
libconfine_la_LIBADD = libpolicy.la $(SECCOMP_LIBS)
