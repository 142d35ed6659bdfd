internal import Model

/// Somebody who makes a definition's outputs, or a part of that work.
protocol Contestant: Sendable {
  /// Tells it from every other, fit for a folder's name.
  var name: String { get }
  /// What it is called in tables.
  var title: String { get }

  /// Makes what is not measured, and says what is to be run.
  ///
  /// - Parameter folder: of its own, where its outputs go.
  func prepare(in folder: String, on workbench: Workbench) throws -> Workplace
}
