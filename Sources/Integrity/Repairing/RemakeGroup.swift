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

  /// Puts subjects into groups; those whose definition nothing tells are in none, and of those whose definition cannot be
  /// read it is told why not.
  package static func groups(
    of subjects: [Subject], _ session: Session
  ) throws -> (groups: [RemakeGroup], unreadable: [Subject: String]) {
    var groups: [RemakeGroup] = []
    var unreadable: [Subject: String] = [:]
    let rows = try session.execute(
      Integrity.statements["made_by"], .texts(subjects.map(\.id.description)))
    for row in rows {
      guard let kind = SubjectKind(rawValue: try row.get("subject_kind")) else { continue }
      let subject = try Subject(kind: try row.get("kind"), id: try row.publicID("subject"))
      let body = Array(try row.get("body", as: String.self).utf8)
      let definition: StoredDefinition
      do { definition = try StoredDefinition(try JSON.decode(MediaDefinition.self, from: body)) } catch {
        unreadable[subject] = "its definition cannot be read: \(JSON.reason(error))"
        continue
      }
      if let place = groups.firstIndex(where: { $0.kind == kind && $0.definition == definition }) {
        groups[place].subjects.append(subject)
      } else {
        groups.append(RemakeGroup(kind: kind, definition: definition, subjects: [subject]))
      }
    }
    return (groups, unreadable)
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
}
