import Postgres

/// What a cluster has beside the database of the store: pg_dump, which reads one database, does not copy it.
struct ClusterContents: Hashable {
  /// A setting of the configuration files.
  struct Setting: Hashable {
    let value: String
    /// Whether ALTER SYSTEM has made it.
    let isAltered: Bool
  }

  private(set) var settings: [String: Setting] = [:]
  /// The settings that the server knows.
  private(set) var known: Set<String> = []
  /// The rules of pg_hba.conf.
  private(set) var rules: Set<String> = []
  private(set) var roles: Set<String> = []
  private(set) var databases: Set<String> = []
  /// What ALTER DATABASE and ALTER ROLE have set.
  private(set) var ofRoles: Set<String> = []

  /// - Parameter session: of the superuser of the cluster.
  init(_ session: borrowing Session) throws(PostgresError) {
    let files: Statement = """
      SELECT name, coalesce(setting, '') AS setting, sourcefile LIKE '%/postgresql.auto.conf' AS is_altered
      FROM pg_file_settings WHERE name IS NOT NULL ORDER BY seqno
      """
    for row in try session.execute(files) {
      // The last line of several counts.
      settings[try row.get("name")] = Setting(value: try row.get("setting"), isAltered: try row.get("is_altered"))
    }
    known = try Self.names("SELECT name FROM pg_settings", session)
    rules = try Self.names(
      """
      SELECT concat_ws(' ', type, database, user_name, address, netmask, auth_method, options) FROM pg_hba_file_rules
      """, session)
    roles = try Self.names(
      "SELECT rolname::text FROM pg_roles WHERE rolname NOT LIKE 'pg\\_%' AND rolname <> '\(Cluster.role)'", session)
    databases = try Self.names(
      """
      SELECT datname::text FROM pg_database
      WHERE datname NOT IN ('template0', 'template1', 'postgres', '\(Cluster.database)')
      """, session)
    ofRoles = try Self.names(
      """
      SELECT concat_ws(' ', CASE WHEN setdatabase <> 0 THEN 'database ' || datname END,
        CASE WHEN setrole <> 0 THEN 'role ' || setrole::regrole END, 'SET', setting)
      FROM pg_db_role_setting LEFT JOIN pg_database ON pg_database.oid = setdatabase, unnest(setconfig) AS setting
      """, session)
  }

  private static func names(_ statement: Statement, _ session: borrowing Session) throws(PostgresError) -> Set<String> {
    var names: Set<String> = []
    for row in try session.execute(statement) { names.insert(try row.get(0)) }
    return names
  }

  /// What a new cluster, which has nothing but the store, lacks of this one.
  func missing(in other: ClusterContents) -> [String] {
    var missing = settings.filter { name, setting in
      // What initdb of another version writes into the file is no setting of the operator.
      setting.isAltered || other.known.contains(name) && other.settings[name]?.value != setting.value
    }.keys.sorted().map { "setting \($0)" }
    if !rules.isSubset(of: other.rules) { missing.append("rules of pg_hba.conf") }
    missing += roles.subtracting(other.roles).sorted().map { "role \($0)" }
    missing += databases.subtracting(other.databases).sorted().map { "database \($0)" }
    return missing + ofRoles.subtracting(other.ofRoles).sorted()
  }
}
