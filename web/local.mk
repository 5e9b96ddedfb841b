# web: the console. Plain files, joined and compiled into the daemon (daemon/http/local.mk).
web_files = \
  web/base.css \
  web/icon.svg \
  web/index.html \
  web/lib/acting.js \
  web/lib/api.js \
  web/lib/download.js \
  web/lib/html.js \
  web/lib/layers.js \
  web/lib/live.js \
  web/lib/page.js \
  web/lib/queue.js \
  web/lib/resource.js \
  web/lib/time.js \
  web/main.js \
  web/narrow.css \
  web/parts/action_dialog.js \
  web/parts/actions.js \
  web/parts/app.js \
  web/parts/bars.js \
  web/parts/load.js \
  web/parts/marks.js \
  web/parts/package_parts.js \
  web/parts/plan_parts.js \
  web/parts/plots.js \
  web/parts/project_parts.js \
  web/parts/queue_table.js \
  web/parts/story.js \
  web/screens.css \
  web/screens/all.js \
  web/screens/decision.js \
  web/screens/log.js \
  web/screens/package.js \
  web/screens/plan.js \
  web/screens/project.js \
  web/screens/queue.js \
  web/screens/rules.js \
  web/screens/trends.js \
  web/tokens.css \
  web/vendor/LICENSE.htm \
  web/vendor/LICENSE.preact \
  web/vendor/README.md \
  web/vendor/SHA256SUMS \
  web/vendor/hooks.js \
  web/vendor/htm.js \
  web/vendor/preact.js
EXTRA_DIST += $(web_files)
