static void check_failed(void)
{
	fprintf(stderr, "allowed\n");
}
