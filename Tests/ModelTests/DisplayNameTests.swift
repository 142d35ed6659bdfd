import Testing

@testable import Model

@Suite("Names that people see")
struct DisplayNameTests {
  /// A name, and whether it is one.
  struct Kind: CustomTestStringConvertible, Sendable {
    let name: String
    let isName: Bool
    let testDescription: String

    init(_ name: String, _ isName: Bool, _ description: String) {
      self.name = name
      self.isName = isName
      testDescription = description
    }
  }

  private static let kinds: [Kind] = [
    // Letters of many scripts, and what stands between them.
    Kind("Ada", true, "Latin"),
    Kind("Zoë", true, "a composed letter"),
    Kind("Zoe\u{308}", true, "a letter with a mark"),
    Kind("Ольга", true, "Cyrillic"),
    Kind("Νίκη", true, "Greek"),
    Kind("李小龍", true, "Han"),
    Kind("さくら", true, "Hiragana"),
    Kind("김민수", true, "Hangul"),
    Kind("สมชาย", true, "Thai"),
    Kind("अनिल", true, "Devanagari"),
    Kind("க்ஷ", true, "Tamil"),
    Kind("نور", true, "Arabic"),
    Kind("דוד", true, "Hebrew"),
    Kind("ޢާމިރު", true, "Thaana"),
    Kind("ᏣᎳᎩ", true, "Cherokee"),
    Kind("አበበ", true, "Ethiopic"),
    Kind("Ada דוד", true, "two directions"),
    Kind("میرا\u{200C}ها", true, "a non-joiner inside"),
    Kind("क्\u{200D}ष", true, "a joiner inside"),
    Kind("7", true, "a digit"),
    Kind("!", true, "punctuation"),
    Kind("♥", true, "a symbol"),
    Kind("🦊", true, "an emoji"),
    Kind("👩🏽\u{200D}🚀", true, "an emoji of several"),
    Kind("❤\u{FE0F}", true, "an emoji by a selector"),
    Kind("🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}", true, "a flag by tags"),
    Kind("🇩🇪", true, "a flag by letters"),
    Kind("Ada\u{A0}Lovelace", true, "a no-break space"),
    Kind("O\u{2019}Neil", true, "an apostrophe"),
    Kind(" Ada ", true, "spaces around"),
    Kind("Ada\u{AD}line", true, "a soft hyphen inside"),
    Kind("\u{903}", true, "a spacing mark"),
    Kind("\u{E000}", true, "private use"),
    Kind("Ada\u{200E}", true, "a mark of direction without scope"),
    Kind("\u{200F}דוד", true, "a right-to-left mark"),
    Kind("\u{2067}דוד\u{2069}", true, "an isolate that ends"),
    Kind("\u{202B}דוד\u{202C}", true, "an embedding that ends"),
    Kind("\u{2067}\u{202B}דוד\u{2069}", true, "an embedding that its isolate ends"),
    Kind("", true, "nothing at all"),
    // Nothing to see.
    Kind("   ", false, "spaces"),
    Kind("\u{A0}", false, "a no-break space alone"),
    Kind("\u{3000}", false, "an ideographic space"),
    Kind("\u{2003}\u{2009}", false, "typographic spaces"),
    Kind("\u{1680}", false, "an Ogham space"),
    Kind("\u{200B}", false, "a zero-width space"),
    Kind("\u{200C}", false, "a non-joiner alone"),
    Kind("\u{200D}", false, "a joiner alone"),
    Kind("\u{2060}", false, "a word joiner"),
    Kind("\u{FEFF}", false, "a byte order mark"),
    Kind("\u{AD}", false, "a soft hyphen alone"),
    Kind("\u{3164}", false, "a Hangul filler"),
    Kind("\u{FFA0}", false, "a halfwidth filler"),
    Kind("\u{115F}", false, "a Choseong filler"),
    Kind("\u{1160}", false, "a Jungseong filler"),
    Kind("\u{2800}", false, "a blank pattern of Braille"),
    Kind("\u{180E}", false, "a Mongolian vowel separator"),
    Kind("\u{1D159}", false, "a null notehead"),
    Kind("\u{17B4}", false, "an inherent vowel of Khmer"),
    Kind("\u{34F}", false, "a grapheme joiner"),
    Kind("\u{E0061}", false, "a tag alone"),
    Kind("\u{FE0F}", false, "a selector alone"),
    Kind("\u{301}", false, "a mark without a letter"),
    Kind("\u{20DD}", false, "an enclosing mark alone"),
    Kind("\u{200E}", false, "a left-to-right mark alone"),
    Kind("\u{61C}", false, "an Arabic letter mark alone"),
    Kind("\u{2062}", false, "an invisible times"),
    Kind("\u{FFF9}", false, "an annotation anchor"),
    Kind("\u{2067}\u{2069}", false, "an empty isolate"),
    // More than one line, or commands.
    Kind("Ada\nroot", false, "a line feed"),
    Kind("Ada\rroot", false, "a carriage return"),
    Kind("Ada\troot", false, "a tab"),
    Kind("Ada\u{1B}[2J", false, "an escape"),
    Kind("Ada\u{7F}", false, "a delete"),
    Kind("Ada\u{85}", false, "a next line"),
    Kind("Ada\u{9B}1m", false, "a control sequence"),
    Kind("Ada\u{2028}", false, "a line separator"),
    Kind("Ada\u{2029}", false, "a paragraph separator"),
    Kind("Ada\u{8}", false, "a backspace"),
    // Directions that reach beyond it.
    Kind("\u{202E}nimda", false, "an override"),
    Kind("\u{202E}nimda\u{202C}", false, "an override that ends"),
    Kind("\u{202D}Ada\u{202C}", false, "a left-to-right override"),
    Kind("Ada\u{202B}", false, "an embedding without an end"),
    Kind("Ada\u{202A}", false, "a left-to-right embedding without an end"),
    Kind("Ada\u{2066}", false, "an isolate without an end"),
    Kind("Ada\u{2067}", false, "a right-to-left isolate without an end"),
    Kind("Ada\u{2068}", false, "a first-strong isolate without an end"),
    Kind("Ada\u{202C}", false, "the end of no embedding"),
    Kind("Ada\u{2069}", false, "the end of no isolate"),
    Kind("\u{2067}Ada\u{202C}\u{2069}", false, "the end of an embedding outside"),
    Kind("\u{202B}\u{2067}Ada\u{2069}", false, "one of two ends"),
  ]

