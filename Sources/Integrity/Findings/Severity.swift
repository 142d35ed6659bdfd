/// How bad a finding is, by what can be done about it.
package enum Severity: String, Encodable, Sendable, Hashable, CaseIterable {
  /// Nothing refers to it: it only takes room.
  case litter
  /// The rows disagree, and what is right can be told from what is there.
  case fault
  /// Outputs that can be made again from their sources.
  case damaged
  /// Only a backup has it.
  case lost
}
