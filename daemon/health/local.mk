# libhealth.la: what is known of tool servers. It may use agents and policy only.
noinst_LTLIBRARIES += libhealth.la
libhealth_la_SOURCES = %D%/prober_client.c %D%/prober_client.h %D%/root_health.c %D%/root_health.h
libhealth_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libhealth_la_CFLAGS = $(AM_CFLAGS)
libhealth_la_LIBADD = libagents.la libpolicy.la $(PTHREAD_LIBS)
