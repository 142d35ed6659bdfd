import Glibc

/// The name of a staged file where files without a name are not to be had; removed with the last who holds it.
final class StagingName: Sendable {
  let path: String

  init(path: String) { self.path = path }

  deinit { _ = unlink(path) }
}
