/// Short jobs that were claimed together: one lease, one token, one end.
package struct GroupClaim: Sendable, Hashable {
  package let token: Int64
  /// In the order of their ranks.
  package let jobs: [ClaimedJob]
}
