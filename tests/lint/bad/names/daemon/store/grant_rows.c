int store_open_rows;
int grant_rows_of_file(void)
{
	return 0;
}

int grant_of_first_word(void)
{
	return 0;
}

int rows_of_last_word(void)
{
	return 0;
}

int storekeeper(void)
{
	return 0;
}

int count;

static int kept_inside(void)
{
	return 0;
}

static const struct {
	int x;
} table[] = {
	{1},
};

int grantor_of(void)
{
	return 0;
}

int record_kind_of(void)
{
	return 0;
}
