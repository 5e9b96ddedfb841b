# libaudit.la: what makes the log one that can be believed (chapter 2.8): keys, checkpoints, export, retention, the check.
noinst_LTLIBRARIES += libaudit.la
libaudit_la_SOURCES = \
  %D%/audit_file.c %D%/audit_file.h %D%/audit_keeper.c %D%/audit_keeper.h %D%/audit_key.c %D%/audit_key.h \
  %D%/audit_line.c %D%/audit_line.h %D%/audit_verdict.c %D%/audit_verify.c %D%/audit_verify.h %D%/audit_verify_lines.c
libaudit_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS)
libaudit_la_CFLAGS = $(AM_CFLAGS)
libaudit_la_LIBADD = libdaemon.la liblifecycle.la libstore.la libpolicy.la $(JANSSON_LIBS) $(SODIUM_LIBS) $(PTHREAD_LIBS)
