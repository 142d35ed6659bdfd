import Foundation

extension Connection {
  /// The prefix of the paths of the service; nil if the URL does not name a service.
  static func base(of url: URL) -> String? {
    guard let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme), let host = url.host, !host.isEmpty,
      url.query == nil, url.fragment == nil
    else { return nil }
    var text = url.absoluteString
    func trim() { while text.utf8.last == UInt8(ascii: "/") { text.removeLast() } }
    trim()
    // Paths begin with it.
    if url.pathComponents.last == "v1" { text.removeLast(2) }
    trim()
    return text
  }

  /// Refuses a request to what is not a service: without a scheme and a host it would fail without a reason.
  func checkAddress() throws(Take5Error) {
    guard base == nil else { return }
    let detail = "\"\(url)\" is not the URL of a service."
    let remedy = "Make the client with http or https and a host, such as https://api.example.org, without a query."
    throw .problem(.client("The URL is invalid", detail, remedy: remedy))
  }
}
