/// For whom a task uses connections. Of each pool, a client has a share at a time, whatever its requests wait for; tasks without a
/// client are the service's own.
package struct PoolClient: Hashable, Sendable {
  /// What distinguishes the client from others, as bytes: texts of the same characters may be ids of two users.
  private let id: [UInt8]
  /// Whether many users share the client, as they do a back-end's API key.
  package let isShared: Bool

  package init(_ id: String, isShared: Bool) {
    self.id = Array(id.utf8)
    self.isShared = isShared
  }

  /// The client of the current task.
  @TaskLocal package static var current: PoolClient?

  /// The number of connections that the client uses at a time while others use some: half of those that the others leave, and so less
  /// the more clients have had theirs (dynamic thresholds: Choudhury and Hahne, 1998); all but one if many users share it.
  func share(of size: Int, besides others: Int) -> Int { max(1, isShared ? size - 1 : (size - others) / 2) }

  /// The number of its tasks that wait in a pool which bounds them.
  var maxWaiting: Int { isShared ? 1_024 : 32 }
}
