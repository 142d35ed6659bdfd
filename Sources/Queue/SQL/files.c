#include "queue_sql.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

const struct queue_sql QueueSQL = {
  .Attempts = {(const char[]){
#embed "Attempts.sql" suffix(, 0)
  }},
  .Enqueueing = {(const char[]){
#embed "Enqueueing.sql" suffix(, 0)
  }},
  .Fragments = {(const char[]){
#embed "Fragments.sql" suffix(, 0)
  }},
  .History = {(const char[]){
#embed "History.sql" suffix(, 0)
  }},
  .Observing = {(const char[]){
#embed "Observing.sql" suffix(, 0)
  }},
  .Operating = {(const char[]){
#embed "Operating.sql" suffix(, 0)
  }},
  .Queue_schema = {(const char[]){
#embed "Queue_schema.sql" suffix(, 0)
  }},
  .SetAside = {(const char[]){
#embed "SetAside.sql" suffix(, 0)
  }},
  .Workers = {(const char[]){
#embed "Workers.sql" suffix(, 0)
  }},
  .v0163_worker_slots = {(const char[]){
#embed "v0163_worker_slots.sql" suffix(, 0)
  }},
  .v0165_job_progress = {(const char[]){
#embed "v0165_job_progress.sql" suffix(, 0)
  }},
  .v0166_set_aside = {(const char[]){
#embed "v0166_set_aside.sql" suffix(, 0)
  }},
  .v0179_waiting_jobs = {(const char[]){
#embed "v0179_waiting_jobs.sql" suffix(, 0)
  }},
};
