import Platform

/// A file that refuses to be written.
enum ReadOnlyFile {
  static func make() throws -> OpenFile { OpenFile(try Descriptor(reading: "/dev/null")) }
}
