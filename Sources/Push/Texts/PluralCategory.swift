/// How a language inflects what it counts: the cardinal rules of CLDR ("Language Plural Rules", UTS 35 part 3, section 5) for whole numbers.
package enum PluralCategory: String, Sendable, CaseIterable {
  case zero, one, two, few, many, other

  /// The category of a number in the language of a tag such as `pt-PT`.
  package init(of number: Int, locale: String) {
    let tag = locale.lowercased()
    let language = tag.prefix { $0 != "-" }
    let name = tag.hasPrefix("pt-pt") ? "pt-pt" : String(language)
    self = Self.rules[name]?(max(0, number)) ?? .other
  }

  private typealias Rule = @Sendable (Int) -> PluralCategory

  /// Languages that are absent have one form.
  private static let rules: [String: Rule] = table.reduce(into: [:]) { rules, row in
    for language in row.languages.split(separator: " ") { rules[String(language)] = row.rule }
  }

  private static let table: [(languages: String, rule: Rule)] = [
    (
      """
      af an asa ast az bal bem bez bg brx ce cgg chr ckb da de dv ee el en eo et eu fi fo fur fy gsw ha haw hu ia ie io jgo ji jmc ka kaj \
      kcg kk kkj kl ks ksb ku ky lb lg lij mas mgo ml mn mr nah nb nd ne nl nn nnh no nr ny nyn om or os pap ps rm rof rwk saq sc sd sdh \
      seh sn so sq ss ssy st sv sw syr ta te teo tig tk tn tr ts ug ur uz ve vo vun wae xh xog yi
      """, { $0 == 1 ? .one : .other }
    ),
    ("ca es gl it lld pt-pt scn vec", { $0 == 1 ? .one : isMillions($0) ? .many : .other }),
    ("fr pt", { $0 <= 1 ? .one : isMillions($0) ? .many : .other }),
    (
      "ak am as bho bn csw doi fa ff gu guw hi hy kab kn kok ln mg nso pa pcm si tg ti vi wa zu",
      { $0 <= 1 ? .one : .other }
    ),
    ("tzm", { $0 <= 1 || 11...99 ~= $0 ? .one : .other }),
    ("is mk", { endsWithOne($0) ? .one : .other }),
    ("ceb fil tl", { 1...3 ~= $0 || ![4, 6, 9].contains($0 % 10) ? .one : .other }),
    ("lv prg", { $0 % 10 == 0 || 11...19 ~= $0 % 100 ? .zero : $0 % 10 == 1 ? .one : .other }),
    ("blo cv ksh lag", { $0 == 0 ? .zero : $0 == 1 ? .one : .other }),
    ("he iu iw naq sat se sma smi smj smn sms", { $0 == 1 ? .one : $0 == 2 ? .two : .other }),
    ("shi", { $0 <= 1 ? .one : $0 <= 10 ? .few : .other }),
    ("mo ro", { $0 == 1 ? .one : $0 == 0 || 1...19 ~= $0 % 100 ? .few : .other }),
    ("bs hr sh sr", { endsWithOne($0) ? .one : endsWithFew($0) ? .few : .other }),
    ("be ru uk", { endsWithOne($0) ? .one : endsWithFew($0) ? .few : .many }),
    ("pl", { $0 == 1 ? .one : endsWithFew($0) ? .few : .many }),
    ("cs sk", { $0 == 1 ? .one : 2...4 ~= $0 ? .few : .other }),
    (
      "lt",
      { 11...19 ~= $0 % 100 || $0 % 10 == 0 ? .other : $0 % 10 == 1 ? .one : .few }
    ),
    ("sgs", { $0 == 2 ? .two : endsWithOne($0) ? .one : 2...9 ~= $0 % 10 && !(11...19 ~= $0 % 100) ? .few : .other }),
    ("dsb hsb sl", { [1: .one, 2: .two, 3: .few, 4: .few][$0 % 100] ?? .other }),
    ("gd", { [1: .one, 11: .one, 2: .two, 12: .two][$0] ?? (3...19 ~= $0 ? .few : .other) }),
    ("ga", { $0 == 1 ? .one : $0 == 2 ? .two : 3...6 ~= $0 ? .few : 7...10 ~= $0 ? .many : .other }),
    ("gv", { $0 % 10 == 1 ? .one : $0 % 10 == 2 ? .two : $0 % 20 == 0 ? .few : .other }),
    ("cy", { [0: .zero, 1: .one, 2: .two, 3: .few, 6: .many][$0] ?? .other }),
    (
      "ar ars",
      { [0: .zero, 1: .one, 2: .two][$0] ?? (3...10 ~= $0 % 100 ? .few : 11...99 ~= $0 % 100 ? .many : .other) }
    ),
    (
      "mt",
      { [1: .one, 2: .two, 0: .few][$0] ?? (3...10 ~= $0 % 100 ? .few : 11...19 ~= $0 % 100 ? .many : .other) }
    ),
    ("br", { breton($0) }),
    ("kw", { cornish($0) }),
  ]

  private static func isMillions(_ number: Int) -> Bool { number != 0 && number % 1_000_000 == 0 }

  private static func endsWithOne(_ number: Int) -> Bool { number % 10 == 1 && number % 100 != 11 }

  private static func endsWithFew(_ number: Int) -> Bool { 2...4 ~= number % 10 && !(12...14 ~= number % 100) }

  private static func breton(_ number: Int) -> PluralCategory {
    let tens = number % 100 / 10
    switch number % 10 {
    case 1 where ![1, 7, 9].contains(tens): return .one
    case 2 where ![1, 7, 9].contains(tens): return .two
    case 3, 4, 9: return [1, 7, 9].contains(tens) ? .other : .few
    default: return isMillions(number) ? .many : .other
    }
  }

  private static func cornish(_ number: Int) -> PluralCategory {
    let thousands = number % 100_000
    let isTwo =
      number % 100 % 20 == 2
      || number % 1000 == 0 && number != 0
        && (1000...20_000 ~= thousands || [40_000, 60_000, 80_000].contains(thousands))
      || number != 0 && number % 1_000_000 == 100_000
    if number == 0 { return .zero }
    if number == 1 { return .one }
    if isTwo { return .two }
    return number % 100 % 20 == 3 ? .few : number % 100 % 20 == 1 ? .many : .other
  }
}
