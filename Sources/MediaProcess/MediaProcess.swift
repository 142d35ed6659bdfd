import Glibc
package import Model
package import Platform

/// A slot for media jobs: a fork server that runs `take5-media`, and the permanent thread that starts it and waits for
/// it.
///
/// Each job has a child of the server to itself, which is confined, opens no files but receives descriptors, and ends
/// with its last reply. A crash, a hang or a limit of it fails only its job. The server starts with the first job; it
/// receives a signal when the thread that started it ends.
package actor MediaProcess: MediaRunner {
  /// The limits of a media process.
  package struct Configuration: Sendable {
    /// The path of `take5-media`; nil: in the folder of the running program.
    package var executable: String?
    /// The limit of the address space, in bytes.
    package var memoryLimit: UInt64
    /// The limit of one output file, in bytes.
    package var fileSizeLimit: UInt64 = 256 << 20
    /// What happens about walls that the machine does not permit.
    package var sandbox = SandboxMode.available
    /// Whether SIMD code is disabled, to compare the outputs.
    package var isPortable = false
    /// That of the fork server and its children.
    package var priority = ProcessPriority.normal

    package init(executable: String? = nil, memoryLimit: UInt64 = 2 << 30) {
      self.executable = executable
      self.memoryLimit = memoryLimit
    }
  }

  /// The number of the socket to the parent, in the fork server and in its children.
  package static let socketNumber: Int32 = 3

  private let executor: ThreadExecutor
  private let configuration: Configuration
  private var connection: MediaConnection

  nonisolated package var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Opens `take5-media` for all media processes of this program: an upgrade that replaces the file later does not mix
  /// the versions of the two programs.
  package static func openProgram() throws(SystemError) { _ = try MediaProgram.path() }

  /// - Parameter name: of the thread, at most 15 bytes.
  package init(name: String, configuration: Configuration) throws(SystemError) {
    executor = try ThreadExecutor(name: name)
    self.configuration = configuration
    connection = MediaConnection(configuration)
  }

  deinit { executor.stop() }

  package func process(
    _ clips: [InputName: OpenFile], limits: Limits, mode: ExecutionMode = .throughput, deadline: Duration,
    cancellation: CancellationFlag, plan: @Sendable ([InputName: ClipFacts]) throws -> (Plan, [Role: OpenFile])?,
    progress: @Sendable (Double) -> Void = { _ in }
  ) throws -> RunReport {
    let inputs = clips.keys.sorted { $0.rawValue < $1.rawValue }
    var probed = ProbeReport()
    var planned: Result<(Plan, [Role: OpenFile])?, any Error> = .success(nil)
    let reply = try connection.exchange(
      JobRequest(message: .probe(inputs: inputs, limits: limits), files: inputs.compactMap { clips[$0] }),
      needing: .clips, deadline: deadline, cancellation: cancellation,
      next: { (report) throws(MediaFailure) in
        let bytes = try RequestFile.all(clips).mapValues(\.count)
        probed = try ProbeCheck(limits: limits, inputs: bytes).checked(report)
        guard probed.reasons.isEmpty else { return nil }
        planned = Result { try plan(probed.facts) }
        guard case .success(let (plan, outputs)?) = planned else { return nil }
        let roles = outputs.keys.sorted { $0.rawValue < $1.rawValue }
        return JobRequest(
          message: .run(plan: plan, mode: mode, outputs: roles), files: roles.compactMap { outputs[$0] })
      }, progress: progress)
    switch (reply, try planned.get()) {
    case (.probed, nil): return RunReport(verdict: probed.verdict, outputs: [])
    case (.result(let report), let (plan, outputs)?):
      return try RunCheck(plan: plan, outputs: RequestFile.all(outputs)).checked(report)
    default: throw Self.unexpectedReply
    }
  }

  package func photo(
    _ plan: PhotoPlan, photo: OpenFile, outputs: [Role: OpenFile], deadline: Duration, cancellation: CancellationFlag
  ) throws(MediaFailure) -> PhotoReport {
    let roles = outputs.keys.sorted { $0.rawValue < $1.rawValue }
    let reply = try connection.exchange(
      JobRequest(message: .photo(plan: plan, outputs: roles), files: [photo] + roles.compactMap { outputs[$0] }),
      needing: plan.libraries(for: photo), deadline: deadline, cancellation: cancellation)
    guard case .photo(let report) = reply else { throw Self.unexpectedReply }
    return try PhotoCheck(plan: plan, bytes: RequestFile(photo).count, outputs: RequestFile.all(outputs))
      .checked(report)
  }

  private static let unexpectedReply = MediaFailure(.protocolViolation, "the media process sent an unexpected reply")

  private static let versions = Locked<[String: String]?>(nil)

  /// The first call in this program asks a server that has loaded all of the libraries.
  package func libraryVersions() throws(MediaFailure) -> [String: String] {
    if let known = Self.versions.withLock({ $0 }) { return known }
    let versions = try connection.start(.clips).program.libraries
    Self.versions.withLock { $0 = versions }
    return versions
  }

  /// The program of a server that has loaded all of the libraries.
  package func program() throws(MediaFailure) -> ProgramFacts { try connection.start(.clips).program }

  /// The walls around a child of this process, as the child finds them.
  ///
  /// - Parameter libraries: those that the first job needs. The walls do not depend on them; a server that lacks them is
  ///   replaced.
  package func walls(loading libraries: LibraryGroup) throws(MediaFailure) -> [WallReport] {
    try connection.start(libraries).walls
  }

  package func stop() {
    connection.close()
    executor.stop()
  }

  /// The id of the fork server; nil while there is none.
  package var processID: Int32? { connection.processID }
}

extension PhotoPlan {
  /// The libraries for this photo: HEIF and AVIF begin with a file type box (ISO/IEC 14496-12, 4.3). FFmpeg decodes GIF.
  fileprivate func libraries(for photo: OpenFile) -> LibraryGroup {
    var head = [UInt8](repeating: 0, count: 8)
    let count = pread(photo.descriptor.number, &head, head.count, 0)
    if head.starts(with: "GIF8".utf8), limits.formats.contains(.gif) { return .clips }
    let isBoxed = count == head.count && head[4...].elementsEqual("ftyp".utf8)
    return isBoxed || variants.values.contains { $0.format == .avif } ? .heif : .linked
  }
}
