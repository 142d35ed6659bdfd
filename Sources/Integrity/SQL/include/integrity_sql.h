#pragma once

#include "embedded.h"

/// The SQL files of the checks, by name.
struct __attribute__((swift_attr("@Sendable"))) integrity_sql {
  struct embedded_text Integrity;
};
extern const struct integrity_sql IntegritySQL;
