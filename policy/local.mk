# libpolicy.la is everything in this room, linked into the daemon and the command line;
# libadmit.la is the same code behind the small public interface of admit.h.
noinst_LTLIBRARIES += libpolicy.la
libpolicy_la_SOURCES = \
  %D%/arena.c %D%/arena.h %D%/buf.c %D%/buf.h %D%/check.c %D%/check.h %D%/cleanup.h \
  %D%/json_out.c %D%/json_out.h %D%/json_parse.c %D%/json_parse.h \
  %D%/text.c %D%/text.h %D%/redact.c %D%/redact.h %D%/redact_body.c %D%/redact_clean.c %D%/redact_copy.c \
  %D%/redact_internal.h %D%/redact_keys.c %D%/redact_patterns.c %D%/redact_values.c \
  %D%/catalog.c %D%/catalog.h %D%/catalog_default.c %D%/catalog_load.c %D%/catalog_load.h %D%/catalog_new.c \
  %D%/catalog_diff.c %D%/catalog_diff.h \
  %D%/capability.c %D%/capability.h %D%/grant_state.c %D%/grant_state.h %D%/health_row.c %D%/health_row.h \
  %D%/package.c %D%/package.h %D%/package_entry.c %D%/package_join.c %D%/package_parse.h \
  %D%/package_render.c %D%/package_subtask.c \
  %D%/admission.c %D%/admission.h %D%/admission_inputs.c %D%/admission_reason.c %D%/admission_reason.h \
  %D%/admission_write.c %D%/decision_diff.c %D%/decision_id.c %D%/decision_id.h %D%/evaluate.c %D%/evaluate.h \
  %D%/explain.c %D%/explain.h %D%/replay.c %D%/replay.h %D%/replay_diff.c %D%/replay_diff.h \
  %D%/trace.c %D%/trace.h %D%/trace_because.c %D%/trace_parts.h %D%/trace_source.c %D%/trace_source.h %D%/trace_words.c %D%/trace_write.c \
  %D%/projection.c %D%/projection.h %D%/projection_write.c \
  %D%/words.c %D%/words.h %D%/words_evaluation.c %D%/words_evaluation.h %D%/words_event.c %D%/words_event.h %D%/words_queue.c %D%/words_queue.h %D%/words_template.c %D%/words_template.h
nodist_libpolicy_la_SOURCES = %D%/catalog_default_bytes.h
libpolicy_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(PCRE2_CFLAGS) $(SODIUM_CFLAGS)
libpolicy_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
libpolicy_la_LIBADD = $(JANSSON_LIBS) $(PCRE2_LIBS) $(SODIUM_LIBS)

# The default catalog, compiled in byte by byte: what ships is what is read.
BUILT_SOURCES += %D%/catalog_default_bytes.h
CLEANFILES += %D%/catalog_default_bytes.h
EXTRA_DIST += %D%/catalog_default.json
# Said here too, so that a single target can be made in a fresh tree.
$(libpolicy_la_OBJECTS): | %D%/catalog_default_bytes.h
%D%/catalog_default_bytes.h: %D%/catalog_default.json
	$(AM_V_GEN)$(MKDIR_P) $(@D) && { \
	  echo 'static const unsigned char catalog_default_json[] = {'; \
	  od -An -v -tx1 $(srcdir)/%D%/catalog_default.json | $(SED) 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'; \
	  echo '};'; } > $@.tmp && mv $@.tmp $@

lib_LTLIBRARIES += libadmit.la
libadmit_la_SOURCES = %D%/admit.c
libadmit_la_CPPFLAGS = $(libpolicy_la_CPPFLAGS)
libadmit_la_CFLAGS = $(libpolicy_la_CFLAGS)
libadmit_la_LIBADD = libpolicy.la
libadmit_la_LDFLAGS = $(AM_LDFLAGS) -no-undefined -version-info 0:0:0 -export-symbols-regex '^admit_'
pkginclude_HEADERS = %D%/admit.h
