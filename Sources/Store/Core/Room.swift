package import Postgres
package import Queue

/// A capability of the app: what it stores, and what the core does with it without its name.
package protocol Room {
  static var statements: Statements { get }

  /// What deletes what nothing asks for any more.
  static var maintenance: [MaintenanceTask] { get }
}

extension Room {
  package static var maintenance: [MaintenanceTask] { [] }
}

/// All rooms.
package enum Rooms {
  private static var all: [any Room.Type] {
    [
      Posts.self, Images.self, Comments.self, Places.self, Collections.self, People.self, Accounts.self, Tokens.self,
      Keys.self, Moderation.self, Events.self, Window.self, Usage.self, AwaitedUploads.self, Exporting.self,
      Forgetting.self,
    ]
  }

  static var statements: [Statements] { all.map { $0.statements } }

  package static var maintenance: [MaintenanceTask] { all.flatMap { $0.maintenance } }
}

extension MaintenanceTask {
  /// A task that runs each hour, until it has deleted all that it finds.
  init(_ name: String, deleting delete: @escaping @Sendable (Session) throws -> Int) {
    self.init(name, every: .seconds(3600)) { pool in
      try await pool.run { session in while try delete(session) > 0 {} }
    }
  }
}
