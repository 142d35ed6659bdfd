internal import CConsole
internal import Crypto
internal import HTTPServer
internal import Platform

/// The files of the console, which are compiled into the program.
///
/// Each is hashed and compressed by the first request that wants it so: the service starts without them.
final class ConsoleFiles: Sendable {
  private struct Content: Sendable {
    let bytes: [UInt8]
    let representation: Representation
  }

  private struct Name: Hashable {
    let file: String
    let isCompressed: Bool
  }

  /// The header fields of each response.
  private let headers: HeaderFields
  private let contents = Locked<[Name: Content]>([:])

  init(headers: HeaderFields) { self.headers = headers }

  /// The names of all files, with their media types and bytes.
  static let all: [String: (type: String, bytes: [UInt8])] = {
    var count = 0
    let files = UnsafeBufferPointer(start: console_files(&count), count: count)
    return files.reduce(into: [:]) { all, file in
      let name = String(cString: file.name)
      all[name] = (mediaType(of: name), Array(String(cString: file.text).utf8))
    }
  }()

  private static func mediaType(of name: String) -> String {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "svg": "image/svg+xml"
    default: "text/javascript; charset=utf-8"
    }
  }

  /// Responds to GET with a file; throws a problem with status 404 if there is none of this name.
  func respond(to request: Request, with file: String) async throws -> Response {
    guard let content = content(of: file, isCompressed: Gzip.isAccepted(by: request.headers)) else {
      throw Problem(
        .resourceNotFound, detail: "The console has no file \(file).", remedy: "Load the console again, at /console.")
    }
    return try await content.representation.respond(to: request) { range in
      .bytes(Array(content.bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
    }
  }

  private func content(of file: String, isCompressed: Bool) -> Content? {
    guard let (type, stored) = Self.all[file] else { return nil }
    return contents.withLock { contents in
      let name = Name(file: file, isCompressed: isCompressed)
      if let known = contents[name] { return known }
      let compressed = isCompressed ? Gzip.compressed(stored) : nil
      let bytes = compressed ?? stored
      var headers = headers
      headers["Content-Type"] = type
      if compressed != nil { headers["Content-Encoding"] = "gzip" }
      let content = Content(
        bytes: bytes,
        representation: Representation(
          length: Int64(bytes.count), entityTag: EntityTag(strong: SHA256.digest(of: bytes).hex), headers: headers))
      contents[name] = content
      return content
    }
  }
}
