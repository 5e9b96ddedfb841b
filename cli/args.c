#include "cli/args.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

/* getopt_long gives this plus the option's position back, so that short letters keep their own values. */
enum { LONG_BASE = 256 };

/* The tables in getopt's own form. */
struct getopt_form {
	const struct args_option *options[ARGS_OPTIONS];
	size_t count;
	struct option longs[ARGS_OPTIONS + 1];
	char shorts[2 * ARGS_OPTIONS + 2];
};

static void form_add(struct getopt_form *form, const struct args_option *option)
{
	char letter[3] = {option->letter, option->kind == ARGS_FLAG ? '\0' : ':', '\0'};

	CHECK(form->count < ARGS_OPTIONS);
	form->options[form->count] = option;
	form->longs[form->count] = (struct option){
		.name = option->name,
		.has_arg = option->kind == ARGS_FLAG ? no_argument : required_argument,
		.val = LONG_BASE + (int)form->count,
	};
	form->count++;
	if (option->letter != '\0')
		strncat(form->shorts, letter, sizeof(form->shorts) - strlen(form->shorts) - 1);
}

static void form_make(struct getopt_form *form, const struct args_option *const *tables, bool stops_at_word)
{
	*form = (struct getopt_form){.shorts = {stops_at_word ? '+' : '\0'}};
	for (; *tables != NULL; tables++) {
		for (const struct args_option *option = *tables; option->name != NULL; option++)
			form_add(form, option);
	}
}

static const struct args_option *form_find(const struct getopt_form *form, int code)
{
	if (code >= LONG_BASE)
		return form->options[code - LONG_BASE];
	for (size_t i = 0; i < form->count; i++) {
		if (form->options[i]->letter == (char)code)
			return form->options[i];
	}
	return NULL;
}

int args_parse(struct args *args, const struct args_option *const *tables, bool stops_at_word, int argc, char **argv)
{
	struct getopt_form form;
	int code;

	form_make(&form, tables, stops_at_word);
	optind = 0; /* GNU: begin anew */
	while ((code = getopt_long(argc, argv, form.shorts, form.longs, NULL)) != -1) {
		const struct args_option *option = form_find(&form, code);

		if (code == '?' || option == NULL)
			return ARGS_USAGE;
		if (args->given_count == ARGS_GIVEN) {
			fprintf(stderr, "%s: more than %d options\n", argv[0], ARGS_GIVEN);
			return ARGS_USAGE;
		}
		args->given[args->given_count].option = option;
		args->given[args->given_count++].value = option->kind == ARGS_FLAG ? NULL : optarg;
	}
	args->words = argv + optind;
	args->word_count = (size_t)(argc - optind);
	return 0;
}

bool args_has(const struct args *args, const char *name)
{
	for (size_t i = 0; i < args->given_count; i++) {
		if (strcmp(args->given[i].option->name, name) == 0)
			return true;
	}
	return false;
}

const char *args_text(const struct args *args, const char *name)
{
	for (size_t i = args->given_count; i > 0; i--) {
		if (strcmp(args->given[i - 1].option->name, name) == 0)
			return args->given[i - 1].value;
	}
	return NULL;
}

const char *args_next(const struct args *args, const char *name, size_t *at)
{
	while (*at < args->given_count) {
		size_t position = (*at)++;

		if (strcmp(args->given[position].option->name, name) == 0)
			return args->given[position].value;
	}
	return NULL;
}

const char *args_word(const struct args *args, size_t position)
{
	return position < args->word_count ? args->words[position] : NULL;
}
