/// Something that can be measured on a workbench.
protocol Measurement: Sendable {
  var figure: Figure { get }

  /// Measures it; what it takes for that is made on the way.
  func measure(on workbench: Workbench) async throws -> Finding
}
