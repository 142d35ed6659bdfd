@testable package import EmbeddedPostgres

extension EmbeddedPostgres {
  /// Whether this process owns the server now.
  package var isOwner: Bool { owned != nil }

  /// The process id of the server, if it runs and this process owns it.
  package var process: Int32? { owned?.process }

  private var owned: OwnedServer? { server ?? standBy?.server }
}
