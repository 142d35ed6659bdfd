#include "CLinkedLibraries.h"
