#pragma once

#include "embedded.h"

/// The SQL files of the store, by name.
struct __attribute__((swift_attr("@Sendable"))) store_sql {
  struct embedded_text Assets_schema, Blobs_schema, Collecting, Damage, Events_schema, Forgetting, Forgetting_schema, Fragments,
      Moving, Posts_schema, Quarantine, Quarantine_schema, Reprocessing, Reprocessing_schema, Store, Suspension_schema, Uploads,
      Uploads_schema, v0147_left_out, v0148_unused, v0158_fields, v0162_look, v0180_detached_posts,
      v0181_released_at, v0186_loudness, v0187_ended_runs;
};
extern const struct store_sql StoreSQL;
