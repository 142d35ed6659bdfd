import MediaProcess

extension Verb {
  static let mediaProcess = Verb(
    MediaProcess.verb, abstract: "Work on media for a parent that sends them as descriptors.",
    example: "take5 media-process", isHidden: true
  ) { _ in
    try MediaChild.serve()
    return .done
  }
}
