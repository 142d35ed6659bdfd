extension JSON {
  /// Decodes what a person has written, such as a file; throws a `DecodingError` with the path of the error, or a `JSONSyntaxFault`.
  ///
  /// Foundation gives no path for a number that is no integer where one is expected. The numbers of the text are replaced until the error is
  /// gone, which takes too long for what strangers send.
  package static func decode<Value: Decodable>(_ type: Value.Type, written bytes: [UInt8]) throws -> Value {
    do { return try decode(type, from: bytes) } catch let error as DecodingError {
      // Foundation reads some texts that are no JSON.
      if let fault = syntaxFault(in: bytes) { throw fault }
      guard error.lacksPath else { throw error }
      var changed = bytes
      // The ranges of those before the last one stay.
      for number in JSONSyntax.fractions(in: bytes).reversed() {
        changed.replaceSubrange(number.range, with: integer(near: bytes[number.range]).utf8)
        do { _ = try decode(type, from: changed) } catch let error as DecodingError where error.lacksPath {
          continue
        } catch {}
        throw DecodingError.dataCorrupted(
          .init(codingPath: number.path, debugDescription: "expected an integer of at most 18 digits"))
      }
      throw error
    }
  }

  /// The next integer, which is in the same order to the other numbers; 1 of a number that is too large.
  private static func integer(near number: ArraySlice<UInt8>) -> String {
    guard let number = Double(String(decoding: number, as: UTF8.self)), abs(number) < 1e18 else { return "1" }
    return "\(Int(number.rounded(.up)))"
  }
}

extension DecodingError {
  fileprivate var lacksPath: Bool {
    guard case .dataCorrupted(let context) = self else { return false }
    return context.codingPath.isEmpty
  }
}

/// A step of a path in JSON.
struct PathKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
  init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}
