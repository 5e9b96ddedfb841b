#include "daemon/main_webhooks.h"

#include <stdlib.h>
#include <string.h>

#include "agents/url_rule.h"
#include "daemon/log.h"
#include "daemon/main_audit.h"

static const char *const usual[] = {"hold.opened", "hold.cleared", "task.status"};

static bool is_allowed(const char *text)
{
	const struct str url = {text, strlen(text)};

	return url_rule_judge(url) != URL_RULE_REFUSED && !url_rule_has_password(url);
}

int main_webhooks_load(struct audit_key *key, const struct config *config, const char *state)
{
	const struct config_webhooks *set = &config->webhooks;

	if (set->url == NULL && set->key_file == NULL && set->events.count == 0)
		return 0;
	if (set->url == NULL || set->key_file == NULL) {
		log_line(LOG_LINE_ERROR, "webhooks", "[webhooks] needs a url and a key_file");
		return EXIT_FAILURE;
	}
	if (!is_allowed(set->url)) {
		log_line(LOG_LINE_ERROR, "webhooks",
			"[webhooks] url is https, or http to this machine, without a password");
		return EXIT_FAILURE;
	}
	return main_audit_read_key("webhooks", set->key_file, state, key);
}

int main_webhooks_start(struct webhooks *webhooks, const struct config *config, const struct audit_key *key,
	struct lifecycle *lifecycle, struct prober_client *prober)
{
	const struct config_list *events = &config->webhooks.events;
	const struct webhooks_config set = {
		.lifecycle = lifecycle,
		.prober = prober,
		.url = config->webhooks.url,
		.types = events->count > 0 ? (const char *const *)events->items : usual,
		.type_count = events->count > 0 ? events->count : sizeof(usual) / sizeof(usual[0]),
		.key = key,
	};
	int r = set.url != NULL ? webhooks_start(webhooks, &set) : 0;

	if (r == 0)
		return 0;
	log_line(LOG_LINE_ERROR, "start", "webhooks can't be sent: %s", strerrordesc_np(-r));
	return EXIT_FAILURE;
}
