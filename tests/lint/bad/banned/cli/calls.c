static void calls(char *to, const char *from)
{
	strcpy(to, from);
	sprintf(to, "%s strcat(to, from)", from);
	vtable->system(from); /* system(from) of somebody else */
	store_system(from);
	usleep(1);
	if (atoi (from))
		system(from);
}
