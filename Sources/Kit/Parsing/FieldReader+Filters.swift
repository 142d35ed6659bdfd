package import Model

/// The fields of a body as filters: where a query repeats a parameter, a field has one value or a list.
extension FieldReader: FilterReader {
  package mutating func name(_ name: String) -> String? { text(name, limit: MaxLength.name, allowsEmpty: false) }

  package mutating func names(_ name: String) -> [String] {
    let texts = values(name, "1 to \(MaxLength.name) characters, or a list of up to 100 such texts") { text in
      !text.isEmpty && text.has(atMost: MaxLength.name) && !text.unicodeScalars.contains("\0") ? text : nil
    }
    return QueryReader.distinct(texts)
  }

  package mutating func ids(_ name: String) -> [PublicID] { values(name, "up to 100 UUIDs") { PublicID($0) } }

  package mutating func choices<Value: RawRepresentable<String> & CaseIterable & Hashable>(
    _ name: String, of type: Value.Type
  ) -> Set<Value> {
    Set(values(name, "a list of " + Value.allCases.map(\.rawValue).joined(separator: ", ")) { Value(named: $0) })
  }

  package mutating func flag(_ name: String) -> Bool {
    value(name, "expected true or false") { if case .boolean(let flag) = $0 { flag } else { nil } } ?? false
  }

  package mutating func microseconds(_ name: String) -> Int64? { time(name)?.microseconds }

  package mutating func whole(_ name: String, in range: ClosedRange<Int>) -> Int? { integer(name, in: range) }

  package mutating func decimals(_ name: String, count: Int, _ expected: String) -> [Double]? {
    value(name, "expected \(expected)") { value in
      let values = if count > 1, case .array(let values) = value { values } else { [value] }
      let numbers = values.compactMap { value in if case .number(let number) = value { number } else { nil } }
      return numbers.count == count && values.count == count ? numbers : nil
    }
  }

  private mutating func values<Value>(_ name: String, _ expected: String, _ read: (String) -> Value?) -> [Value] {
    value(name, "expected \(expected)") { value -> [Value]? in
      let values = if case .array(let values) = value { values } else { [value] }
      let found = values.compactMap { value -> Value? in if case .string(let text) = value { read(text) } else { nil } }
      return found.count == values.count && found.count <= 100 ? found : nil
    } ?? []
  }
}
