import CKitSQL
package import HTTPServer
package import Model
package import Postgres
import Queue
package import Store

/// What a client wants beside the records of a response, by the parameter `include`.
package struct Inclusion: Sendable {
  /// The values of the parameter.
  package enum Part: String, CaseIterable, Sendable {
    /// The users that the records name.
    case author
    /// What the viewer has to the records, and to what they name.
    case mine
    /// The places that the records name.
    case place
  }

  let parts: Set<Part>
  package let viewer: Viewer
  package let urls: MediaURLs
  private let rooms: [any Room.Type]

  /// - Parameter rooms: all rooms, of which those that are an `IncludedRoom` have the records to include.
  package init(parts: Set<Part>, viewer: Viewer, urls: MediaURLs, rooms: [any Room.Type]) {
    self.parts = parts
    self.viewer = viewer
    self.urls = urls
    self.rooms = rooms
  }

  /// Reads what records name and the viewer sees; nil if the client wants nothing.
  package func read<Record>(_ records: some Sequence<Record>, _ session: Session) throws -> Included? {
    guard !parts.isEmpty else { return nil }
    let records = records.compactMap { $0 as? any Naming }
    let named = try seen(records.flatMap(\.named), session)
    let itself = records.compactMap(\.itself)
    let kinds = try kinds(to: named, itself, session)
    var included = Included()
    if parts.contains(.author) { included.users = try users(Self.ids(.user, named), kinds, session) }
    if parts.contains(.place) { included.places = try read(.place, Self.ids(.place, named), session) }
    if parts.contains(.mine), viewer.user != nil { included.mine = mine(named + itself, kinds) }
    return included
  }

  /// Leaves out the posts that the viewer does not see: of a post that became private, a like of the viewer's is left.
  private func seen(_ named: [RecordID], _ session: Session) throws -> [RecordID] {
    let posts = Self.ids(.post, named)
    guard parts.contains(.mine), !posts.isEmpty else { return named }
    let rows = try session.execute(Self.statements["seen_posts"], .texts(posts), viewer.parameter)
    let seen = Set(try rows.map { try $0.publicID("public_id").description })
    return named.filter { $0.kind != .post || seen.contains($0.id) }
  }

  private static func ids(_ kind: RecordID.Kind, _ named: [RecordID]) -> [String] {
    QueryReader.distinct(named.filter { $0.kind == kind }.map(\.id))
  }

  /// The users that the viewer may know of: a user who has blocked the viewer is not there.
  private func users(
    _ ids: [String], _ kinds: [String: Set<String>], _ session: Session
  ) throws -> [String: IncludedRecord] {
    try read(.user, ids.filter { kinds[$0]?.contains(RelationKind.blocked) != true }, session)
  }

  private func read(
    _ kind: RecordID.Kind, _ ids: [String], _ session: Session
  ) throws -> [String: IncludedRecord] {
    guard !ids.isEmpty else { return [:] }
    let including = rooms.lazy.compactMap { $0 as? any IncludedRoom.Type }
    return try including.first { $0.record.kind == kind }?.included(ids, for: viewer, urls, session) ?? [:]
  }

  /// What the viewer has to each id of the parts, and `received` for a request to the viewer: read once, for all parts that need it.
  private func kinds(
    to named: [RecordID], _ itself: [RecordID], _ session: Session
  ) throws -> [String: Set<String>] {
    let isMine = parts.contains(.mine)
    let targets = isMine ? named + itself : parts.contains(.author) ? named.filter { $0.kind == .user } : []
    guard let user = viewer.user, !targets.isEmpty else { return [:] }
    let users = Self.ids(.user, targets)
    let relating = rooms.lazy.compactMap { $0 as? any RelationRoom.Type }
    return try relating.first?.relations(
      of: user, to: users + Self.ids(.post, targets) + Self.ids(.place, targets), receivedFrom: isMine ? users : [],
      session) ?? [:]
  }

  private func mine(_ named: [RecordID], _ kinds: [String: Set<String>]) -> Included.Mine {
    let (users, posts, places) = (Self.ids(.user, named), Self.ids(.post, named), Self.ids(.place, named))
    return Included.Mine(users: users.filter { !viewer.owns($0) }, posts: posts, places: places, kinds)
  }
}

extension Inclusion: Room {
  package static let statements = Statements(topic: "including", Store.fragments, KitSQL.Including)
}

extension KitHolder {
  /// Reads the parameter `include` of a list, or of the read of a record; of records that name nothing there is no such parameter.
  ///
  /// - Parameter viewer: who sees the records; nil: the client.
  package func inclusion<Record>(
    of type: Record.Type, _ reader: inout QueryReader, _ request: Request, for viewer: Viewer? = nil
  ) throws(Problem) -> Inclusion {
    let parts = type is any Naming.Type ? reader.choices("include", of: Inclusion.Part.self, separator: ",") : []
    return try inclusion(parts, request, for: viewer)
  }

  /// Reads the field `include` of a body, and removes it.
  package func inclusion(
    taking fields: inout [String: JSONValue], _ request: Request
  ) throws(Problem) -> Inclusion {
    var reader = FieldReader(["include": fields.removeValue(forKey: "include") ?? .null], path: "")
    let parts = reader.choices("include", of: Inclusion.Part.self)
    try reader.check()
    return try inclusion(parts, request)
  }

  private func inclusion(
    _ parts: Set<Inclusion.Part>, _ request: Request, for viewer: Viewer? = nil
  ) throws(Problem) -> Inclusion {
    let viewer = viewer ?? request.caller.viewer
    guard !parts.contains(.mine) || viewer.user != nil else {
      throw ProblemKind.userRequired.problem("The request includes data of the acting user, and acts as no user.")
    }
    return Inclusion(parts: parts, viewer: viewer, urls: access.mediaURLs(for: request), rooms: store.rooms)
  }
}
