#pragma once

#include "embedded.h"

/// The SQL files of the kit, by name.
struct __attribute__((swift_attr("@Sendable"))) kit_sql {
  struct embedded_text Access_schema, Keys, Tokens, Usage, Including;
};
extern const struct kit_sql KitSQL;
