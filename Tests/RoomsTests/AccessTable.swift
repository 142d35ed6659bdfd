import FoundationEssentials
import Model

@testable import Kit
@testable import Rooms

/// The table of docs/access.md.
struct AccessTable {
  /// The clients that have a column.
  enum Client: CaseIterable {
    case key, keyAsAda, tokenOfAda, jwtOfAda, keyAsBob, tokenOfBob, jwtOfBob, grant
    /// Bob, with a relation to Ada.
    case friend, formerFriend, blockedByAda, hasBlockedAda
    case stranger

    /// The columns of both tables. Clients of one column get the same, unless its cell has a value for each.
    static let tables: [[[Client]]] = [
      [[.key], [.keyAsAda, .tokenOfAda, .jwtOfAda], [.keyAsBob, .tokenOfBob, .jwtOfBob], [.grant], [.stranger]],
      [[.friend], [.formerFriend], [.blockedByAda], [.hasBlockedAda]],
    ]

    /// The user that the client acts as.
    var user: String? {
      switch self {
      case .key, .stranger: nil
      case .keyAsAda, .tokenOfAda, .jwtOfAda, .grant: "ada"
      case .keyAsBob, .tokenOfBob, .jwtOfBob, .friend, .formerFriend, .blockedByAda, .hasBlockedAda: "bob"
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
    var responses: [Client: [String]]
  }

  let rows: [Row]

  init() throws {
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let text = try String(contentsOfFile: "\(root)/docs/access.md", encoding: .utf8)
    // The second table has other columns of those rows in which they are not as Bob's.
    var rows: [Row] = []
    var table = -1
    for line in text.split(separator: "\n") {
      if line.hasPrefix("| request |") { table += 1 }
      guard line.hasPrefix("| `") else { continue }
      let cells = line.split(separator: "|").map { cell in cell.split(separator: " ").joined(separator: " ") }
      let access: Access =
        switch cells[1] {
        case "open": .open
        case "token": .token
        default:
          .scopes(
            Set(cells[1].split(separator: ", ").compactMap { Scope(rawValue: $0.filter { $0 != "`" }) }))
        }
      var responses: [Client: [String]] = [:]
      for (clients, cell) in zip(Client.tables[table], cells.dropFirst(2)) {
        let own = cell.split(separator: " / ").map { $0.drop { !$0.isNumber } }
        for (index, client) in clients.enumerated() {
          let values = (own.count == 1 ? cell[...] : own[index]).split(separator: ", ").map(String.init)
          responses[client] = values.count == 1 ? [String](repeating: values[0], count: 3) : values
        }
      }
      for name in cells[0].split(separator: "<br>") {
        let parts = name.split(separator: "`").map(String.init)
        let operation = parts[0].split(separator: " ").map(String.init)
        let row = Row(
          method: operation[0], template: operation[1],
          note: parts.count > 1 ? parts[1].split(separator: " ").joined(separator: " ") : "", access: access,
          responses: responses)
        let known = rows.firstIndex {
          ($0.method, $0.template, $0.note) == (row.method, row.template, row.note) && $0.access == row.access
        }
        if let known {
          rows[known].responses.merge(responses) { first, _ in first }
        } else {
          rows.append(row)
        }
      }
    }
    for index in rows.indices where rows[index].responses[.friend] == nil {
      for client in Client.tables[1].joined() { rows[index].responses[client] = rows[index].responses[.tokenOfBob] }
    }
    self.rows = rows
  }
}
