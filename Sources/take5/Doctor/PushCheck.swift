import Push

extension DoctorCheck {
  /// Reads the credentials and the keys for push services, and the texts, and sends nothing.
  static func push(_ subject: DoctorSubject) async throws -> [CheckResult] {
    let configuration: Sender.Configuration
    do throws(InvalidConfiguration) { configuration = try PushOptions.files(subject.arguments).configuration } catch {
      // The results of the configuration say what is wrong.
      return [.error("push", "credentials", "they cannot be used", remedy: "see the results of the configuration")]
    }
    let names = configuration.providers.map { type(of: $0).owner }
    guard !names.isEmpty else { return [.info("push", "credentials", "off")] }
    return [.ok("push", "credentials", "for \(names.joined(separator: ", ")) push services")]
  }
}
