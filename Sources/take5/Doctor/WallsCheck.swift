import MediaProcess

extension DoctorCheck {
  /// Measures the walls around media processes, as `serve` and `worker` do at their start.
  static func walls(_ subject: DoctorSubject) async throws -> [CheckResult] {
    let configuration = try MediaProcess.Configuration(subject.arguments)
    return results(try await Sandbox.measure(configuration).get(), configuration.sandbox)
  }

  /// One result for each wall: a wall that is down is an error if `--sandbox required` requires it.
  ///
  /// - Parameter lacksDelegation: whether the cgroup can be put up: see `Sandbox`.
  static func results(
    _ walls: [WallReport], _ mode: SandboxMode, lacksDelegation: Bool = Sandbox.lacksDelegation
  ) -> [CheckResult] {
    walls.map { report in
      let name = report.wall.rawValue
      if report.isUp { return .ok("walls", name, "up: \(report.detail)") }
      if report.wall == .cgroup, mode != .off, !lacksDelegation {
        return .info(
          "walls", name,
          "down here: \(report.detail); a service has one where its unit delegates it, as take5.service does")
      }
      let remedy = mode == .off ? Sandbox.offRemedy : report.wall.remedy
      return mode == .required && !report.isOptional
        ? .error("walls", name, "down: \(report.detail)", remedy: remedy)
        : .warning("walls", name, "down: \(report.detail)", remedy: remedy)
    }
  }
}
