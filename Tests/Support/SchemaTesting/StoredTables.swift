package import Postgres

/// The tables of a store, by what is left in them when nothing is to be done. A new table belongs to one of the two lists.
package enum StoredTables {
  /// The tables with rows that something waits for, and the condition of these rows.
  package static let waiting = [
    "announcement": "after IS NOT NULL",
    "awaited_upload": "true",
    "blob_release": "true",
    "blob_removal": "true",
    "code_request": "true",
    "forgetting": "true",
    "job": "true",
    "job_progress": "true",
    "push_broadcast": "true",
    "push_delivery": "true",
    "reprocess_item": "outcome IS NULL",
    "row_set_aside": "true",
    "user_event": "position IS NULL",
    "webhook_delivery": "state = 'pending'",
  ]

  /// The tables whose rows stay, or go by their age.
  package static let lasting: Set = [
    "access_token", "account",
    "age_rule", "api_key", "app_user", "asset", "asset_set", "blob", "blob_damage", "blob_store",
    "code_miss",
    "collection", "collection_activity", "collection_hold", "collection_item", "collection_member", "comment",
    "cron_entry", "daily_usage", "daily_window", "definition", "device", "event_history", "event_position",
    "event_ticket", "forgotten_user", "idempotent_answer", "image", "job_dead", "job_dead_count", "job_done",
    "job_limit", "job_share",
    "mail_count", "maintenance_turn", "map_activity", "media_crash", "moderation_case", "one_time_code", "place",
    "place_description", "place_friend", "place_note", "place_rating", "place_user", "post", "push_provider",
    "quarantined_input", "relation", "removal_count", "renewable_session", "report", "reprocess_run",
    "schema_migration", "signing_key", "spelling", "suspension", "suspension_change", "user_event_count",
    "user_token", "webhook", "window_schedule", "worker", "worker_loss",
  ]

  /// The names of the tables of a database, without partitions and without those of a test's own.
  package static func names(_ session: Session) throws -> Set<String> {
    let rows = try session.execute(
      """
      SELECT relname::text AS name FROM pg_class
      WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace AND NOT relispartition AND relname !~ '^chaos_'
      """)
    return Set(try rows.map { try $0.get("name") })
  }

  /// Says which rows wait although nothing is to be done, and which tables are in no list.
  package static func violations(_ session: Session) throws -> [String] {
    let names = try names(session)
    var violations = names.filter { waiting[$0] == nil && !lasting.contains($0) }.sorted()
      .map { "the table \($0) is in no list" }
    for (table, condition) in waiting.sorted(by: { $0.key < $1.key }) where names.contains(table) {
      let statement = Statement(name: "waiting", text: "SELECT count(*) FROM \(table) WHERE \(condition)")
      let count = try session.execute(statement).single().get(0, as: Int.self)
      if count > 0 { violations.append("\(count) rows of \(table) wait for something") }
    }
    return violations
  }
}
