# prober: admitd-prober, the only program of the daemon's side that connects or executes.
noinst_LTLIBRARIES += libprober.la
libprober_la_SOURCES = \
  %D%/address_rule.c %D%/address_rule.h %D%/check.h %D%/check_http.c %D%/check_stdio.c %D%/child.c %D%/child.h %D%/client_rule.c %D%/client_rule.h \
  %D%/deadline.h %D%/deliver.c %D%/deliver.h %D%/exchange.c %D%/exchange.h %D%/finding.c %D%/finding.h %D%/worker.c %D%/worker.h
libprober_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS) $(CURL_CFLAGS)
libprober_la_CFLAGS = $(AM_CFLAGS)
libprober_la_LIBADD = libagents.la libconfine.la libpolicy.la $(JANSSON_LIBS) $(SODIUM_LIBS) $(CURL_LIBS) $(PTHREAD_LIBS)

# Beside its daemon's other parts, where no shell looks for it.
proberdir = $(libexecdir)/admitd
prober_PROGRAMS = admitd-prober
admitd_prober_SOURCES = %D%/main.c
admitd_prober_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
admitd_prober_CFLAGS = $(AM_CFLAGS) $(PIE_CFLAGS)
admitd_prober_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS)
admitd_prober_LDADD = libprober.la libagents.la libconfine.la libpolicy.la
