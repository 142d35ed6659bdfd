package import Postgres

/// What a test's database holds from the start; built once per run and copied for each test.
package struct TestTemplate: Sendable {
  let name: String
  let build: @Sendable (Session) throws -> Void

  /// - Parameters:
  ///   - name: unlike all others of the run: lower-case letters and `_`.
  ///   - build: brings an empty database to the state that tests start from.
  package init(name: String, build: @escaping @Sendable (Session) throws -> Void) {
    self.name = name
    self.build = build
  }
}
