#include "CSystem.h"

#define TEXT(token) #token
#define TEXT_OF(macro) TEXT(macro)

const char *csystem_version(void) { return TEXT_OF(TAKE5_VERSION); }
