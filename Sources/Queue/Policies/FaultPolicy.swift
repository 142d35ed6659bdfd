/// What is not a job's own fault, and how long it is borne with.
package struct FaultPolicy: Sendable, Hashable {
  /// A job that takes the blame for the loss of its worker this often is dead.
  package var maxBlamed = 3
  /// The stages, as jobs report them, in which a job can break its worker; in any other it takes no blame.
  package var stagesAtRisk: Set<String> = []
  /// So long after a worker was lost with other jobs no job takes the blame for its own.
  package var unwell = Duration.seconds(600)
  /// So long after the first fault that is not its own a job is tried again.
  package var timeout = Duration.seconds(24 * 60 * 60)
  /// So long a job that died while the fleet was unwell stays dead at least.
  package var revival = Duration.seconds(30)

  package init() {}
}
