import MediaProcess
import Platform

extension DoctorCheck {
  /// Checks that the two programs have one version, and that FFmpeg's libraries and libheif have every codec that is used.
  static func programs(_ subject: DoctorSubject) async throws -> [CheckResult] {
    let media = try MediaProcess(
      name: "media-program", configuration: try MediaProcess.Configuration(subject.arguments))
    let facts: Result<ProgramFacts, MediaFailure>
    do throws(MediaFailure) { facts = .success(try await media.program()) } catch { facts = .failure(error) }
    await media.stop()
    switch facts {
    case .success(let facts): return results(facts, version: ThisProcess.version)
    case .failure(let failure):
      return [
        .error(
          "programs", "take5-media", failure.detail,
          remedy: "install take5 and take5-media of one version in one folder, with the libraries that they need")
      ]
    }
  }

  /// The results of a program for media that was started.
  static func results(_ facts: ProgramFacts, version: String) -> [CheckResult] {
    let versions = "take5 \(version), take5-media \(facts.version)"
    let libraries = facts.libraries.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    return [
      facts.version == version
        ? .ok("programs", "versions", versions)
        : .error("programs", "versions", versions, remedy: "install both programs of one version in one folder"),
      facts.missingCodecs.isEmpty
        ? .ok("programs", "codecs", "every decoder and encoder exists in \(libraries)")
        : .error(
          "programs", "codecs", "\(libraries) lack \(facts.missingCodecs.joined(separator: ", "))",
          remedy: "install FFmpeg's libraries as Debian builds them (libavcodec59 on Debian 12, libavcodec61 on 13), "
            + "with x264 and libwebp, and libheif's plugins (libheif-plugin-aomenc on Debian 13)"),
    ]
  }
}
