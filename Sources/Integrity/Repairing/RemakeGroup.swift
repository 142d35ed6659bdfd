import Crypto
import Model
package import Postgres
import Queue
package import Store

/// Posts or images of a kind whose current media one definition made, which are to be made again by it.
package struct RemakeGroup: Sendable, Hashable {
  package let kind: SubjectKind
  package let definition: StoredDefinition
  package private(set) var subjects: [Subject]

  /// Puts subjects into groups; those whose definition nothing tells are in none.
  package static func groups(of subjects: [Subject], _ session: Session) throws -> [RemakeGroup] {
    var groups: [RemakeGroup] = []
    let rows = try session.execute(
      Integrity.statements["made_by"], .texts(subjects.map(\.id.description)))
    for row in rows {
      guard let kind = SubjectKind(rawValue: try row.get("subject_kind")),
        let definition = definition(Array(try row.get("body", as: String.self).utf8))
      else { continue }
      let subject = try Subject(kind: try row.get("kind"), id: try row.publicID("subject"))
      if let place = groups.firstIndex(where: { $0.kind == kind && $0.definition == definition }) {
        groups[place].subjects.append(subject)
      } else {
        groups.append(RemakeGroup(kind: kind, definition: definition, subjects: [subject]))
      }
    }
    return groups
  }

  /// A run over these, whatever they have now: the recipe of what is damaged is the right one, and so are its rows.
  package func request(isLocal: Bool) -> ReprocessRequest {
    var selection = ReprocessSelection()
    selection.kinds = [kind]
    selection.statuses = Set(ReprocessSelection.Status.allCases)
    selection.ids = subjects.map(\.id)
    var request = ReprocessRequest(selection, definitions: [kind: definition])
    request.isLocal = isLocal
    request.isForced = true
    // Somebody waits for it.
    request.priority = 0
    return request
  }

  private static func definition(_ body: [UInt8]) -> StoredDefinition? {
    if let clips = try? JSON.decode(Definition.self, from: body) { return try? StoredDefinition(clips) }
    return (try? JSON.decode(PhotoDefinition.self, from: body)).flatMap { try? StoredDefinition($0) }
  }
}
