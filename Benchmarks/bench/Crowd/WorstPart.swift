/// A part of a request, with contents whose bytes cost much: marks, escapes, depths, and many of what is short.
struct WorstPart: Sendable {
  /// What carries the content.
  enum Place { case head, query, json, form }

  let name: String
  let meaning: String
  let place: Place
  let routes: [String]
  let flat: String
  let forms: [(name: String, content: String)]

  /// A request with a content.
  func request(_ route: String, _ content: String, token: String) -> String {
    let common = "Host: localhost\r\nAuthorization: Bearer \(token)\r\n"
    func withBody(_ type: String) -> String {
      "\(route) HTTP/1.1\r\n\(common)Content-Type: \(type)\r\nContent-Length: \(content.utf8.count)\r\n\r\n\(content)"
    }
    return switch place {
    case .head: "\(route) HTTP/1.1\r\n\(common)\(content)\r\n\r\n"
    case .query: "\(route)?\(content) HTTP/1.1\r\n\(common)\r\n"
    case .json: withBody("application/json")
    case .form: withBody("multipart/form-data; boundary=x")
    }
  }

  /// The parts with the routes that read them.
  static func all(of routes: DescribedRoutes) -> [WorstPart] {
    [
      heads(of: routes.reads + ["OPTIONS /v1/posts"]), queries(of: routes.reads), objects(of: routes.objects),
      parts(of: routes.forms),
    ]
  }

  private static func filled(_ unit: String, _ bytes: Int) -> String {
    String(repeating: unit, count: bytes / unit.utf8.count)
  }

  private static func heads(of routes: [String]) -> WorstPart {
    let bytes = 28_000
    let lists: [(String, [String])] = [
      ("Accept", ["a/b,", "*/*;q=0.1,", "image/avif,", ","]), ("Accept-Encoding", ["gzip;q=0.5,"]),
      ("Prefer", ["wait=1,", "a=\"b\","]), ("If-None-Match", ["\"a\",", "W/\"a\",", ","]), ("If-Match", ["\"a\","]),
      ("Connection", ["a,"]), ("Cookie", ["a=b;", "take5_console=x;"]), ("Range", ["0-1,"]),
      ("X-Forwarded-For", ["1.1.1.1,"]), ("Content-Digest", ["sha-256=:AA==:,"]), ("Idempotency-Key", ["\\\""]),
      ("Access-Control-Request-Headers", ["a,"]), ("Content-Type", ["a/b;"]),
      ("Repr-Digest", ["sha-256=:AA==:,"]), ("Upload-Checksum", ["sha1 AA==,"]), ("Take5-User", ["a", "\u{301}"]),
      ("If-Modified-Since", ["a"]), ("Origin", ["a."]), ("Sec-Fetch-Site", ["a"]), ("Last-Event-ID", ["1"]),
    ]
    let forms = lists.flatMap { field, units in
      units.map { ("\(field) of \($0)", "\(field): \(filled($0, bytes))x") }
    }
    let lines = [String](repeating: "a: \(filled("b", 200))", count: 120).joined(separator: "\r\n")
    return WorstPart(
      name: "head", meaning: "the worst head of 28 KB", place: .head,
      routes: routes,
      flat: "X-A: \(filled("a", bytes))", forms: forms + [("many lines", lines)])
  }

  private static func queries(of routes: [String]) -> WorstPart {
    let bytes = 7600
    let units = ["a&", "a=b&", "tag=a&", "include=mine&", "a=%41", "%F0%9F%98%80", "%CC%81"]
    let digits = filled("1", bytes / 2)
    return WorstPart(
      name: "query", meaning: "the worst query of 7,600 bytes", place: .query,
      routes: routes, flat: "query=\(filled("a", bytes))",
      forms: units.map { ("of \($0)", "query=\(filled($0, bytes))x") }
        + [("long numbers", "near=\(digits),\(digits)"), ("many corners", "polygon=\(filled("1.5,2.5;", bytes))")])
  }

  private static func objects(of routes: [String]) -> WorstPart {
    let bytes = 60_000
    // What routes read as text has one of these names.
    let names = ["bio", "text", "name", "title", "query", "reason"]
    func text(_ unit: String) -> String {
      let members = names.map { #""\#($0)":"a\#(filled(unit, bytes / names.count))""# }
      return "{\(members.joined(separator: ","))}"
    }
    func array(_ unit: String) -> String { #"{"bio":[\#(filled(unit, bytes))1]}"# }
    let members = (0..<6500).map { #""\#($0)":1"# }.joined(separator: ",")
    return WorstPart(
      name: "json", meaning: "the worst object of 60 KB", place: .json,
      routes: routes, flat: text("a"),
      forms: [
        ("marks", text("\u{301}")), ("escapes", text(#"\u0041"#)), ("pairs", text(#"\ud83d\ude00"#)),
        ("quotes", text(#"\""#)),
        ("flags", text("🇩🇪")), ("families", text("👨‍👩‍👧‍👦")), ("syllables", text("\u{1112}\u{1161}\u{11AB}")),
        ("ligatures", text("\u{FDFA}")), ("directions", text("\u{202E}")), ("members", "{\(members)}"),
        ("one member again and again", #"{\#(filled(#""a":1,"#, bytes))"a":1}"#), ("numbers", array("1,")),
        ("decimals", array("1.23e-5,")), ("a long number", #"{"bio":0.\#(filled("1", bytes))}"#),
        ("objects", array("[{}],")),
        ("texts", array(#""","#)), ("blanks", "{\(filled(" ", bytes))}"),
      ])
  }

  private static func parts(of routes: [String]) -> WorstPart {
    let bytes = 60_000
    func part(_ head: String, _ body: String = "{}") -> String {
      "--x\r\nContent-Disposition: form-data; \(head)\r\n\r\n\(body)\r\n"
    }
    func form(_ text: String) -> String { "\(text)--x--\r\n" }
    return WorstPart(
      name: "form", meaning: "the worst form of 60 KB", place: .form, routes: routes,
      flat: form(part(#"name="post""#, #"{"bio":"\#(filled("a", bytes))"}"#)),
      forms: [
        ("many parts", form(filled(part(#"name="a""#, ""), bytes))),
        ("lines of parts", form(filled(part("name=\"post\"\r\n\(filled("a: b\r\n", 300))c: d"), bytes))),
        ("parameters", form(filled(part("\(filled("a=b; ", 7000))name=\"post\""), bytes))),
        ("quotes", form(filled(part("name=\"\(filled("\\\"", 7000))\""), bytes))),
        ("almost ends", form(part(#"name="post""#, filled("\r\n--", bytes)))),
        ("returns", form(part(#"name="post""#, filled("\r", bytes)))),
        ("marks", form(part(#"name="post""#, #"{"bio":"a\#(filled("\u{301}", bytes))"}"#))),
      ])
  }
}
