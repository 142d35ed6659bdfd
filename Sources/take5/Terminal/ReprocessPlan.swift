import Model
import Store

/// What a run would be about, as the command line shows it before there is one.
struct ReprocessPlan: Encodable {
  /// Those of one kind that one definition made.
  struct Part: Encodable {
    let kind: SubjectKind
    /// `take5-post 1`; nil if there are no outputs.
    let madeBy: String?
    let madeAgainBy: String
    /// Made by the very same definition: most of them are left as they are.
    let same: Bool
    let items: Int
  }

  let items: Int
  let withoutSources: Int
  /// Of processors, by how long such jobs took; nil if nothing is remembered of such jobs.
  let hours: Double?
  let parts: [Part]

  init(_ groups: [ReprocessGroup], of request: ReprocessRequest, withoutSources: Int) {
    parts = groups.map { group in
      let definition = request.definitions[group.kind]
      return Part(
        kind: group.kind, madeBy: group.madeName.map { "\($0) \(group.madeVersion ?? 0)" },
        madeAgainBy: definition.map { "\($0.name) \($0.version)" } ?? "", same: group.isSame, items: group.subjects)
    }
    items = groups.reduce(0) { $0 + $1.subjects }
    self.withoutSources = withoutSources
    let counted = groups.filter { $0.seconds != nil && !$0.isSame }
    hours = counted.isEmpty ? nil : counted.reduce(0) { $0 + Double($1.subjects) * ($1.seconds ?? 0) } / 3600
  }

  /// For people.
  var lines: [String] {
    var lines = parts.map { part in
      let change =
        part.same
        ? "the same definition: made again only where the libraries, or the files, are others"
        : part.madeBy == nil ? "nothing yet → \(part.madeAgainBy)" : "\(part.madeBy ?? "") → \(part.madeAgainBy)"
      return "\(part.items) of kind \(part.kind.rawValue): \(change)"
    }
    if withoutSources > 0 { lines.append("left out: \(withoutSources), whose sources were not kept") }
    if let hours { lines.append("about \(Self.text(hours)) of one processor, by how long such jobs took") }
    return lines
  }

  private static func text(_ hours: Double) -> String {
    let minutes = hours * 60
    if minutes < 1 { return "\(Int((minutes * 60).rounded(.up))) seconds" }
    if hours < 1 { return "\(Int(minutes.rounded(.up))) minutes" }
    return "\((hours * 10).rounded() / 10) hours"
  }
}
