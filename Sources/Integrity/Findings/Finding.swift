package import Store

/// One thing that is not as it should be.
package struct Finding: Sendable, Hashable {
  package let code: FindingCode
  package let object: FindingObject
  /// What was found: words of a sentence.
  package let detail: String
  /// The posts and images whose media are concerned.
  package let subjects: [Subject]
  package private(set) var severity: Severity

  package init(
    _ code: FindingCode, _ object: FindingObject, _ severity: Severity, detail: String, subjects: [Subject] = []
  ) {
    self.code = code
    self.object = object
    self.detail = detail
    self.subjects = subjects
    self.severity = severity
  }

  /// The same, once it is known whose sources are lost: what would have to be made of them is lost with them.
  package func settled(lost: Set<Subject>) -> Finding {
    guard severity == .damaged, subjects.contains(where: lost.contains) else { return self }
    var copy = self
    copy.severity = .lost
    return copy
  }

  /// What can be done about it.
  package var remedy: String {
    switch (severity, code) {
    case (_, .foreignFile): "take5 did not put it there: look what it is, and remove it"
    case (_, .definitionUnreadable):
      "what it made is served as before; make it again with the version that stored it, or by another definition with 'take5 reprocess'"
    case (.litter, .blobMissing), (.litter, .blobCorrupt), (.litter, .inlineCorrupt):
      "only media that were replaced have it: 'take5 verify --repair' removes them"
    case (.litter, _): "'take5 gc' removes it"
    case (.fault, _): "'take5 verify --repair' puts it right"
    case (.damaged, _): "'take5 verify --repair' makes it again from the sources"
    case (.lost, .blobMissing), (.lost, .blobCorrupt), (.lost, .sourceMissing), (.lost, .sourceCorrupt):
      "bring the file back from a backup of the blobs; without one, delete what refers to it"
    case (.lost, _): "bring it back from a backup; without one, delete what refers to it"
    }
  }
}

extension Finding: Encodable {
  private enum CodingKeys: CodingKey {
    case code
    case severity
    case object
    case detail
    case subjects
    case remedy
  }

  /// Writes what `verify --json` tells of it.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(code, forKey: .code)
    try container.encode(severity, forKey: .severity)
    try container.encode(object, forKey: .object)
    try container.encode(detail, forKey: .detail)
    try container.encode(subjects.map(FindingObject.init), forKey: .subjects)
    try container.encode(remedy, forKey: .remedy)
  }
}

extension FindingObject {
  /// What a job works for.
  package init(_ subject: Subject) {
    switch subject {
    case .post(let id): self = .post(id)
    case .image(let id): self = .image(id)
    }
  }
}
