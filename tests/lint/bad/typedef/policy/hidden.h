/* hidden.h - three types that hide what they are, and one function type that does not. */
typedef struct {
	int x;
} hidden_t;
typedef enum hidden_kind hidden_kind;
typedef
	union hidden_two hidden_two;
typedef struct hidden (*hidden_function)(int x);
typedef int hidden_number;
