package import Postgres

extension Store {
  /// The statements of the core.
  package static let topics = [
    statements, AwaitedUploads.statements, Collecting.statements, Damage.statements, Forgetting.statements,
    Moving.statements, Quarantine.statements, Reprocessing.statements,
  ]
}
