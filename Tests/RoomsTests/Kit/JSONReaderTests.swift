import Glibc
import HTTPServer
import Testing

@testable import Kit
@testable import Rooms

@Suite("JSON of bodies")
struct JSONReaderTests {
  private static func read(_ bytes: [UInt8], maxValues: Int = 100) -> JSONValue? {
    try? JSONReader.value(of: bytes, maxDepth: 16, maxValues: maxValues)
  }

  @Test(
    "values of each kind are read",
    arguments: [
      ("null", .null), (" true\n", .boolean(true)), ("\tfalse\r", .boolean(false)), ("\u{FEFF}1", .number(1)),
      ("0", .number(0)), ("-0", .number(0)), ("0e1", .number(0)), ("1E+2", .number(100)), ("-2.5e-1", .number(-0.25)),
      ("0.1", .number(0.1)), ("9007199254740993", .number(9_007_199_254_740_992)), ("1e-999", .number(0)),
      (#""""#, .string("")), (#""\"\\\/\b\f\n\r\t""#, .string("\"\\/\u{8}\u{C}\n\r\t")),
      (#""a\u00e9\u00E9b""#, .string("aééb")), (#""\ud83d\ude00\u0000""#, .string("😀\0")),
      ("\"\u{7F}😀\"", .string("\u{7F}😀")),
      ("[]", .array([])), ("[ 1 , [ ] ]", .array([.number(1), .array([])])), ("{}", .object([:])),
      (#"{"a":1,"a":2}"#, .object(["a": .number(1)])),
      (#"{ "a" : { "b" : null } }"#, .object(["a": .object(["b": .null])])),
    ] as [(String, JSONValue)])
  func values(text: String, value: JSONValue) { #expect(Self.read(Array(text.utf8)) == value) }

  @Test(
    "what RFC 8259 does not have is refused",
    arguments: [
      "", " ", "1 2", "[]x", "[1 2]", "[1,]", #"{"a":1,}"#, #"{"a" 1}"#, "{a:1}", "{1:1}", "'a'", "nul", "True", "NaN",
      "Infinity", "01", "-01", "-", "+1", ".5", "1.", "1.e1", "1e", "1e+", "0x1", "1e999", "1_0", #""\x""#, #""\u12""#,
      #""\u12g4""#, #""\u+123""#, #""\ud800""#, #""\ud800\n""#, #""\ud800\ud800""#, #""\udc00""#, "\"\t\"", "\"\0\"",
      "\"", #""\"#,
      #""\u"#, "[", "{", #"{"a""#, #"{"a":"#, "]", "}", ",", ":", "// 1\n1", "1//",
    ])
  func refused(text: String) { #expect(Self.read(Array(text.utf8)) == nil) }

  @Test(
    "text that is not UTF-8 is refused",
    arguments: [
      [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
      [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22],
      [0x22, 0xC3, 0x22], [0xFF, 0xFE, 0x31, 0x00], [0x31, 0x00],
    ] as [[UInt8]])
  func encodings(bytes: [UInt8]) { #expect(Self.read(bytes) == nil) }

  @Test(
    "a name has a limit before it becomes a text, and no text has a long run of combining marks, however it is written")
  func limits() {
    let marks = String(repeating: "\u{345}\u{315}\u{301}\u{316}", count: 8)
    let escapes = String(repeating: #"\u0345\u0301"#, count: 16)
    func refusal(_ text: String) -> String? {
      do throws(JSONReader.Refusal) {
        _ = try JSONReader.value(of: Array(text.utf8), maxDepth: 16, maxValues: 100)
        return nil
      } catch {
        return error.detail
      }
    }
    let long = String(repeating: "n", count: JSONReader.maxNameBytes)
    #expect(refusal(#"{"\#(long)":1}"#) == nil)
    // What is no text at all is refused for its length: it is not looked at.
    for name in [long + "n", long + "\u{301}", String(repeating: marks, count: 1000), long + "\\u0301"] {
      #expect(refusal(#"{"\#(name)":1}"#)?.contains("longer than 100 bytes") == true)
    }
    #expect(refusal(#"{"a\#(marks.prefix(1))":1}"#)?.contains("combining marks") == true)
    for text in [marks, escapes, "a\(marks)", "a\(escapes)b"] {
      for json in [#""\#(text)""#, #"["\#(text)"]"#, #"{"a":{"b":["\#(text)"]}}"#] {
        #expect(refusal(json)?.contains("combining marks") == true, "\(json)")
      }
    }
    for place in 0..<70 {
      let before = String(repeating: "a", count: place)
      for (count, isRefused) in [(30, false), (31, true)] {
        let text = before + String(repeating: "\u{301}", count: count) + "b"
        #expect((refusal(#""\#(text)""#) != nil) == isRefused, "\(count) after \(place)")
      }
    }
    for (count, isRefused) in [(256, false), (257, true)] {
      // A name that is repeated costs as much as another one.
      for name: (Int) -> Int in [{ $0 }, { _ in 0 }] {
        let members = (0..<count).map { #""\#(name($0))":[]"# }.joined(separator: ",")
        let detail = (try? JSONReader.value(of: Array("{\(members)}".utf8), maxDepth: 16, maxValues: 1000)) == nil
        #expect(detail == isRefused)
      }
    }
  }

  @Test("a number is the double that the C library reads")
  func numbers() {
    for digits in ["1", "7", "12.5", "0.1", "123456789012345", "9999999999.99999", "1234567890123456", "0.000001"] {
      for exponent in -30...30 {
        let text = "-\(digits)e\(exponent)"
        #expect(Self.read(Array(text.utf8)) == .number(strtod(text, nil)), "\(text)")
      }
    }
  }

  @Test("every prefix of a text is refused")
  func prefixes() {
    let text = Array(#"{"a":[1.5e3,"\ud83d\ude00",{"b":[true,null]}],"c":{}}"#.utf8)
    #expect(Self.read(text) != nil)
    for count in 0..<text.count { #expect(Self.read(Array(text.prefix(count))) == nil) }
  }

  @Test("values have sixteen levels around them at most")
  func depth() {
    func nested(_ levels: Int, _ value: String) -> [UInt8] {
      Array((String(repeating: "[", count: levels) + value + String(repeating: "]", count: levels)).utf8)
    }
    #expect(Self.read(nested(16, "1")) != nil)
    #expect(Self.read(nested(17, "")) != nil)
    #expect(Self.read(nested(17, "1")) == nil)
  }

  @Test("a body has 10,000 values at most, however they are nested")
  func manyValues() throws {
    func fields(_ values: Int) throws(Problem) -> [String: JSONValue] {
      // With the object and the array.
      let text = #"{"a":["# + Array(repeating: "{}", count: values - 2).joined(separator: ",") + "]}"
      return try JSONBody.fields(of: Array(text.utf8), part: "body")
    }
    #expect(try fields(10_000)["a"]?.elements.count == 9998)
    let refusal = #expect(throws: Problem.self) { try fields(10_001) }
    #expect(refusal?.type == ProblemKind.malformedJSON.type)
    // Members of the same name count as well.
    #expect(Self.read(Array(#"{"a":1,"a":1,"a":1}"#.utf8), maxValues: 3) == nil)
  }
}
