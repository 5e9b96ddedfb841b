/* up.h - a header that is found from where its includer lies, not from the top. */
#include "neighbour.h"
