/// A file that lies in a blob store.
package struct StoredFile: Sendable, Hashable {
  /// From the store's folder on.
  package let path: String
  /// The length.
  package let bytes: Int64

  package init(path: String, bytes: Int64) {
    self.path = path
    self.bytes = bytes
  }
}
