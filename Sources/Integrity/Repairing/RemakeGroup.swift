import Crypto
import Model
package import Postgres
import Queue
package import Store

/// Posts or images of one kind whose outputs are made again with the definition that made them.
package struct RemakeGroup: Sendable, Hashable {
  package let kind: SubjectKind
  package let definition: StoredDefinition
  package private(set) var subjects: [Subject]

  /// Groups subjects by kind and definition. A subject without a known definition is in no group; for a subject whose
  /// definition does not decode, `unreadable` has the reason.
  package static func groups(
    of subjects: [Subject], _ session: Session
  ) throws -> (groups: [RemakeGroup], unreadable: [Subject: String]) {
    var groups: [RemakeGroup] = []
    var unreadable: [Subject: String] = [:]
    let rows = try session.execute(
      Integrity.statements["definitions_of_subjects"], .texts(subjects.map(\.id.description)))
    for row in rows {
      guard let kind = SubjectKind(rawValue: try row.get("subject_kind")) else { continue }
      let subject = try Subject(kind: try row.get("kind"), id: try row.publicID("subject"))
      let body = Array(try row.get("body", as: String.self).utf8)
      let definition: StoredDefinition
      do { definition = try StoredDefinition(try JSON.decode(MediaDefinition.self, from: body)) } catch {
        unreadable[subject] = "its definition cannot be read: \(JSON.reason(error))"
        continue
      }
      if let index = groups.firstIndex(where: { $0.kind == kind && $0.definition == definition }) {
        groups[index].subjects.append(subject)
      } else {
        groups.append(RemakeGroup(kind: kind, definition: definition, subjects: [subject]))
      }
    }
    return (groups, unreadable)
  }

  /// Creates the request for a run over the group. It is forced because the recipe of damaged outputs has not changed.
  package var request: ReprocessRequest {
    var selection = ReprocessSelection()
    selection.kinds = [kind]
    selection.statuses = [.ready, .failed]
    selection.ids = subjects.map(\.id)
    var request = ReprocessRequest(selection, definitions: [kind: [definition]])
    request.isForced = true
    // Damaged media are not served until the run ends.
    request.priority = 0
    return request
  }
}

/// Makes the outputs of posts and images again from their sources, even if they have current sets. A subject that is
/// not in the result was not processed.
package typealias Remake = @Sendable ([Subject]) async throws -> [Subject: RemakeOutcome]

/// The result of making outputs again.
package enum RemakeOutcome: Sendable, Hashable {
  case done
  /// The outputs were not made, for the given reason.
  case failed(String)
}
