internal import HTTPServer
internal import Model

extension MultipartError {
  /// As clients are told.
  var problem: Problem {
    switch self {
    case .notMultipart: ProblemKind.notMultipart.problem("\(self)".sentence)
    case .partTooLarge(let name, let limit):
      ProblemKind.partTooLarge.problem(
        "The part \(name) is longer than \(limit) bytes.",
        reasons: [
          Reason(
            .tooLarge, input: InputName(rawValue: name) ?? .photo,
            detail: "The file is longer than the \(limit) bytes allowed. Export it at a lower resolution or bit rate.")
        ])
    case .tooManyParts: ProblemKind.unknownPart.problem("\(self)".sentence)
    default: ProblemKind.malformedForm.problem("\(self)".sentence)
    }
  }
}

extension ProblemKind {
  /// A part of this name has no place in the form.
  static func unknown(part name: String) -> Problem {
    unknownPart.problem(
      "The form has a part \(name).", errors: [FieldError(name, "is not a part of such a submission")])
  }
}

extension String {
  /// With a capital letter at its start and a full stop at its end.
  fileprivate var sentence: String { prefix(1).uppercased() + dropFirst() + "." }
}
