#include "cli/reading.h"

#include <errno.h>
#include <string.h>

#include "cli/document.h"
#include "policy/json_parse.h"
#include "reader/name.h"

int reading_root(struct cli *cli, struct contained_root *ret)
{
	const char *path = args_text(&cli->args, "root");
	int r = 0;

	if (path != NULL && path[0] == '\0')
		return cli_say_usage(cli, "--root names a folder");
	r = contained_root_open(ret, path != NULL ? path : ".");
	return r == 0 ? 0 : cli_say_error(path != NULL ? path : "the current folder", r);
}

int reading_names(struct cli *cli, size_t first, size_t most, struct arguments_names *ret)
{
	size_t count = cli->args.word_count > first ? cli->args.word_count - first : 0;
	int r = 0;

	ret->count = count;
	ret->items = ARENA_ARRAY(&cli->arena, count, struct str);
	if (ret->items == NULL)
		return cli_say_error("the names", -ENOMEM);
	for (size_t i = 0; i < count && r == 0; i++) {
		const char *word = args_word(&cli->args, first + i);

		r = name_read(&cli->arena, (struct str){word, strlen(word)}, &ret->items[i]);
	}
	if (r == 0)
		r = arguments_unique(&cli->arena, ret);
	if (r != 0)
		return cli_say_error("the names", r);
	return ret->count > most ? cli_say_usage(cli, cli_printf(cli, "at most %zu different names", most)) : 0;
}

int reading_limit(struct cli *cli, const char *option, int64_t most, int64_t *ret)
{
	long number = (long)*ret;
	int result = cli_number(cli, option, 0, (long)most, &number);

	*ret = number;
	return result;
}

int reading_answer(struct cli *cli, struct str answer, json_t **ret)
{
	int r = 0;

	*ret = NULL;
	if (cli->json) {
		buf_add_str(&cli->out, answer);
		buf_putc(&cli->out, '\n');
		return 0;
	}
	r = json_parse(answer, ret, NULL);
	return r == 0 ? 0 : cli_say_error("the answer", r < 0 ? r : -EPROTO);
}

void reading_show_bounds(struct cli *cli, const json_t *answer)
{
	const json_t *bounds = json_object_get(answer, "bounds");
	const json_t *bound;
	size_t index;

	if (json_array_size(bounds) == 0)
		return;
	buf_puts(&cli->out, "cut by");
	json_array_foreach(bounds, index, bound)
		buf_printf(&cli->out, "%s --%s", index > 0 ? "," : "", json_string_value(bound));
	buf_putc(&cli->out, '\n');
}
