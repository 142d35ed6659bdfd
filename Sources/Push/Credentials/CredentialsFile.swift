import Glibc
import Model
import Platform

/// A JSON file of credentials. Its errors name the file and the member, never a value.
enum CredentialsFile {
  private static let maxBytes: Int64 = 64 << 10

  static func decode<Value: Decodable>(_ type: Value.Type, from path: String) throws(PushError) -> Value {
    let bytes = try bytes(of: path)
    do {
      return try JSON.decode(type, from: bytes)
    } catch DecodingError.dataCorrupted {
      // The parser's own message repeats text of the file.
      let place = JSON.syntaxFault(in: bytes).map { ": \($0.place)" } ?? ""
      throw invalid(path, "it is not a JSON object\(place)")
    } catch {
      throw invalid(path, JSON.reason(error))
    }
  }

  /// Reads the private key that a member names by its path, relative to the file's folder.
  static func key(_ name: String, of path: String) throws(PushError) -> [UInt8] {
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
    return try bytes(of: name.first == "/" ? name : folder + name)
  }

  static func invalid(_ path: String, _ problem: String) -> PushError {
    PushError(.invalidCredentials, "\(path): \(problem)")
  }

  private static func bytes(of path: String) throws(PushError) -> [UInt8] {
    do throws(SystemError) {
      let file = try Descriptor(reading: path)
      guard try file.size() <= maxBytes else { throw SystemError(call: "read", code: EFBIG, subject: path) }
      return try file.contents()
    } catch {
      throw invalid(path, "it cannot be read: \(error.reason)")
    }
  }
}
