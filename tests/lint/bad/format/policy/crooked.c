static int straight(int x)
{
	return x;
}

static int crooked( int x )
{
  return x;
}
