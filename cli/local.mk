# cli: admitctl. The rules that need no daemon come from libpolicy.
bin_PROGRAMS += admitctl

# What prints nothing and asks nobody, apart so that tests can have it.
noinst_LTLIBRARIES += libcli.la
libcli_la_SOURCES = \
  %D%/decision_test.c %D%/decision_test.h %D%/document.c %D%/document.h %D%/remedy.c %D%/remedy.h %D%/table.c %D%/table.h
libcli_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS)
libcli_la_LIBADD = libpolicy.la $(JANSSON_LIBS)

admitctl_SOURCES = \
  %D%/main.c %D%/help.c %D%/cli.c %D%/cli.h %D%/commands.h %D%/args.c %D%/args.h \
  %D%/body.c %D%/body.h %D%/client.c %D%/client.h %D%/credential.c %D%/credential.h \
  %D%/problem.c %D%/problem.h %D%/show.c %D%/show.h %D%/task_view.c %D%/task_view.h \
  %D%/admitd_exec.c %D%/admitd_exec.h %D%/cmd_audit.c %D%/cmd_backup.c %D%/cmd_doctor.c \
  %D%/cmd_recovery.c %D%/cmd_watch.c %D%/queue_view.c %D%/queue_view.h %D%/reading.c %D%/reading.h \
  %D%/cmd_approve.c %D%/cmd_catalog.c %D%/cmd_catalog_put.c %D%/cmd_evaluate.c %D%/cmd_explain.c %D%/cmd_grant.c \
  %D%/cmd_handoff.c %D%/cmd_health.c %D%/cmd_heartbeat.c %D%/cmd_mcp.c %D%/cmd_move.c %D%/mcp_daemon.c %D%/mcp_daemon.h %D%/plan_revision.c %D%/plan_revision.h %D%/cmd_outcome.c %D%/cmd_preview.c %D%/cmd_project.c %D%/cmd_register.c %D%/cmd_rejudge.c %D%/cmd_replay.c %D%/cmd_server.c %D%/cmd_status.c \
  %D%/cmd_inventory.c %D%/cmd_search.c \
  %D%/cmd_import.c \
  %D%/child.c %D%/child.h %D%/cmd_materialize.c %D%/materialize.h %D%/materialize_note.c %D%/materialize_plan.c %D%/materialize_show.c %D%/materialize_write.c \
  %D%/cmd_redact.c %D%/secrets.c %D%/secrets.h \
  %D%/cmd_task.c %D%/cmd_test.c %D%/cmd_token.c
admitctl_SOURCES += %D%/cmd_bundle.c
admitctl_CPPFLAGS = $(AM_CPPFLAGS) -DADMITD_SBINDIR='"$(sbindir)"' $(JANSSON_CFLAGS) $(SODIUM_CFLAGS) $(CURL_CFLAGS)
admitctl_CFLAGS = $(AM_CFLAGS) $(PIE_CFLAGS)
admitctl_LDFLAGS = $(AM_LDFLAGS) $(PIE_LDFLAGS)
admitctl_LDADD = libcli.la libmcp.la libconfine.la libreader.la libagents.la libpolicy.la $(JANSSON_LIBS) $(SODIUM_LIBS) $(CURL_LIBS)
