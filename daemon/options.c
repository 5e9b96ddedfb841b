#include "daemon/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
	"usage: admitd [OPTION...]               serve\n"
	"       admitd check-config [OPTION...]  read the configuration and the catalog, and say whether they are "
	"fine\n"
	"       admitd token-reset [OPTION...]   make a new admin token, where the first one is lost; no daemon may be "
	"running\n"
	"       admitd routes                    print the table of routes: method, path, body, who may\n"
	"\n"
	"  --config FILE       settings ([server] [store] [roots] [approval] [preview]); the options below go before "
	"it\n"
	"  --state DIR         where the store and its keys are, made if missing; else ./admitd-state\n"
	"  --listen ADDR:PORT  numeric; port 0 is any free one; else 127.0.0.1:7333\n"
	"  --catalog FILE      the catalog of tool servers, in place of the one that is built in\n"
	"  --port-file FILE    written with the port once it is ready\n"
	"  --help, --version\n"
	"\n"
	"The first start makes an admin token, in admin.token of the state folder. SIGTERM and SIGINT end admitd after "
	"what it has\n"
	"accepted is answered.\n"
	"\n"
	"examples:\n"
	"  admitd --state /var/lib/admitd\n"
	"  admitd --config /etc/admitd.conf\n"
	"  admitd --listen 127.0.0.1:0 --state \"$(mktemp -d)\" --port-file port\n"
	"  admitd check-config --config /etc/admitd.conf\n"
	"  admitd token-reset --state /var/lib/admitd\n";

enum { OPTION_HELP = 1, OPTION_VERSION, OPTION_CONFIG, OPTION_STATE, OPTION_LISTEN, OPTION_CATALOG, OPTION_PORT_FILE };

static int refuse(const char *what, const char *word)
{
	(void)fprintf(stderr, "admitd: %s%s; admitd --help says what there is\n", what, word);
	return OPTIONS_USAGE;
}

static int read_command(const char *word, struct options *options)
{
	if (strcmp(word, "check-config") == 0)
		options->command = OPTIONS_CHECK_CONFIG;
	else if (strcmp(word, "token-reset") == 0)
		options->command = OPTIONS_TOKEN_RESET;
	else if (strcmp(word, "routes") == 0)
		options->command = OPTIONS_ROUTES;
	else
		return refuse("there is no command ", word);
	return 0;
}

static int read_option(int found, struct options *options)
{
	switch (found) {
	case OPTION_HELP:
		(void)fputs(help, stdout);
		return OPTIONS_ANSWERED;
	case OPTION_VERSION:
		(void)puts("admitd " PACKAGE_VERSION);
		return OPTIONS_ANSWERED;
	case OPTION_CONFIG:
		options->config = optarg;
		return 0;
	case OPTION_STATE:
		options->state = optarg;
		return 0;
	case OPTION_LISTEN:
		options->listen = optarg;
		return 0;
	case OPTION_CATALOG:
		options->catalog = optarg;
		return 0;
	case OPTION_PORT_FILE:
		options->port_file = optarg;
		return 0;
	default:
		(void)fputs("admitd: admitd --help says what there is\n", stderr);
		return OPTIONS_USAGE;
	}
}

int options_read(int argc, char *const *argv, struct options *ret)
{
	static const struct option known[] = {
		{"help", no_argument, NULL, OPTION_HELP},
		{"version", no_argument, NULL, OPTION_VERSION},
		{"config", required_argument, NULL, OPTION_CONFIG},
		{"state", required_argument, NULL, OPTION_STATE},
		{"listen", required_argument, NULL, OPTION_LISTEN},
		{"catalog", required_argument, NULL, OPTION_CATALOG},
		{"port-file", required_argument, NULL, OPTION_PORT_FILE},
		{0},
	};
	int found = 0;
	int r = 0;

	*ret = (struct options){0};
	while (r == 0 && (found = getopt_long(argc, argv, "", known, NULL)) != -1)
		r = read_option(found, ret);
	if (r == 0 && optind < argc)
		r = read_command(argv[optind++], ret);
	if (r == 0 && optind < argc)
		return refuse("one command at a time, not also ", argv[optind]);
	return r;
}
