import Model
import Testing

@Suite("Faults of JSON that a person has written")
struct JSONSyntaxTests {
  @Test(
    "the line and the column of the first fault are named, with what is expected there",
    arguments: [
      ("", "line 1, column 1: expected a value, not the end of the file"),
      ("{", "line 1, column 2: expected a key in double quotes or '}', not the end of the file"),
      ("{\n  \"a\": 1\n  \"b\": 2\n}", "line 3, column 3: expected ',' or '}', not '\"'"),
      ("{\n  \"a\": 1,\n}", "line 3, column 1: expected a key in double quotes after the comma, not '}'"),
      ("{\"a\" 1}", "line 1, column 6: expected ':' after the key, not '1'"),
      ("{'a': 1}", "line 1, column 2: expected a key in double quotes or '}', not '''"),
      ("[1, 2", "line 1, column 6: expected ',' or ']', not the end of the file"),
      ("[1, ]", "line 1, column 5: expected a value, not ']'"),
      ("{\"a\": tru}", "line 1, column 10: expected true, not '}'"),
      ("{\"a\": 01}", "line 1, column 8: a number begins with 0"),
      ("{\"a\": 1.}", "line 1, column 9: expected a digit, not '}'"),
      ("{\"a\": \"b\n\"}", "line 1, column 9: a text has no closing quote in its line"),
      ("{\"a\": \"\\x\"}", "line 1, column 9: expected one of \" \\ / b f n r t u after '\\', not 'x'"),
      ("{\"ä\": }", "line 1, column 7: expected a value, not '}'"),
      ("{} {}", "line 1, column 4: expected the end of the file, not '{'"),
      ("{ // why\n}", "line 1, column 3: expected a key in double quotes or '}', not '/': JSON has no comments"),
    ])
  func faults(text: String, expected: String) {
    #expect(JSON.syntaxFault(in: Array(text.utf8))?.description == expected)
  }

  @Test("depth is bounded")
  func depth() {
    let deep = String(repeating: "[", count: 100_000)
    #expect(JSON.syntaxFault(in: Array(deep.utf8))?.reason.contains("deeper than 512 levels") == true)
  }

  @Test(
    "what is JSON has no fault",
    arguments: [
      "{}", "[]", " [1, -2.5e+3, 0, \"\\u00e9\\n\", true, false, null] ", "{\"a\": {\"b\": [{}]}}", "\u{FEFF}{}", "0",
    ])
  func valid(text: String) {
    #expect(JSON.syntaxFault(in: Array(text.utf8)) == nil)
  }

  @Test("a value of another type is named in words, with its path")
  func types() {
    struct Inner: Decodable {
      let count: Int
      let isOn: Bool
      let names: [String]
    }
    struct Outer: Decodable { let inner: Inner }
    for (inner, reason) in [
      ("[]", "inner: expected an object, not a list"),
      (#"{"count": "1", "is_on": true, "names": []}"#, "inner.count: expected an integer"),
      (#"{"count": 1.5, "is_on": true, "names": []}"#, "inner.count: expected an integer"),
      (#"{"count": 1, "is_on": 1, "names": []}"#, "inner.is_on: expected true or false"),
      (#"{"count": 1, "is_on": true, "names": {}}"#, "inner.names: expected a list, not an object"),
      (#"{"count": 1, "is_on": true, "names": [1]}"#, "inner.names[0]: expected a text"),
      (#"{"count": 1, "is_on": true, "names": null}"#, "inner.names is null"),
      (#"{"count": 1, "is_on": true}"#, "inner.names is missing"),
    ] {
      do {
        _ = try JSON.decode(Outer.self, written: Array("{\"inner\": \(inner)}".utf8))
        Issue.record("decoded: \(inner)")
      } catch {
        #expect(JSON.reason(error).hasPrefix(reason), "\(JSON.reason(error))")
      }
    }
  }
}
