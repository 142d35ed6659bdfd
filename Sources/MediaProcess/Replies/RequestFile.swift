import Platform

/// A file of a request, as the parent finds it.
struct RequestFile: Sendable {
  /// The length in bytes.
  let count: Int64
  private let read: @Sendable (_ offset: Int64, _ count: Int) throws(SystemError) -> [UInt8]

  init(_ file: OpenFile) throws(MediaFailure) {
    do throws(SystemError) {
      count = try file.descriptor.size()
      read = { (offset, count) throws(SystemError) in try file.descriptor.bytes(count: count, at: offset) }
    } catch {
      throw Self.unreadable(error)
    }
  }

  /// A file with this content.
  init(_ bytes: [UInt8]) {
    count = Int64(bytes.count)
    read = { offset, count in Array(bytes.dropFirst(Int(offset)).prefix(count)) }
  }

  static func all<Name>(_ files: [Name: OpenFile]) throws(MediaFailure) -> [Name: RequestFile] {
    var found: [Name: RequestFile] = [:]
    for (name, file) in files { found[name] = try RequestFile(file) }
    return found
  }

  /// Reads bytes at an offset; fewer only at the end of the file.
  func bytes(at offset: Int64, count: Int) throws(MediaFailure) -> [UInt8] {
    do { return try read(offset, count) } catch { throw Self.unreadable(error) }
  }

  private static func unreadable(_ error: SystemError) -> MediaFailure {
    MediaFailure(.unavailable, "a file of the request cannot be read: \(error)")
  }
}
