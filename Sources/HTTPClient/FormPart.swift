package import Platform

/// One part of a form: a field's text, or a file as it lies on the disk.
package struct FormPart: Sendable {
  enum Content: Sendable {
    case bytes([UInt8])
    /// Its length is that of the moment when it was opened.
    case file(path: String, OpenFile, count: Int64)
  }

  let name: String
  let type: String
  let content: Content

  /// A field of JSON.
  package init(name: String, json: [UInt8]) {
    self.name = name
    type = "application/json"
    content = .bytes(json)
  }

  /// A file, read while it is sent; nothing of its own name is told.
  package init(name: String, path: String, type: String) throws(SystemError) {
    let file = OpenFile(try Descriptor(reading: path))
    self.name = name
    self.type = type
    content = .file(path: path, file, count: try file.descriptor.size())
  }
}
