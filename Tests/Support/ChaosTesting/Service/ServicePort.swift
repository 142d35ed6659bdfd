import Platform

/// Where a service that comes and goes listens.
final class ServicePort: Sendable {
  private let value = Locked<UInt16?>(nil)

  /// Nil while it is away.
  var now: UInt16? { value.withLock { $0 } }

  /// Says where it listens, or that it is away.
  func set(_ port: UInt16?) { value.withLock { $0 = port } }
}
