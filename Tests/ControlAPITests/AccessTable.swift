import FoundationEssentials
import Model

@testable import ControlAPI

/// The table of docs/access.md.
struct AccessTable {
  /// The clients that have a column.
  enum Client: CaseIterable {
    case key, keyAsAda, tokenOfAda, keyAsBob, tokenOfBob, grant

    /// The user that the client acts as.
    var user: String? {
      switch self {
      case .key: nil
      case .keyAsAda, .tokenOfAda, .grant: "ada"
      case .keyAsBob, .tokenOfBob: "bob"
      }
    }
  }

  /// What a row needs.
  enum Access: Equatable {
    case scopes(Set<Scope>)
    case token
    case open
  }

  struct Row {
    let method: String
    let template: String
    /// The words after the operation, such as `by Bob`.
    let note: String
    let access: Access
    /// For each client, the response for a public post, a post for friends and a private post.
    let responses: [Client: [String]]
  }

  let rows: [Row]

  init() throws {
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let text = try String(contentsOfFile: "\(root)/docs/access.md", encoding: .utf8)
    rows = text.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
      let cells = line.split(separator: "|").map { cell in cell.split(separator: " ").joined(separator: " ") }
      let parts = cells[0].split(separator: "`").map(String.init)
      let operation = parts[0].split(separator: " ").map(String.init)
      let access: Access =
        switch cells[1] {
        case "open": .open
        case "token": .token
        default:
          .scopes(
            Set(cells[1].split(separator: ", ").compactMap { Scope(rawValue: $0.filter { $0 != "`" }) }))
        }
      var responses: [Client: [String]] = [:]
      for (client, cell) in zip(Client.allCases, cells.dropFirst(2)) {
        let values = cell.split(separator: ", ").map(String.init)
        responses[client] = values.count == 1 ? [String](repeating: values[0], count: 3) : values
      }
      return Row(
        method: operation[0], template: operation[1],
        note: parts.count > 1 ? parts[1].split(separator: " ").joined(separator: " ") : "", access: access,
        responses: responses)
    }
  }
}
