# tests/web: the console in a real browser, against a real daemon. The modules come from npm once a build, before any test runs.
web_tests = %D%/test_aloud.mjs %D%/test_copied.mjs %D%/test_flows.mjs %D%/test_https.mjs %D%/test_mock.mjs %D%/test_queue.mjs %D%/test_screens.mjs %D%/test_steady.mjs %D%/test_together.mjs %D%/test_trouble.mjs
web_test_parts = %D%/story.py %D%/secure_story.py %D%/mock.html %D%/browser.mjs %D%/plans.mjs %D%/tap.mjs
EXTRA_DIST += $(web_tests) $(web_test_parts) tests/npm/package.json tests/npm/package-lock.json
if HAVE_BROWSER
TESTS += $(web_tests)
check_DATA += tests/npm/installed
endif
tests/npm/installed: tests/npm/package-lock.json
	$(AM_V_GEN)$(MKDIR_P) tests/npm && cp -f $(srcdir)/tests/npm/package.json $(srcdir)/tests/npm/package-lock.json tests/npm/ 2>/dev/null; \
	$(NPM) ci --prefix tests/npm --prefer-offline --ignore-scripts --no-audit --no-fund >$@.log 2>&1 && echo done >$@ || echo "tests/npm: not installed, see $@.log"
clean-local:
	rm -rf tests/mcp/npm/node_modules tests/mcp/npm/installed tests/mcp/npm/installed.log
	rm -rf tests/npm/node_modules tests/npm/installed tests/npm/installed.log tests/web/shots
distclean-local:
	test $(srcdir) = . || rm -f tests/mcp/npm/package.json tests/mcp/npm/package-lock.json
	test $(srcdir) = . || rm -f tests/npm/package.json tests/npm/package-lock.json

# The README's picture is the test's own: `make check TESTS=tests/web/test_mock.mjs console-picture` takes it anew.
console-picture: tests/web/shots/console.png
	cp $< $(srcdir)/docs/console.png
.PHONY: console-picture
