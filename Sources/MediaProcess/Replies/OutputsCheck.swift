import Model

/// Checks the outputs of a reply: each role of the plan once, and each as the plan and its file say.
struct OutputsCheck {
  let planned: [PlannedOutput]
  let files: [Role: RequestFile]

  func check(_ outputs: [OutputFacts], as field: ReplyField) throws(MediaFailure) {
    let roles = outputs.map(\.role.rawValue).sorted()
    try field.require(
      roles == planned.map(\.role.rawValue).sorted(),
      "are \(Self.text(roles)); the plan's are \(Self.text(planned.map(\.role.rawValue)))")
    for facts in outputs {
      let field = field[facts.role.rawValue]
      guard let plan = planned.first(where: { $0.role == facts.role }), let file = files[facts.role] else {
        return try field.require(false, "has no file")
      }
      try plan.check(facts, in: file, as: field)
    }
  }

  private static func text(_ roles: [String]) -> String {
    roles.isEmpty ? "none" : roles.prefix(ReplyField.maxEntries).joined(separator: ", ")
  }
}

extension ReplyField {
  /// Fails unless there is a ThumbHash exactly if there is to be one: 5 to 25 bytes in base64 with padding.
  func require(thumbHash text: String?, isPresent: Bool) throws(MediaFailure) {
    try require((text != nil) == isPresent, isPresent ? "is missing" : "is unexpected")
    guard let text else { return }
    let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
    let bytes = digits.count * 6 / 8
    let isBase64 =
      digits.allSatisfy(Self.isBase64) && text.utf8.count % 4 == 0
      && text.utf8.dropFirst(digits.count).count <= 2
      && text.utf8.dropFirst(digits.count).allSatisfy { $0 == UInt8(ascii: "=") }
    try require(isBase64 && 5...25 ~= bytes, "is not a ThumbHash in base64")
  }

  private static func isBase64(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
      true
    default: false
    }
  }
}