  @Test("a name shows something, is one line, and leaves the text beside it alone", arguments: kinds)
  func name(kind: Kind) {
    let problem = DisplayName.problem(with: kind.name)
    #expect((problem == nil) == kind.isName, "\(problem ?? "a name")")
  }

  @Test(
    "a text inside another one opens nothing that it does not close, and closes nothing of the other one",
    arguments: [
      ("Ada", "Ada"), ("דוד", "\u{2068}דוד\u{2069}"), ("نور", "\u{2068}نور\u{2069}"),
      ("\u{202E}nimda", "\u{2068}\u{202E}nimda\u{202C}\u{2069}"), ("Ada\u{202C}", "Ada"), ("Ada\u{2069}", "Ada"),
      ("\u{2067}a\u{202B}b", "\u{2068}\u{2067}a\u{202B}b\u{202C}\u{2069}\u{2069}"),
      ("\u{2067}a\u{2069}\u{2069}", "\u{2068}\u{2067}a\u{2069}\u{2069}"),
    ])
  func isolated(text: String, part: String) {
    #expect(Array(DirectionMarks.isolated(text).unicodeScalars) == Array(part.unicodeScalars))
  }

  @Test("what only separates does not make a reserved user name another one")
  func reserved() {
    for name in ["admin", "Admin", "admin.", ".admin", "a.d-m_i.n", "ROOT_", "take-5", "...", "_"] {
      #expect(Profile.isReserved(userName: name), "\(name)")
    }
    for name in ["ada", "admina", "root2", "me2", "_ada_", "meow"] {
      #expect(!Profile.isReserved(userName: name), "\(name)")
    }
  }
}
