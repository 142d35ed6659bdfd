internal import CArchive
internal import HTTPServer
import Platform

/// Compresses content for HTTP (RFC 1952) with libarchive, which exports are written with too.
enum Gzip {
  private static let library: Void = SharedLibraries.open("libarchive.so.13")

  /// The compressed bytes; nil if they are not fewer. The same bytes are always compressed to the same ones.
  static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
    _ = library
    guard let handle = archive_write_new() else { return nil }
    defer { archive_write_free(handle) }
    guard let entry = archive_entry_new() else { return nil }
    defer { archive_entry_free(entry) }
    archive_entry_set_pathname(entry, "content")
    archive_entry_set_filetype(entry, carchive_regular_file)
    // libarchive writes to the buffer and to its count until the archive is closed; more than the buffer holds is an error.
    var output = [UInt8](repeating: 0, count: bytes.count)
    var count = 0
    let isComplete = output.withUnsafeMutableBytes { buffer in
      withUnsafeMutablePointer(to: &count) { count in
        archive_write_add_filter_gzip(handle) == ARCHIVE_OK
          && archive_write_set_filter_option(handle, "gzip", "compression-level", "9") == ARCHIVE_OK
          && archive_write_set_filter_option(handle, "gzip", "timestamp", nil) == ARCHIVE_OK
          && archive_write_set_format_raw(handle) == ARCHIVE_OK
          && archive_write_open_memory(handle, buffer.baseAddress, buffer.count, count) == ARCHIVE_OK
          && archive_write_header(handle, entry) == ARCHIVE_OK
          && bytes.withUnsafeBytes { archive_write_data(handle, $0.baseAddress, $0.count) } == bytes.count
          && archive_write_close(handle) == ARCHIVE_OK
      }
    }
    return isComplete && count < bytes.count ? Array(output.prefix(count)) : nil
  }

  /// Whether a client accepts it (RFC 9110, section 12.5.3).
  static func isAccepted(by headers: HeaderFields) -> Bool {
    let weights = headers.list("Accept-Encoding").map { element in
      let parts = element.split(separator: ";").map { $0.trimmingBlanks.lowercasedASCII }
      let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) }
      return (coding: parts.first ?? "", weight: weight ?? 1)
    }
    let named = weights.first { ["gzip", "x-gzip"].contains($0.coding) } ?? weights.first { $0.coding == "*" }
    return (named?.weight ?? 0) > 0
  }
}
