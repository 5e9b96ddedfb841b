static int jumps(int x)
{
	/* goto in a comment */
	if (x)
		goto out;
	x = 1;
out:
	return x;
}
