import Platform

/// The secret that admits to the API; it is never an argument, because those are seen by everybody on the machine.
enum APIKey {
  /// The key in `TAKE5_API_KEY`, or the first line of the file that `--api-key-file` names; nil: none.
  static func read(_ arguments: Arguments) throws(CommandFailure) -> String? {
    if let key = arguments.variable("TAKE5_API_KEY") { return key }
    guard let path = arguments.value("--api-key-file") else { return nil }
    do {
      let bytes = try Descriptor(reading: path).bytes(count: 4096, at: 0)
      let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }, as: UTF8.self)
      guard !line.isEmpty else { throw CommandFailure(.usage, "\(path) holds no key in its first line") }
      return line
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure(.inputMissing, "the API key cannot be read: \(error)")
    }
  }
}
