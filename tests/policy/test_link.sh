#!/bin/sh
# test_link.sh - the link line proves that the engine needs neither SQLite nor a socket, and exports its own names only.
set -u
library=$(find "$BUILDDIR/.libs" -name 'libadmit.so' | head -n 1)
failed=0

say() { # say STATUS NUMBER SENTENCE
	if [ "$1" -eq 0 ]; then echo "ok $2 - $3"; else echo "not ok $2 - $3"; failed=1; fi
}

[ -n "$library" ] && nm -D --defined-only "$library" | grep -q ' T admit_evaluate$'
say $? 1 "the library is built and decides"

foreign=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
	grep -vE '^(libjansson|libpcre2-8|libsodium|libc|libm|libpthread|libasan|libubsan|libtsan|ld-linux)[.-]')
[ -z "$foreign" ] || printf '# needs %s\n' $foreign
[ -z "$foreign" ]
say $? 2 "it needs jansson, PCRE2, libsodium and the C library, and nothing else"

exported=$(nm -D --defined-only "$library" | awk '$2 ~ /[TDBR]/ { print $3 }' | grep -vE '^(admit_|__asan|__odr_asan|_fini$|_init$)')
[ -z "$exported" ] || printf '# exports %s\n' $exported
[ -z "$exported" ]
say $? 3 "it exports admit_… and nothing else"

calls=$(nm -D --undefined-only "$library" | awk '{ print $2 }' | sed 's/@.*//' |
	grep -xE 'socket|connect|bind|open|openat|open64|fopen|read|write|clock_gettime|time|gettimeofday|execve|fork|system')
[ -z "$calls" ] || printf '# calls %s\n' $calls
[ -z "$calls" ]
say $? 4 "it opens no file or socket and reads no clock"

echo "1..4"
exit $failed
