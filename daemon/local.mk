# daemon

# liblog.la is the one way in which every room of the daemon says something.
noinst_LTLIBRARIES += liblog.la
liblog_la_SOURCES = %D%/log.c %D%/log.h

# libjobs.la is the pool for long work.
noinst_LTLIBRARIES += libjobs.la
libjobs_la_SOURCES = %D%/jobs.c %D%/jobs.h
libjobs_la_LIBADD = $(PTHREAD_LIBS)

# libdaemon.la: tools that main.c uses, apart so that tests can have them.
noinst_LTLIBRARIES += libdaemon.la
libdaemon_la_SOURCES = \
  %D%/config.c %D%/config.h %D%/monotonic.h %D%/key_file.c %D%/key_file.h %D%/options.c %D%/options.h %D%/sandbox.c %D%/sandbox.h %D%/secret_file.c %D%/secret_file.h
libdaemon_la_CPPFLAGS = $(AM_CPPFLAGS) $(INIH_CFLAGS) -DADMITD_LIBEXECDIR='"$(libexecdir)/admitd"'
libdaemon_la_CFLAGS = $(AM_CFLAGS)
libdaemon_la_LIBADD = libconfine.la libpolicy.la $(INIH_LIBS)

sbin_PROGRAMS += admitd
admitd_SOURCES = %D%/main.c %D%/main_confine.c %D%/main_confine.h %D%/main_tls.c %D%/main_tls.h
admitd_SOURCES += %D%/main_doctor.c %D%/main_doctor.h %D%/main_audit.c %D%/main_audit.h %D%/main_local.c %D%/main_local.h %D%/main_first.c %D%/main_first.h %D%/main_offline.c %D%/main_offline.h %D%/main_restore.c %D%/main_restore.h %D%/main_webhooks.c %D%/main_webhooks.h
admitd_CPPFLAGS = $(AM_CPPFLAGS) $(GNUTLS_CFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS)
admitd_CFLAGS = $(AM_CFLAGS) $(PIE_CFLAGS)
admitd_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS)
admitd_LDADD = libdaemon.la libapi.la libaudit.la libhttp.la liblifecycle.la libstore.la libhealth.la liblog.la libagents.la libpolicy.la \
  $(MHD_LIBS) $(JANSSON_LIBS) $(SQLITE_LIBS) $(SODIUM_LIBS) $(INIH_LIBS) $(PTHREAD_LIBS)
