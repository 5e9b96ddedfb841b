# libhealth.la: what is known of tool servers. It may use policy only.
noinst_LTLIBRARIES += libhealth.la
libhealth_la_SOURCES = %D%/root_health.c %D%/root_health.h
libhealth_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libhealth_la_CFLAGS = $(AM_CFLAGS)
libhealth_la_LIBADD = libpolicy.la $(PTHREAD_LIBS)
