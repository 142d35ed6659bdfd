/// A secret that media URLs are signed with.
package struct SigningKey: Sendable, Hashable {
  package let id: Int64
  /// 32 random bytes.
  package let secret: [UInt8]

  package init(id: Int64, secret: [UInt8]) {
    self.id = id
    self.secret = secret
  }
}
