# daemon/http: the core is libhttp.la; resources (api_*.c) come on top of it.
noinst_LTLIBRARIES += libhttp.la
libhttp_la_SOURCES = \
  %D%/auth.c %D%/auth.h %D%/conn.c %D%/conn.h %D%/exchange.c %D%/exchange.h %D%/exchange_head.c \
  %D%/gate.c %D%/gate.h %D%/json_in.c %D%/json_in.h %D%/json_scan.c \
  %D%/reply.c %D%/reply.h %D%/request.c %D%/request.h %D%/router.c %D%/router.h \
  %D%/server.c %D%/server.h %D%/server_parts.c %D%/server_parts.h
libhttp_la_CPPFLAGS = $(AM_CPPFLAGS) $(MHD_CFLAGS) $(JANSSON_CFLAGS) $(SODIUM_CFLAGS)
libhttp_la_CFLAGS = $(AM_CFLAGS)
libhttp_la_LIBADD = liblog.la libpolicy.la $(MHD_LIBS) $(JANSSON_LIBS) $(SODIUM_LIBS)
