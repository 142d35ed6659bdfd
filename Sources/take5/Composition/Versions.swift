import MediaProcess

/// Which take5 this is, and what it runs with.
struct Versions: Encodable {
  let take5: String
  let libraries: [String: String]

  static let current = Versions(take5: "0.1.0", libraries: LibraryVersions.current)

  /// A line each.
  var text: String {
    (["take5 \(take5)"] + libraries.sorted { $0.key < $1.key }.map { "  \($0.key) \($0.value)" })
      .joined(separator: "\n")
  }
}
