import FoundationEssentials
import Model
import Testing

/// Foundation's encoder judges the text of ours.
@Suite("the encoder of JSON")
struct JSONWriterTests {
  private func expectFoundations(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(JSON.text(of: date))
    }
    #expect(try JSON.text(value) == String(decoding: try encoder.encode(value), as: UTF8.self))
  }

  private struct Item: Encodable {
    enum Kind: String, Encodable { case front, back }
    struct ID: Encodable {
      let text: String
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
      }
    }

    var id = ID(text: "a")
    var kind = Kind.back
    var createdAt = Date(timeIntervalSince1970: 1_700_000_000.123)
    var mediaURLs = ["https://example.org/a?b=1&c=2"]
    var byteCount = Int64.min
    var isReady = true
    var width: UInt16 = 65_535
    var ratio = 0.5625
    var scale: Float = 1.1
    var title: String?
    var nested: [String: [String: Int]] = ["someKey": ["otherKey": 1], "a": [:]]
    var list: [[Int]] = [[], [1, 2]]
  }

  @Test("values of each type have the text of Foundation's encoder")
  func types() throws {
    try expectFoundations(Item())
    try expectFoundations([Item(title: "a"), Item(title: "")])
    try expectFoundations([String: Item]())
    try expectFoundations([Item.Kind.front: 1, .back: 2].count)
    try expectFoundations("text")
    try expectFoundations([Int?]([1, nil]))
    try expectFoundations([Int8(-128)])
    try expectFoundations([UInt64.max])
    try expectFoundations([Date(timeIntervalSince1970: 0)])
  }

  @Test(
    "numbers have the text of Foundation's encoder",
    arguments: [
      0, -0.0, 1, -1, 0.1, 1e15, 1e16, 1e17, 123_456_789.125, 0.0.nextUp, .greatestFiniteMagnitude, .pi,
    ])
  func numbers(number: Double) throws { try expectFoundations([number]) }

  @Test("a number that JSON cannot express is an error", arguments: [Double.nan, .infinity, -.infinity])
  func inexpressible(number: Double) { #expect(throws: EncodingError.self) { try JSON.encode([number]) } }

  @Test("strings have the text of Foundation's encoder")
  func strings() throws {
    // NUL is replaced: see the tests of JSON.
    let controls = (1..<0x20).map { String(UnicodeScalar(UInt8($0))) }
    let others = ["", "\"", "\\", "/", "\u{7f}", "é", "o\u{308}", "\u{2028}", "\u{fffd}", "👩‍👩‍👧", "日本", "a\nb\"c\\d"]
    try expectFoundations(controls + others)
    try expectFoundations(Dictionary(uniqueKeysWithValues: (controls + others).map { ($0, $0) }))
  }

  @Test("a property that is nil is null in a type that has all of its keys, and absent in others")
  func nils() throws {
    struct Absent: Encodable {
      var text: String?
      var count: Int?
    }
    struct Null: NilEncodable {
      var text: String?
      var count: Int?
      var isReady: Bool?
      var ratio: Double?
      var scale: Float?
      var bytes: Int64?
      var time: Date?
      var list: [Int]?
      var absent = Absent()
    }
    #expect(
      try JSON.text(Null(absent: Absent(text: "a")))
        == #"{"absent":{"text":"a"},"bytes":null,"count":null,"is_ready":null,"list":null,"ratio":null,"#
        + #""scale":null,"text":null,"time":null}"#)
    #expect(try JSON.text([Absent()]) == "[{}]")
    #expect(try JSON.text(["key": Null(count: 1)]).hasPrefix(#"{"key":{"absent":{},"bytes":null,"count":1,"#))
  }

  @Test("keys have the text and the order of Foundation's encoder")
  func keys() throws {
    struct Key: CodingKey, Hashable {
      let stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }
    struct Keys: Encodable {
      let names: [String]
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for name in names { try container.encode(name, forKey: Key(stringValue: name)) }
      }
    }
    try expectFoundations(
      Keys(names: [
        "id", "createdAt", "mediaURLs", "mediaURL", "urlOfMedia", "aB", "isHTTPS", "width2", "b", "B2", "already_snake",
        "é", "place",
        "placeName", "place_id",
      ]))
    // Of several values of a key, the last one counts.
    try expectFoundations(Keys(names: ["same", "same"]))
  }

  @Test("nested containers have the text of Foundation's encoder")
  func nested() throws {
    struct Nested: Encodable {
      enum Keys: String, CodingKey { case someObject, someList, deepList, last }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        var object = container.nestedContainer(keyedBy: Keys.self, forKey: .someObject)
        var list = container.nestedUnkeyedContainer(forKey: .someList)
        // Written in turns: a container may be written to after a later one was made.
        try object.encode(1, forKey: .last)
        try list.encode("a")
        try object.encodeNil(forKey: .someList)
        try list.encodeNil()
        var inner = list.nestedContainer(keyedBy: Keys.self)
        var deep = list.nestedUnkeyedContainer()
        try inner.encode(true, forKey: .someObject)
        try deep.encode(2.5)
        try container.encode([["a": 1]], forKey: .deepList)
        try container.encodeIfPresent(String?.none, forKey: .last)
        #expect(list.count == 4)
      }
    }
    try expectFoundations(Nested())
  }
}
