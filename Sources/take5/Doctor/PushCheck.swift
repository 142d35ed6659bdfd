import Push

extension DoctorCheck {
  /// Reads the credentials and the keys for push services, and the texts, and sends nothing.
  static func push(_ subject: DoctorSubject) async throws -> [CheckResult] {
    let configuration = try PushOptions.configuration(subject.arguments)
    _ = try PushOptions.texts(subject.arguments)
    let names = [
      configuration.apns.map { _ in "Apple's" }, configuration.fcm.map { _ in "Firebase's" },
      configuration.webPush.map { _ in "browsers'" },
    ].compactMap(\.self)
    guard !names.isEmpty else { return [.info("push", "credentials", "off")] }
    return [.ok("push", "credentials", "for \(names.joined(separator: ", ")) push services")]
  }
}
