package import Store

/// A room with routes that need no more than the kit and what operators set for the room.
package protocol RoutedRoom: Room {
  static func routes(_ kit: Kit, _ settings: RoomSettings) -> [any RouteRoom]

  /// The kinds of problems that only these routes have.
  static var problems: [any ProblemTable] { get }
}

extension RoutedRoom {
  package static var problems: [any ProblemTable] { [] }
}

extension [any Room.Type] {
  private var routed: [any RoutedRoom.Type] { compactMap { $0 as? any RoutedRoom.Type } }

  /// The routes of those rooms that bring them.
  package func routes(_ kit: Kit, _ settings: RoomSettings) -> [any RouteRoom] {
    routed.flatMap { $0.routes(kit, settings) }
  }

  /// The kinds of problems that single rooms have.
  package var problems: [any ProblemTable] { routed.flatMap { $0.problems } }
}
