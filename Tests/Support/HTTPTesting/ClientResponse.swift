/// An answer as a client sees it.
package struct ClientResponse: Sendable {
  package let status: Int
  /// By name in small letters; of a repeated field the last.
  package let headers: [String: String]
  package internal(set) var body: [UInt8] = []

  /// The body as text.
  package var text: String { String(decoding: body, as: UTF8.self) }

  init(head: String) throws {
    var lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
    guard let words = lines.first?.split(separator: " "), words.count >= 2, let status = Int(words[1]) else {
      throw ClientConnection.Failure.malformed(head)
    }
    lines.removeFirst()
    var headers: [String: String] = [:]
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { throw ClientConnection.Failure.malformed(head) }
      headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
    }
    self.status = status
    self.headers = headers
  }
}
