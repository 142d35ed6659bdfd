/// What a client does to occupy what others need: docs/limits.md, "What one client can occupy".
struct Attack: Sendable {
  /// How requests are sent.
  enum Form: Sendable {
    /// So many connections from each address hold a request that does not end; those that are answered or closed are
    /// opened again.
    case holding(connections: Int)
    /// So many threads send requests and wait for the responses, one after the other.
    case asking(threads: Int)
  }

  /// A part of a response.
  enum Received: Sendable { case nothing, head, response }

  var name: String
  var meaning: String
  let form: Form
  /// The local addresses of the connections, in turns.
  var addresses = ["127.0.0.66"]
  /// Whether requests have the user token of the attacker.
  var hasToken = true
  /// The request line and further fields; `{job}` stands for a job of the attacker that does not end.
  let head: String
  /// What is sent of the body; eight `#` stand for another number in each request.
  var body = ""
  /// The length that the body is said to have; nil: that of what is sent.
  var length: Int?
  /// The body in pieces, in place of one with a length.
  var chunks: [String] = []
  /// The goal of `/livez`, in milliseconds.
  var livezLimit = 100.0
  /// Whether requests come through the proxy of docs/deploying.md.
  var isProxied = false
  /// Whether the service has posts and users, among which lists search.
  var needsPosts = false
  /// What is received of the response before the connection is held.
  var received = Received.nothing
  /// Whether no process reads the log of the service.
  var leavesLogUnread = false

  /// The attacks that have a figure of one of these names or prefixes.
  static func selected(_ only: [String]) throws -> [Attack] {
    func isWanted(_ attack: Attack, _ name: String) -> Bool {
      ["reads", "livez"].contains { "crowd.\(attack.name).\($0)".hasPrefix(name) }
    }
    for name in only where !all.contains(where: { isWanted($0, name) }) {
      throw BenchError(
        "unknown figure \(name); known attacks: \(all.map { "crowd.\($0.name)" }.joined(separator: ", "))")
    }
    return all.filter { attack in only.contains { isWanted(attack, $0) } }
  }

  /// Whether the attacker has a job.
  var needsJob: Bool { head.contains("{job}") }

  /// The request with the token of the attacker.
  func request(_ token: String, job: String?) -> String {
    var text = "\(head.replacing("{job}", with: job ?? ""))\r\nHost: localhost\r\n"
    if hasToken { text += "Authorization: Bearer \(token)\r\n" }
    if !body.isEmpty { text += "Content-Length: \(length ?? body.utf8.count)\r\n" }
    let pieces = chunks.map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" }.joined()
    return "\(text)\r\n\(body)\(pieces)" + (chunks.isEmpty ? "" : "0\r\n\r\n")
  }

  private static let json = "\r\nContent-Type: application/json"

  /// JSON of 14 levels and some 60 KB, each of whose values is small.
  private static let nested: String = {
    let values = [String](repeating: "[{}]", count: 12_000).joined(separator: ",")
    return String(repeating: #"{"a":"#, count: 12) + "[\(values)]" + String(repeating: "}", count: 12)
  }()

  static let all =
    [
      Attack(
        name: "requests", meaning: "200 requests of one user, whose bodies do not end",
        form: .holding(connections: 200),
        head: "POST /v1/posts/search HTTP/1.1" + json, body: "{", length: 1000),
      Attack(
        name: "submissions", meaning: "1,100 slow submissions of one user", form: .holding(connections: 1100),
        head: "POST /v1/posts HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x",
        body: "--x", length: 30_000_000),
      Attack(
        name: "parts", meaning: "200 slow parts of uploads of one user", form: .holding(connections: 200),
        head: "POST /v1/uploads HTTP/1.1\r\nUpload-Complete: ?1", body: "x", length: 30_000_000),
      Attack(
        name: "streams", meaning: "200 streams of events of one user", form: .holding(connections: 200),
        head: "GET /v1/events HTTP/1.1", received: .head),
      Attack(
        name: "idle", meaning: "3,000 connections of one user that were answered", form: .holding(connections: 3000),
        head: "GET /v1/posts?limit=1 HTTP/1.1", received: .response),
      Attack(
        name: "waits", meaning: "200 requests of one user that wait for a job", form: .holding(connections: 200),
        head: "GET /v1/jobs/{job}?wait=60 HTTP/1.1"),
      Attack(
        name: "singles", meaning: "reads of a profile by one user, on 40 connections", form: .asking(threads: 40),
        head: "GET /v1/users/mallory HTTP/1.1"),
      Attack(
        name: "exports", meaning: "exports of one user, on 8 connections", form: .asking(threads: 8),
        head: "GET /v1/users/mallory/export HTTP/1.1"),
      Attack(
        name: "bodies", meaning: "slow bodies without a credential, 1,000 from each of 17 addresses",
        form: .holding(connections: 1000), addresses: (1...17).map { "127.0.1.\($0)" }, hasToken: false,
        head: "POST /v1/sessions HTTP/1.1" + json, body: "{", length: 1000),
      Attack(
        name: "json", meaning: "60 KB of nested JSON without a credential, on 8 connections",
        form: .asking(threads: 8), hasToken: false, head: "POST /v1/sessions HTTP/1.1" + json, body: nested),
      Attack(
        name: "search", meaning: "60 KB of nested JSON of one user, on 8 connections", form: .asking(threads: 8),
        head: "POST /v1/posts/search HTTP/1.1" + json, body: nested),
      Attack(
        name: "lists", meaning: "searches of one user for a letter, on 20 connections", form: .asking(threads: 20),
        head: "GET /v1/users?query=l HTTP/1.1", needsPosts: true),
      Attack(
        name: "near", meaning: "lists of what is near, 100 km wide and by distance, on 8 connections",
        form: .asking(threads: 8), head: "GET /v1/posts?near=13.4,52.5&radius=100000&sort=distance HTTP/1.1",
        needsPosts: true),
      Attack(
        name: "uploads", meaning: "uploads of 32 MiB with one byte each, of one user on 8 connections",
        form: .asking(threads: 8), head: "POST /v1/uploads HTTP/1.1\r\nUpload-Complete: ?0\r\nUpload-Length: 33554432",
        body: "x"),
      Attack(
        name: "sign_ins", meaning: "wrong passwords from 200 addresses, on 16 connections", form: .asking(threads: 16),
        addresses: (1...200).map { "127.0.2.\($0)" }, hasToken: false, head: "POST /v1/sessions HTTP/1.1" + json,
        body: #"{"user_name":"victim","password":"battery staple"}"#),
      Attack(
        name: "registrations", meaning: "registrations from 200 addresses, on 16 connections",
        form: .asking(threads: 16),
        addresses: (1...200).map { "127.0.2.\($0)" }, hasToken: false, head: "POST /v1/accounts HTTP/1.1" + json,
        body: ##"{"user_name":"u########","password":"battery staple"}"##),
      Attack(
        name: "log", meaning: "refused requests on 4 connections, and a log that no process reads",
        form: .asking(threads: 4), head: "POST /v1/posts HTTP/1.1" + json, body: "{}", leavesLogUnread: true),
    ] + Doors.attacks
}
