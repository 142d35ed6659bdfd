#pragma once

#include <archive.h>
#include <archive_entry.h>

// Swift does not import macros with a cast.
static const unsigned int carchive_regular_file = AE_IFREG;
