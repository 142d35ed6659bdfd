import Testing

/// The tables of docs/apps.md: what the screens of the four apps ask for, each with one request.
struct AppStories {
  /// What a response has.
  enum Claim: Equatable {
    case status(Int)
    /// A value that is not null at a path of keys and indexes; later rows name it if it has a name.
    case value(path: String, name: String?)
  }

  struct Row: CustomTestStringConvertible {
    let app: String
    let story: String
    let method: String
    let target: String
    let json: String?
    /// A version, for the header field `If-Match`.
    let version: String?
    /// The parts of a form, each a name, or a name and its text.
    let parts: [String]
    let claims: [Claim]
    /// What a stranger gets: a status, `without`, or `-`.
    let stranger: String

    var testDescription: String { "\(app), \(story)" }
  }

  let rows: [Row]

  init() throws {
    var (rows, app): ([Row], String) = ([], "")
    for line in try Document("docs/apps.md").text.split(separator: "\n") {
      if line.hasPrefix("## ") { app = String(line.dropFirst(3)) }
      let cells = line.split(separator: " | ", omittingEmptySubsequences: false)
      guard line.hasPrefix("| "), cells.count == 4, cells[1].hasPrefix("`") else { continue }
      rows.append(try Row(app, cells))
    }
    self.rows = rows
  }
}

extension AppStories.Row {
  fileprivate init(_ app: String, _ cells: [Substring]) throws {
    let spans = Self.spans(cells[1])
    let request = try #require(spans.first).split(separator: " ", maxSplits: 1)
    self.app = app
    story = String(cells[0].dropFirst(2))
    method = String(request[0])
    target = String(try #require(request.last))
    let condition = "If-Match: "
    version = spans.first { $0.hasPrefix(condition) }.map { String($0.dropFirst(condition.count)) }
    let more = spans.dropFirst().filter { !$0.hasPrefix(condition) }
    let isForm = cells[1].contains("` with `")
    json = isForm ? nil : more.first
    parts = isForm ? more : []
    claims = cells[2].split(separator: ", ").map { text in
      if let status = Int(text) { return .status(status) }
      let spans = Self.spans(text)
      let name = text.contains("` as `") ? spans.last?.filter { !"{}".contains($0) } : nil
      return .value(path: spans.first ?? "", name: name)
    }
    stranger = cells[3].filter { $0 != "|" && $0 != " " }
  }

  /// The texts between backticks.
  private static func spans(_ text: Substring) -> [String] {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
  }
}

extension API.Response {
  /// The value at a path such as `items.0.assets.clip.front.url`, in which a key may have dots; nil if it is absent or null.
  func value(at path: String) -> API.Value? {
    self[].flatMap { Self.value(in: $0, path.split(separator: ".")[...]) }
  }

  private static func value(in value: API.Value, _ path: ArraySlice<Substring>) -> API.Value? {
    guard !path.isEmpty else { return value == .null ? nil : value }
    for length in 1...path.count {
      let key = path.prefix(length).joined(separator: ".")
      let step: API.Step = length == 1 ? Int(key).map(API.Step.index) ?? .key(key) : .key(key)
      if let next = value[step], let found = Self.value(in: next, path.dropFirst(length)) { return found }
    }
    return nil
  }
}
