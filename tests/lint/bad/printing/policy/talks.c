static void talks(struct buf *buf)
{
	buf_printf(buf, "not printf()");
	printf("heard\n");
	fprintf(stderr, "heard\n");
}
