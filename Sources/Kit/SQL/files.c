#include "kit_sql.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

const struct kit_sql KitSQL = {
  .Access_schema = {(const char[]){
#embed "../Access/Access_schema.sql" suffix(, 0)
  }},
  .Keys = {(const char[]){
#embed "../Access/Keys.sql" suffix(, 0)
  }},
  .Tokens = {(const char[]){
#embed "../Access/Tokens.sql" suffix(, 0)
  }},
  .Usage = {(const char[]){
#embed "../Access/Usage.sql" suffix(, 0)
  }},
  .Including = {(const char[]){
#embed "../Including/Including.sql" suffix(, 0)
  }},
};
