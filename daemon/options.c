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
	"       admitd audit-key FILE            make the key that signs checkpoints of the log: FILE, and FILE.pub "
	"for who "
	"checks\n"
	"       admitd audit-verify [OPTION...]  check the log of a state folder, of a copy (--store), or exported "
	"lines "
	"(--export)\n"
	"       admitd restore FILE [OPTION...]  put a backup into the state folder; no daemon may be running\n"
	"       admitd doctor [OPTION...]        look at the state folder: what is wrong, and the way out\n"
	"\n"
	"  --config FILE       settings ([server] [store] [roots] [approval] [preview]); the options below go before "
	"it\n"
	"  --state DIR         where the store and its keys are, made if missing; else ./admitd-state\n"
	"  --listen ADDR:PORT  numeric; port 0 is any free one; else 127.0.0.1:7333\n"
	"  --catalog FILE      the catalog of tool servers, in place of the one that is built in\n"
	"  --port-file FILE    written with the port once it is ready\n"
	"  --store FILE        audit-verify: a copy of the database, such as a backup\n"
	"  --export FILE       audit-verify: exported lines, alone or to compare the store with\n"
	"  --key PUBKEY        audit-verify: a public key that is believed, or the file with it; may be repeated\n"
	"  --json              audit-verify, doctor: as JSON\n"
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
	"  admitd token-reset --state /var/lib/admitd\n"
	"  admitd audit-key /etc/admitd/audit.key\n"
	"  admitd audit-verify --state /var/lib/admitd --export /mnt/elsewhere/checkpoints.jsonl --key audit.key.pub\n"
	"  admitd restore backup.db --config /etc/admitd.conf\n";

enum {
	OPTION_HELP = 1,
	OPTION_VERSION,
	OPTION_CONFIG,
	OPTION_STATE,
	OPTION_LISTEN,
	OPTION_CATALOG,
	OPTION_PORT_FILE,
	OPTION_STORE,
	OPTION_EXPORT,
	OPTION_KEY,
	OPTION_JSON
};

static int refuse(const char *what, const char *word)
{
	(void)fprintf(stderr, "admitd: %s%s; admitd --help says what there is\n", what, word);
	return OPTIONS_USAGE;
}

static int read_command(const char *word, struct options *options)
{
	static const struct {
		const char *word;
		enum options_command command;
	} more[] = {
		{"audit-key", OPTIONS_AUDIT_KEY},
		{"audit-verify", OPTIONS_AUDIT_VERIFY},
		{"restore", OPTIONS_RESTORE},
		{"doctor", OPTIONS_DOCTOR},
	};

	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		if (strcmp(word, more[i].word) == 0) {
			options->command = more[i].command;
			return 0;
		}
	}
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
	case OPTION_STORE:
		options->store = optarg;
		return 0;
	case OPTION_EXPORT:
		options->exported = optarg;
		return 0;
	case OPTION_KEY:
		if (options->key_count == OPTIONS_KEYS_MAX)
			return refuse("there are more than 16 of ", "--key");
		options->keys[options->key_count++] = optarg;
		return 0;
	case OPTION_JSON:
		options->is_json = true;
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
		{"store", required_argument, NULL, OPTION_STORE},
		{"export", required_argument, NULL, OPTION_EXPORT},
		{"key", required_argument, NULL, OPTION_KEY},
		{"json", no_argument, NULL, OPTION_JSON},
		{0},
	};
	int found = 0;
	int r = 0;

	*ret = (struct options){0};
	while (r == 0 && (found = getopt_long(argc, argv, "", known, NULL)) != -1)
		r = read_option(found, ret);
	if (r == 0 && optind < argc)
		r = read_command(argv[optind++], ret);
	if (r == 0 && (ret->command == OPTIONS_AUDIT_KEY || ret->command == OPTIONS_RESTORE)) {
		if (optind == argc)
			return refuse("this command needs a file: ", argv[optind - 1]);
		ret->file = argv[optind++];
	}
	if (r == 0 && optind < argc)
		return refuse("one command at a time, not also ", argv[optind]);
	return r;
}
