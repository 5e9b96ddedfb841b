int main(void)
{
	printf("allowed\n");
}
