internal import Kit
package import Platform
package import Postgres
import Queue
package import Store

/// All rooms, each after those that its tables refer to.
extension [any Room.Type] {
  package static let all: [any Room.Type] = [
    People.self, Posts.self, Places.self, Collections.self, Images.self, Comments.self, Keys.self, Tokens.self,
    Accounts.self, Events.self, Webhooks.self, Devices.self, Moderation.self, Usage.self, Window.self, Exporting.self,
    Inclusion.self, Operations.self,
  ]

  /// A failpoint before and after each statement.
  package var failpoints: [Failpoint] { flatMap { $0.statements.failpoints } }
}

extension ControlAPI {
  /// The routes of rooms that need no more than the kit and a decision of the operator's.
  static func routes(_ kit: Kit, _ configuration: Configuration) -> [any RouteRoom] {
    [
      CommentRoutes(kit: kit), RelationRoutes(kit: kit, maxFriends: configuration.maxFriends),
      ForgettingRoutes(kit: kit),
      TokenRoutes(kit: kit), SessionRoutes(kit: kit), PlaceRoutes(kit: kit), NoteRoutes(kit: kit),
      RatingRoutes(kit: kit),
      CollectionMemberRoutes(kit: kit), ReportRoutes(kit: kit),
      ConsoleSessionRoutes(kit: kit), JobBatchRoutes(kit: kit), RunRoutes(kit: kit), QuarantineRoutes(kit: kit),
    ] + [any Room.Type].all.routes(kit, configuration.rooms)
  }
}

/// The migrations of the complete schema, of the queue, the store and its rooms, in the order of their versions.
extension [Migration] {
  package static let all: [Migration] = {
    let rooms = [any Room.Type].all
    let baseline = Migration(
      baseline: 146, replacing: [Int](100...132) + [134, 137, 138, 140, 141, 142], name: "store",
      Store.schema + rooms.flatMap { $0.schema })
    let migrations = QueueMigrations.all + [baseline] + Store.migrations + rooms.flatMap { $0.migrations }
    return migrations.sorted { $0.version < $1.version }
  }()
}
