#include "store_sql.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

const struct store_sql StoreSQL = {
  .Assets_schema = {(const char[]){
#embed "Assets_schema.sql" suffix(, 0)
  }},
  .Blobs_schema = {(const char[]){
#embed "Blobs_schema.sql" suffix(, 0)
  }},
  .Collecting = {(const char[]){
#embed "Collecting.sql" suffix(, 0)
  }},
  .Damage = {(const char[]){
#embed "Damage.sql" suffix(, 0)
  }},
  .Events_schema = {(const char[]){
#embed "Events_schema.sql" suffix(, 0)
  }},
  .Forgetting = {(const char[]){
#embed "Forgetting.sql" suffix(, 0)
  }},
  .Forgetting_schema = {(const char[]){
#embed "Forgetting_schema.sql" suffix(, 0)
  }},
  .Fragments = {(const char[]){
#embed "Fragments.sql" suffix(, 0)
  }},
  .Moving = {(const char[]){
#embed "Moving.sql" suffix(, 0)
  }},
  .Posts_schema = {(const char[]){
#embed "Posts_schema.sql" suffix(, 0)
  }},
  .Quarantine = {(const char[]){
#embed "Quarantine.sql" suffix(, 0)
  }},
  .Quarantine_schema = {(const char[]){
#embed "Quarantine_schema.sql" suffix(, 0)
  }},
  .Reprocessing = {(const char[]){
#embed "Reprocessing.sql" suffix(, 0)
  }},
  .Reprocessing_schema = {(const char[]){
#embed "Reprocessing_schema.sql" suffix(, 0)
  }},
  .Store = {(const char[]){
#embed "Store.sql" suffix(, 0)
  }},
  .Suspension_schema = {(const char[]){
#embed "Suspension_schema.sql" suffix(, 0)
  }},
  .Uploads = {(const char[]){
#embed "Uploads.sql" suffix(, 0)
  }},
  .Uploads_schema = {(const char[]){
#embed "Uploads_schema.sql" suffix(, 0)
  }},
  .v0147_left_out = {(const char[]){
#embed "v0147_left_out.sql" suffix(, 0)
  }},
  .v0148_unused = {(const char[]){
#embed "v0148_unused.sql" suffix(, 0)
  }},
  .v0158_fields = {(const char[]){
#embed "v0158_fields.sql" suffix(, 0)
  }},
  .v0162_look = {(const char[]){
#embed "v0162_look.sql" suffix(, 0)
  }},
  .v0180_detached_posts = {(const char[]){
#embed "v0180_detached_posts.sql" suffix(, 0)
  }},
  .v0181_released_at = {(const char[]){
#embed "v0181_released_at.sql" suffix(, 0)
  }},
  .v0186_loudness = {(const char[]){
#embed "v0186_loudness.sql" suffix(, 0)
  }},
  .v0187_ended_runs = {(const char[]){
#embed "v0187_ended_runs.sql" suffix(, 0)
  }},
};
