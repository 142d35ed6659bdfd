#pragma once

// Debian installs the header in a directory of its own.
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

// Swift does not import macros that are character literals.
static const int cpostgres_diag_sqlstate = PG_DIAG_SQLSTATE;
static const int cpostgres_diag_message_primary = PG_DIAG_MESSAGE_PRIMARY;
static const int cpostgres_diag_message_detail = PG_DIAG_MESSAGE_DETAIL;
static const int cpostgres_diag_message_hint = PG_DIAG_MESSAGE_HINT;
static const int cpostgres_diag_constraint_name = PG_DIAG_CONSTRAINT_NAME;
