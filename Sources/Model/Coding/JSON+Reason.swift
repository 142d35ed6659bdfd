extension JSON {
  /// Why a value could not be read, for people: the path of what is wrong, as it stands in the JSON, and what is wrong there.
  package static func reason(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    switch error {
    case .keyNotFound(let key, let context): return "\(path(context.codingPath + [key])) is missing"
    case .valueNotFound(_, let context): return "\(path(context.codingPath)) is null"
    case .typeMismatch(_, let context), .dataCorrupted(let context):
      return context.codingPath.isEmpty
        ? context.debugDescription : "\(path(context.codingPath)): \(context.debugDescription)"
    @unknown default: return "\(error)"
    }
  }

  private static func path(_ keys: [any CodingKey]) -> String {
    keys.reduce(into: "") { path, key in
      if let index = key.intValue {
        path += "[\(index)]"
      } else {
        path += (path.isEmpty ? "" : ".") + snakeCase(key.stringValue)
      }
    }
  }

  // Decoding has made camels of the keys (`convertFromSnakeCase`).
  private static func snakeCase(_ key: String) -> String {
    String(key.flatMap { $0.isUppercase ? "_" + $0.lowercased() : String($0) })
  }
}
