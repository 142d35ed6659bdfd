import Glibc

/// What clients without a credential send whose bytes cost the most: each of them directly, and through the proxy of docs/deploying.md.
enum Doors {
  static let attacks = [marks, passwords, cookies, options, expectations].flatMap { attack in
    var attack = attack
    attack.livezLimit = 50
    return [attack, proxied(attack)]
  }

  private static let addresses = (1...2).map { "127.0.4.\($0)" }
  private static let json = "\r\nContent-Type: application/json"

  /// Marks in the descending order of their combining classes, of which normalisation makes the ascending one.
  private static let run = ["\u{345}", "\u{315}", "\u{301}", "\u{316}", "\u{327}", "\u{334}"]
    .map { String(repeating: $0, count: 5300) }.joined()

  private static let marks = Attack(
    name: "marks", meaning: "names of 64 KB of combining marks from two addresses, on 2 connections each",
    form: .asking(threads: 4), addresses: addresses, hasToken: false, head: "POST /v1/accounts HTTP/1.1" + json,
    body: #"{"a\#(run)":1}"#)

  private static let passwords = Attack(
    name: "values", meaning: "passwords of 64 KB of combining marks from two addresses, on 2 connections each",
    form: .asking(threads: 4), addresses: addresses, hasToken: false, head: "PUT /v1/password-resets HTTP/1.1" + json,
    body: #"{"user_name":"victim","code":"0","password":"a\#(run)"}"#)

  private static let cookies = Attack(
    name: "cookies", meaning: "300 cookies of the console in a head, from two addresses, on 100 connections each",
    form: .asking(threads: 200), addresses: addresses, hasToken: false,
    head: "GET /v1/posts HTTP/1.1\r\nTake5-Console: 1"
      + String(repeating: "\r\nCookie: " + String(repeating: cookie, count: 75), count: 4))

  /// It expires within the time for which a cookie is valid, so that its code is looked at.
  private static let cookie =
    "take5_console=operator.\(time(nil) + 3600).\(String(repeating: "0", count: 64));"

  private static let options = Attack(
    name: "options", meaning: "15,000 options of a connection in a head, from two addresses, on 50 connections each",
    form: .asking(threads: 100), addresses: addresses, hasToken: false,
    head: "GET /v1/posts HTTP/1.1\r\nConnection: " + String(repeating: "a,", count: 15_000) + "close")

  private static let expectations = Attack(
    name: "expectations",
    meaning:
      "2,300 expectations in a head before a body in pieces of a byte, from two addresses, on 2 connections each",
    form: .asking(threads: 4), addresses: addresses, hasToken: false,
    head: "POST /v1/accounts HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: "
      + String(repeating: "100-continue,", count: 2300) + "100-continue" + json,
    chunks: [String](repeating: " ", count: 20_000) + ["{}"])

  private static func proxied(_ attack: Attack) -> Attack {
    var attack = attack
    (attack.name, attack.meaning, attack.isProxied) = (
      attack.name + "_proxied", attack.meaning + ", through nginx", true
    )
    return attack
  }
}
