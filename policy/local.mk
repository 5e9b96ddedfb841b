# libpolicy.la is everything in this room, linked into the daemon and the command line;
# libadmit.la is the same code behind the small public interface of admit.h.
noinst_LTLIBRARIES += libpolicy.la
libpolicy_la_SOURCES = \
  %D%/arena.c %D%/arena.h %D%/buf.c %D%/buf.h %D%/check.h %D%/cleanup.h \
  %D%/check.c %D%/json_out.c %D%/json_out.h \
  %D%/words.c %D%/words.h
libpolicy_la_CPPFLAGS = $(AM_CPPFLAGS) $(JANSSON_CFLAGS) $(PCRE2_CFLAGS) $(SODIUM_CFLAGS)
libpolicy_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
libpolicy_la_LIBADD = $(JANSSON_LIBS) $(PCRE2_LIBS) $(SODIUM_LIBS)
