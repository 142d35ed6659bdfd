package import Platform

extension Failpoint {
  static let spawn = Failpoint("media.spawn")
  static let request = Failpoint("media.request")

  /// What is done with media processes.
  package static let mediaProcesses = [spawn, request]
}
