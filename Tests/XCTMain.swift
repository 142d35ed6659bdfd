import Dispatch
import Testing

/// The program of all tests. Where this file is, the package manager looks for no tests of XCTest, for which it would need an index of all of them.
@main
struct AllTests {
  /// Not asynchronous: all programs whose targets the tests link have one asynchronous main function, by its name.
  static func main() {
    Task { await Testing.__swiftPMEntryPoint() as Never }
    dispatchMain()
  }
}
