static int owns(struct list *list)
{
	/* CLEANUP(free_drop) char *said; in a comment */
	CLEANUP(free_drop) char *text;
	CLEANUP(free_drop) char *first = NULL, *second;
	CLEANUP(list_drop)
	struct list copy;
	CLEANUP(free_drop) char *name = list_take(list, 1, 2);
	CLEANUP(list_drop) struct list own = {.name = name, .next = list};
	CLEANUP(free_drop) char *names[2];
	__attribute__((cleanup(free_drop))) char *raw;
	struct list late CLEANUP(list_drop);
	struct list well CLEANUP(list_drop) = {0};

	return own.next == &copy && text != first && second != names[0] && raw != text && &late != &well;
}
