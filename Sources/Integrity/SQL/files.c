#include "integrity_sql.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

const struct integrity_sql IntegritySQL = {
  .Integrity = {(const char[]){
#embed "Integrity.sql" suffix(, 0)
  }},
};
