#include "daemon/main_tls.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/lifecycle/time_text.h"
#include "daemon/log.h"
#include "daemon/main_first.h"

static void tell_end(struct tls *tls)
{
	const char *warning = tls_warning(tls, main_first_now_ms());
	char text[TIME_TEXT_SIZE];

	time_text_write(tls_ends_at(tls), text);
	log_line(warning != NULL ? LOG_LINE_WARNING : LOG_LINE_INFO, "tls", "the certificate is valid until %s%s%s",
		text, warning != NULL ? "; " : "", warning != NULL ? warning : "");
}

static bool is_loopback(const char *address)
{
	return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

void main_tls_warn_plain(const char *address)
{
	if (!is_loopback(address))
		log_line(LOG_LINE_WARNING, "listen",
			"%s is no loopback address, and this is HTTP without TLS: tokens can be read on the way; set "
			"[server] certificate_file and key_file",
			address);
}

int main_tls_load(const struct config *config, struct tls **ret)
{
	struct tls_fault fault = {0};
	int r = 0;

	if (config->certificate_file == NULL && config->certificate_key_file == NULL)
		return 0;
	if (config->certificate_file == NULL || config->certificate_key_file == NULL) {
		log_line(LOG_LINE_ERROR, "tls", "[server] certificate_file and key_file go together: %s is missing",
			config->certificate_file == NULL ? "certificate_file" : "key_file");
		return EXIT_FAILURE;
	}
	r = tls_new(config->certificate_file, config->certificate_key_file, ret, &fault);
	if (r == 0) {
		tell_end(*ret);
		return 0;
	}
	log_line(LOG_LINE_ERROR, "tls", "%s", r < 0 ? strerrordesc_np(-r) : fault.text);
	return EXIT_FAILURE;
}

void main_tls_reload(struct tls *tls)
{
	struct tls_fault fault = {0};
	int r = tls != NULL ? tls_reload(tls, &fault) : 0;

	if (tls == NULL)
		log_line(LOG_LINE_INFO, "tls", "there is no certificate to be read again");
	else if (r == 0)
		tell_end(tls);
	else
		log_line(LOG_LINE_ERROR, "tls", "the certificate of before stays, as the new one can't be used: %s",
			r < 0 ? strerrordesc_np(-r) : fault.text);
}
