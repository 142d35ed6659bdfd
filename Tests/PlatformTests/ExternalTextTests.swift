import Platform
import Testing

@Suite("Text from outside")
struct ExternalTextTests {
  @Test("text of languages is taken, with its marks")
  func languages() {
    for text in [
      "", "plain", "Grüße", "e\u{301}\u{323}", "नमस्ते दुनिया", "กำลังเดินทาง", "שָׁלוֹם", "👩‍👩‍👧‍👦🏳️‍🌈", "한국어", "\u{1112}\u{1161}\u{11AB}",
    ] {
      #expect(ExternalText.decode(Array(text.utf8)) == text)
    }
  }

  @Test("a run of more marks than the limit is refused, wherever it stands and whatever its marks decompose into")
  func runs() {
    // The last ones are of the combining class 0 and decompose into marks of others.
    for mark in ["\u{301}", "\u{345}", "\u{327}", "\u{20DD}", "\u{F73}", "\u{F81}", "\u{344}", "\u{1D165}"] {
      let run = String(repeating: mark, count: ExternalText.maxMarks)
      #expect(ExternalText.decode(Array("a\(run)b\(run)".utf8)) != nil, "\(mark.unicodeScalars)")
      for text in ["a\(run)\(mark)", "\(run)\(mark)a", "aa\(run)\(mark)bb"] {
        #expect(ExternalText.decode(Array(text.utf8)) == nil, "\(mark.unicodeScalars)")
      }
    }
  }

  @Test("every character that normalisation may move counts as a mark")
  func classes() {
    let moved = (0...0x10FFFF).lazy.compactMap { Unicode.Scalar(UInt32($0)) }.filter {
      $0.properties.canonicalCombiningClass != .notReordered
    }
    for scalar in moved {
      let run = String(String.UnicodeScalarView(repeatElement(scalar, count: ExternalText.maxMarks + 1)))
      #expect(ExternalText.decode(Array(run.utf8)) == nil, "\(scalar.value)")
    }
  }

  @Test("escapes of JSON count as what they stand for")
  func escapes() {
    func isTaken(_ text: String) -> Bool { ExternalText.isIn(json: Array(text.utf8)) }
    for mark in [#"\u0301"#, #"\u0F73"#, #"\ud834\udd65"#, "\u{301}"] {
      #expect(isTaken(#"{"a":"\#(String(repeating: mark, count: 30))b"}"#), "\(mark)")
      #expect(!isTaken(#"{"\#(String(repeating: mark, count: 31))":1}"#), "\(mark)")
    }
    for other in [#"\ud83d\ude00"#, #"\u0041"#, #"\n"#, #"\\u0301"#, "é"] {
      #expect(isTaken("[\"\(String(repeating: other, count: 100))\"]"), "\(other)")
    }
  }

  @Test("JSON in UTF-16 or UTF-32 is refused, whose bytes may be ASCII without a mark")
  func wide() {
    for width in [2, 4] {
      let units = ["{", "\"", "\u{316}", "\u{301}"].flatMap { (scalar: Unicode.Scalar) -> [UInt8] in
        (0..<width).map { UInt8(truncatingIfNeeded: scalar.value >> (8 * $0)) }
      }
      #expect(!ExternalText.isIn(json: units))
    }
  }

  @Test("what is not UTF-8 is refused")
  func invalid() {
    for bytes: [UInt8] in [[0x80], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0x61, 0xE2, 0x82]] {
      #expect(ExternalText.decode(bytes) == nil)
    }
  }
}
