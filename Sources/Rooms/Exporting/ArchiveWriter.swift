internal import CArchive
import Glibc
import Platform

/// Writes a ZIP archive (PKWARE APPNOTE) with libarchive (libarchive(3)), piece by piece: `take` returns what was made so
/// far.
///
/// Its memory is that of one piece and of the directory at the end of the archive, about a hundred bytes for each file. The
/// calls compress, and do not wait for anything.
struct ArchiveWriter: ~Copyable {
  /// What libarchive has written. The struct owns it, and libarchive has a pointer to it.
  private final class Output {
    var bytes: [UInt8] = []
  }

  private let handle: OpaquePointer
  private let entry: OpaquePointer
  private let output: Output

  private static let library: Void = SharedLibraries.open("libarchive.so.13")

  /// How the bytes of a file are stored.
  enum Compression: Sendable {
    /// Unchanged: for media, which are compressed already.
    case none
    case deflate
  }

  init() throws(ArchiveError) {
    _ = Self.library
    let output = Output()
    let (handle, entry) = try Self.open(output)
    self.handle = handle
    self.entry = entry
    self.output = output
  }

  private static func open(_ output: Output) throws(ArchiveError) -> (handle: OpaquePointer, entry: OpaquePointer) {
    guard let handle = archive_write_new() else { throw ArchiveError(message: "no memory for an archive") }
    // Blocks are for tapes.
    let isOpen =
      archive_write_set_format_zip(handle) == ARCHIVE_OK && archive_write_set_bytes_per_block(handle, 0) == ARCHIVE_OK
      && archive_write_open(handle, Unmanaged.passUnretained(output).toOpaque(), nil, receive, nil) == ARCHIVE_OK
    guard isOpen, let entry = archive_entry_new() else {
      let failure = failure(of: handle)
      archive_write_free(handle)
      throw failure
    }
    return (handle, entry)
  }

  deinit {
    // Frees also an archive that is not complete; what it writes on the way goes into `output`, which is alive here.
    archive_write_free(handle)
    archive_entry_free(entry)
    withExtendedLifetime(output) {}
  }

  /// Starts a file, whose bytes `write` adds.
  ///
  /// - Parameters:
  ///   - path: in ASCII, with slashes.
  ///   - bytes: the length of the file.
  ///   - modifiedAt: in seconds since 1970-01-01 UTC.
  mutating func begin(
    _ path: String, bytes: Int64, modifiedAt: Int, _ compression: Compression
  ) throws(ArchiveError) {
    switch compression {
    case .none: try check(archive_write_zip_set_compression_store(handle))
    case .deflate: try check(archive_write_zip_set_compression_deflate(handle))
    }
    archive_entry_clear(entry)
    archive_entry_set_pathname(entry, path)
    archive_entry_set_filetype(entry, carchive_regular_file)
    archive_entry_set_perm(entry, 0o644)
    archive_entry_set_size(entry, bytes)
    archive_entry_set_mtime(entry, modifiedAt, 0)
    try check(archive_write_header(handle, entry))
  }

  /// Adds bytes of the file that was started last.
  mutating func write(_ bytes: [UInt8]) throws(ArchiveError) {
    let written = bytes.withUnsafeBytes { archive_write_data(handle, $0.baseAddress, $0.count) }
    guard written == bytes.count else { throw Self.failure(of: handle) }
  }

  /// Completes the archive.
  mutating func finish() throws(ArchiveError) { try check(archive_write_close(handle)) }

  /// Returns the bytes of the archive that were made since the last call.
  mutating func take() -> [UInt8] {
    defer { output.bytes = [] }
    return output.bytes
  }

  private func check(_ status: Int32) throws(ArchiveError) {
    guard status == ARCHIVE_OK else { throw Self.failure(of: handle) }
  }

  private static func failure(of handle: OpaquePointer) -> ArchiveError {
    ArchiveError(message: archive_error_string(handle).map { String(cString: $0) } ?? "libarchive failed")
  }

  fileprivate static func append(_ buffer: UnsafeRawBufferPointer, to context: UnsafeMutableRawPointer) {
    Unmanaged<Output>.fromOpaque(context).takeUnretainedValue().bytes.append(contentsOf: buffer)
  }
}

/// An error of libarchive.
struct ArchiveError: Error, Sendable, Hashable, CustomStringConvertible {
  let message: String

  var description: String { "the archive cannot be written: \(message)" }
}

// At file scope: a closure in another context may inherit an actor's isolation and trap on another thread.
private func receive(
  _: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ bytes: UnsafeRawPointer?, _ count: Int
) -> Int {
  if let context { ArchiveWriter.append(UnsafeRawBufferPointer(start: bytes, count: count), to: context) }
  return count
}
