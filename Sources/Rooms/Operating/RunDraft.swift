internal import HTTPServer
internal import Kit
internal import Model
package import Store

/// A request for a run, or for what it would make.
struct RunDraft: Sendable {
  let request: ReprocessRequest
  let isDryRun: Bool

  /// - Parameter definitions: those that each kind is made again with.
  init(fields: [String: JSONValue], _ definitions: [SubjectKind: [StoredDefinition]]) throws(Problem) {
    var reader = FieldReader(fields, path: "")
    var request = ReprocessRequest(Self.selection(&reader), definitions: definitions)
    request.isForced = reader.flag("is_forced")
    request.keepsOld = reader.flag("keep_old")
    request.priority = reader.integer("priority", in: 0...9) ?? request.priority
    request.rate = reader.value("rate", "expected \(ReprocessRequest.expectedRate)") { value in
      if case .number(let rate) = value, ReprocessRequest.rates.contains(rate) { rate } else { nil }
    }
    isDryRun = reader.flag("dry_run")
    try reader.check()
    self.request = request
  }

  private static func selection(_ reader: inout FieldReader) -> ReprocessSelection {
    var selection = ReprocessSelection()
    selection.kinds = reader.choices("kinds", of: SubjectKind.self)
    let states = reader.choices("states", of: ReprocessSelection.Status.self)
    if !states.isEmpty { selection.statuses = states }
    let authors = reader.names("authors")
    if !authors.isEmpty { selection.authors = authors }
    selection.definition = reader.name("made_by")
    selection.versionBelow = reader.integer("version_below", in: 1...Int(Int32.max))
    selection.createdAfter = reader.time("created_after")
    selection.createdBefore = reader.time("created_before")
    selection.missing = reader.choice("missing", of: Role.self)
    selection.error = reader.name("error")
    selection.reason = reader.choice("reason", of: ReasonCode.self)
    if selection.reason != nil && selection.statuses != [.rejected] {
      reader.refuse("reason", "requires states to be [\"rejected\"]")
    }
    if reader.has("ids") { selection.ids = reader.ids("ids") }
    selection.limit = reader.integer("limit", in: 1...Int(Int32.max))
    return selection
  }
}

extension SubmissionDefinitions {
  /// The definitions that the stored media of each kind are made again with.
  package func ofStoredMedia() throws -> [SubjectKind: [StoredDefinition]] {
    let stored =
      try [moment, clip].map { try StoredDefinition($0) } + photos.values.map { try StoredDefinition($0) }
    return SubjectKind.allCases.reduce(into: [:]) { definitions, kind in
      definitions[kind] = stored.filter { kind.definitionNames.contains($0.name) }
    }
  }
}
