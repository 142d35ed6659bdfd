/// A run that an operator asks for.
package struct ReprocessRequest: Sendable {
  package var selection: ReprocessSelection
  /// By what each kind is made; kinds without one are left out.
  package var definitions: [SubjectKind: StoredDefinition]
  /// Whether replaced outputs stay for good, instead of for the grace period.
  package var keepsOld = false
  /// Whether also what would come out as it is is made again.
  package var isForced = false
  /// Whether the command does the work itself; workers leave it alone.
  package var isLocal = false
  /// Among the jobs of its queue, 0 the first.
  package var priority = 5
  /// Items a second; nil: as fast as the workers are.
  package var rate: Double?

  package init(_ selection: ReprocessSelection, definitions: [SubjectKind: StoredDefinition]) {
    self.selection = selection
    self.definitions = definitions
  }
}
