/// What is wrong with the failpoints that a process was started with.
package struct FailpointError: Error, Sendable, Hashable, CustomStringConvertible {
  package let message: String
  package let remedy: String

  package var description: String { "\(message). \(remedy)" }
}
