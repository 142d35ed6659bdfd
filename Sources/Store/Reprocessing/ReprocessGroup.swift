/// A part of what a selection means: of one kind, made by one definition.
package struct ReprocessGroup: Sendable, Hashable {
  package let kind: SubjectKind
  /// The definition by which the current outputs were made; nil if there are none.
  package let madeName: String?
  package let madeVersion: Int?
  /// Whether that is the very definition they would be made by again.
  package let isSame: Bool
  package let subjects: Int
  /// How long jobs for some of these took on average; nil if none is remembered.
  package let seconds: Double?
}
