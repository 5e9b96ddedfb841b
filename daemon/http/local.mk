# daemon/http: the core is libhttp.la; resources (api_*.c) come on top of it.
noinst_LTLIBRARIES += libhttp.la
libhttp_la_SOURCES = \
  %D%/auth.c %D%/auth.h %D%/conn.c %D%/conn.h %D%/exchange.c %D%/exchange.h %D%/exchange_head.c \
  %D%/gate.c %D%/gate.h %D%/json_in.c %D%/json_in.h %D%/json_scan.c %D%/listener.c %D%/listener.h \
  %D%/mcp_front.c %D%/mcp_front.h %D%/mcp_sessions.c %D%/mcp_sessions.h \
  %D%/rate.c %D%/rate.h %D%/reply.c %D%/reply.h %D%/request.c %D%/request.h %D%/router.c %D%/router.h \
  %D%/server.c %D%/server.h %D%/server_parts.c %D%/server_parts.h %D%/stream.c %D%/stream.h \
  %D%/tls.c %D%/tls.h
libhttp_la_CPPFLAGS = $(AM_CPPFLAGS) $(MHD_CFLAGS) $(GNUTLS_CFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS)
libhttp_la_CFLAGS = $(AM_CFLAGS)
libhttp_la_LIBADD = libmcp.la libjobs.la liblog.la libpolicy.la $(MHD_LIBS) $(GNUTLS_LIBS) $(JANSSON_LIBS) $(SODIUM_LIBS)

# libapi.la: the resources, on libhttp.la and the lifecycle.
noinst_LTLIBRARIES += libapi.la
libapi_la_SOURCES = \
  %D%/accept.c %D%/accept.h %D%/actions.c %D%/actions.h %D%/api.c %D%/api.h %D%/api_audit.c %D%/api_backup.c %D%/api_call.c %D%/api_call.h %D%/api_catalog.c %D%/api_decisions.c \
  %D%/api_events.c %D%/events.c %D%/events.h %D%/webhooks.c %D%/webhooks.h \
  %D%/api_metrics.c %D%/metrics.c %D%/metrics.h %D%/api_stats.c \
  %D%/api_grants.c %D%/api_health.c %D%/api_job.c %D%/api_job.h %D%/api_list.c %D%/api_list.h %D%/api_packages.c %D%/api_projects.c %D%/api_runs.c %D%/api_servers.c \
  %D%/api_recovery.c %D%/api_service.c %D%/api_surfaces.c %D%/api_tasks.c %D%/api_tokens.c %D%/handoff_wait.c %D%/handoff_wait.h %D%/idempotency.c %D%/idempotency.h \
  %D%/render.c %D%/render.h %D%/render_grant.c %D%/render_judged.c %D%/render_project.c %D%/render_recovery.c %D%/render_run.c \
  %D%/render_task.c %D%/render_text.c %D%/render_token.c %D%/text_table.c %D%/text_table.h %D%/token_issue.c %D%/token_issue.h
libapi_la_SOURCES += %D%/condition.c %D%/condition.h
libapi_la_SOURCES += %D%/api_mcp.c %D%/api_mcp.h %D%/mcp_preview.c %D%/mcp_project.c %D%/mcp_project.h
libapi_la_SOURCES += %D%/api_agent_config.c %D%/render_agent_config.c
libapi_la_SOURCES += %D%/api_catalog.h %D%/api_catalog_put.c %D%/api_rejudge.c
libapi_la_SOURCES += %D%/api_context.c %D%/api_runs.h
libapi_la_CPPFLAGS = $(AM_CPPFLAGS) $(GNUTLS_CFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS)
libapi_la_CFLAGS = $(AM_CFLAGS)
libapi_la_LIBADD = libaudit.la libjobs.la libhttp.la liblifecycle.la libpolicy.la $(JANSSON_LIBS) $(SODIUM_LIBS)

# The description of the API, compiled in byte by byte and served as it is.
libapi_la_SOURCES += %D%/api_openapi.c
nodist_libapi_la_SOURCES = %D%/openapi_bytes.h
BUILT_SOURCES += %D%/openapi_bytes.h
CLEANFILES += %D%/openapi_bytes.h
EXTRA_DIST += docs/openapi.json
%D%/openapi_bytes.h: docs/openapi.json
	$(AM_V_GEN)$(MKDIR_P) $(@D) && { \
	  echo 'static const unsigned char openapi_json[] = {'; \
	  od -An -v -tx1 $(srcdir)/docs/openapi.json | $(SED) 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'; \
	  echo '};'; } > $@.tmp && mv $@.tmp $@

# The console, compiled in plain and gzipped.
libapi_la_SOURCES += %D%/api_console.c
nodist_libapi_la_SOURCES += %D%/web_bytes.h
BUILT_SOURCES += %D%/web_bytes.h
CLEANFILES += %D%/web_bytes.h
%D%/web_bytes.h: $(web_files) scripts/embed-web
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(PYTHON) -B $(srcdir)/scripts/embed-web $(srcdir)/web >$@.tmp && mv $@.tmp $@
