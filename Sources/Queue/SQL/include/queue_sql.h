#pragma once

#include "embedded.h"

/// The SQL files of the queue, by name.
struct __attribute__((swift_attr("@Sendable"))) queue_sql {
  struct embedded_text Attempts, Enqueueing, Fragments, History, Observing, Operating, Queue_schema, SetAside,
      Workers, v0163_worker_slots, v0165_job_progress, v0166_set_aside, v0179_waiting_jobs;
};
extern const struct queue_sql QueueSQL;
