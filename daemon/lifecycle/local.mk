# liblifecycle.la: chapter 2. It knows no HTTP and no SQL.
noinst_LTLIBRARIES += liblifecycle.la
liblifecycle_la_SOURCES = \
  %D%/lifecycle.h %D%/hold.h %D%/view.h %D%/plan.h %D%/project.h %D%/surface.h %D%/grant.h %D%/outcome.h %D%/report.h %D%/restore.h \
  %D%/recovery.h %D%/recovery_make.h %D%/recovery.c %D%/recovery_group.c %D%/recovery_item.c %D%/recovery_words.c \
  %D%/census.c %D%/census.h %D%/package_actions.c %D%/package_actions.h %D%/refusal.c %D%/refusal.h %D%/self_approval.c %D%/self_approval.h \
  %D%/move.h %D%/heartbeat.h %D%/due.h %D%/lease_timer.h %D%/move_make.h %D%/package_end.h %D%/project_root.h %D%/run_end.h %D%/run_expire.h \
  %D%/due.c %D%/heartbeat.c %D%/lease_timer.c %D%/move_make.c %D%/package_cancel.c %D%/package_end.c %D%/package_retry.c \
  %D%/package_rework.c %D%/project_archive.c %D%/project_root.c %D%/run_end.c %D%/run_expire.c %D%/task_cancel.c %D%/task_changes.c \
  %D%/task_reject.c \
  %D%/lifecycle_inner.h %D%/asked.h %D%/call.h %D%/claim.h %D%/due_timer.h %D%/event_log.h %D%/fault_list.h %D%/grant_make.h \
  %D%/grant_precedence.h %D%/hold_make.h %D%/judged.h %D%/name_check.h %D%/package_cache.h %D%/package_status.h \
  %D%/preview_entry.h %D%/preview_log.h %D%/reconcile.h %D%/rejudge.h %D%/scope_json.h %D%/task_settle.h \
  %D%/time_text.h %D%/view_make.h %D%/world.h \
  %D%/approval.c %D%/asked.c %D%/call.c %D%/claim.c %D%/due_timer.c %D%/event_log.c %D%/fault_list.c %D%/grant_make.c \
  %D%/grant_package.c %D%/grant_precedence.c %D%/grant_project.c %D%/handoff.c %D%/hold_actions.c %D%/hold_json.c \
  %D%/hold_make.c %D%/judged.c %D%/lifecycle.c %D%/name_check.c %D%/outcome.c %D%/met.c %D%/met.h %D%/package_cache.c \
  %D%/package_status.c %D%/plan.c %D%/plan_read.c %D%/preview.c %D%/preview_entry.c %D%/preview_log.c %D%/project.c \
  %D%/reconcile.c %D%/rejudge.c %D%/report.c %D%/restore.c %D%/scope_json.c %D%/task_settle.c %D%/time_text.c %D%/view.c \
  %D%/told.c %D%/view_list.c %D%/view_make.c %D%/world.c %D%/world_judge.c
liblifecycle_la_SOURCES += \
  %D%/catalog_put.c %D%/catalog_put.h %D%/liveness.c %D%/liveness.h %D%/recall.c %D%/recall.h %D%/recall_make.h %D%/retrial.c
liblifecycle_la_SOURCES += \
  %D%/recheck.c %D%/recheck.h %D%/server.c %D%/server.h %D%/server_seal.c %D%/server_seal.h
liblifecycle_la_SOURCES += %D%/upkeep.c %D%/upkeep.h
liblifecycle_la_SOURCES += %D%/grant_impact.c %D%/grant_impact.h %D%/grant_impact_tell.c
liblifecycle_la_SOURCES += %D%/project_actions.c %D%/project_actions.h %D%/grant_undo.c %D%/grant_undo.h
liblifecycle_la_SOURCES += %D%/context.c %D%/context.h %D%/context_request.c %D%/context_request.h
liblifecycle_la_SOURCES += %D%/run_config.c %D%/run_config.h
liblifecycle_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS)
liblifecycle_la_CFLAGS = $(AM_CFLAGS)
liblifecycle_la_LIBADD = libstore.la libhealth.la libreader.la libagents.la libpolicy.la $(JANSSON_LIBS) $(SODIUM_LIBS) $(PTHREAD_LIBS)
