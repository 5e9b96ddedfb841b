# libstore.la is the SQLite store; another store would be another folder behind the same headers, chosen here.
noinst_LTLIBRARIES += libstore.la
libstore_la_SOURCES = \
  %D%/store.h %D%/project.h %D%/health.h %D%/health_retry.h %D%/webhook.h %D%/task.h %D%/package.h %D%/grant.h %D%/run.h %D%/decision.h %D%/event.h %D%/audit.h \
  %D%/catalog.h %D%/queue.h %D%/census.h %D%/token.h \
  %D%/store_private.h %D%/sql.h %D%/migrate.h %D%/folder.h %D%/due.h %D%/words.h %D%/record.h \
  %D%/store.c %D%/writer.c %D%/reader.c %D%/checkpoint.c %D%/backup.c %D%/sql.c %D%/sql_select.c %D%/migrate.c %D%/folder.c \
  %D%/project.c %D%/health.c %D%/health_retry.c %D%/webhook.c %D%/due.c %D%/task.c %D%/package.c %D%/package_parts.c %D%/grant.c %D%/run.c \
  %D%/decision.c %D%/event.c %D%/record.c %D%/audit.c %D%/audit_check.c %D%/catalog.c %D%/queue.c %D%/census.c %D%/token.c %D%/words.c
nodist_libstore_la_SOURCES = migrations_gen.c
libstore_la_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS) $(SODIUM_CFLAGS)
libstore_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
libstore_la_LIBADD = libpolicy.la $(SQLITE_LIBS) $(SODIUM_LIBS) $(PTHREAD_LIBS)

# Applied in this order; a file that was ever released is never changed again.
MIGRATIONS = migrations/0001_init.sql
EXTRA_DIST += $(MIGRATIONS) build-aux/embed.sh
CLEANFILES += migrations_gen.c
migrations_gen.c: $(MIGRATIONS) build-aux/embed.sh
	$(AM_V_GEN)for f in $(MIGRATIONS); do printf '%s\n' "$(top_srcdir)/$$f"; done | $(SHELL) $(top_srcdir)/build-aux/embed.sh > $@.tmp && mv $@.tmp $@
