import Platform
import Testing

/// Runs tests on threads of their own: decoding and encoding block, and must hold no thread of Swift's shared pool.
///
/// The pool has a thread for each core. Held for minutes, it lets no timer of another test fire and no task go on: workers
/// take themselves for dead, and tests meet their limits.
struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
  private static let executor = Result { () throws(SystemError) in try ThreadExecutor(name: "media-tests", threads: 2) }

  /// For every test in a suite, not once around all of them.
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    try await withTaskExecutorPreference(Self.executor.get(), operation: function)
  }
}

extension Trait where Self == OwnThreads {
  /// Whose tests block.
  static var ownThreads: OwnThreads { OwnThreads() }
}
