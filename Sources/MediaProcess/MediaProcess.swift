import Glibc
package import Model
package import Platform

/// A slot for media jobs: a fork server that runs `take5-media`, and the permanent thread that starts it and waits for
/// it.
///
/// Each request has a child of the server to itself, which is confined, opens no files but receives descriptors, and ends
/// with its reply. A crash, a hang or a limit of it fails only its request. The server starts with the first request; it
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
    /// Whether it gets only processor time that no other process uses.
    package var isBackground = false

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

  package func probe(
    _ inputs: [InputName: OpenFile], limits: Limits, deadline: Duration, cancellation: CancellationFlag
  ) throws(MediaFailure) -> ProbeReport {
    let names = inputs.keys.sorted { $0.rawValue < $1.rawValue }
    let reply = try connection.exchange(
      .probe(inputs: names, limits: limits), needing: .clips,
      descriptors: names.compactMap { inputs[$0]?.descriptor.number }, deadline: deadline, cancellation: cancellation,
      progress: { _ in })
    guard case .probed(let report) = reply else { throw Self.unexpectedReply }
    let bytes = try RequestFile.all(inputs.mapValues { $0.descriptor.number }).mapValues(\.count)
    return try ProbeCheck(limits: limits, inputs: bytes).checked(report)
  }

  package func run(
    _ plan: Plan, mode: ExecutionMode = .throughput, inputs: [InputName: OpenFile], outputs: [Role: Int32],
    deadline: Duration, cancellation: CancellationFlag, progress: @Sendable (Double) -> Void
  ) throws(MediaFailure) -> RunReport {
    let inputNames = inputs.keys.sorted { $0.rawValue < $1.rawValue }
    let roles = outputs.keys.sorted { $0.rawValue < $1.rawValue }
    let descriptors = inputNames.compactMap { inputs[$0]?.descriptor.number } + roles.compactMap { outputs[$0] }
    let reply = try connection.exchange(
      .run(plan: plan, mode: mode, inputs: inputNames, outputs: roles), needing: .clips, descriptors: descriptors,
      deadline: deadline, cancellation: cancellation, progress: progress)
    guard case .result(let report) = reply else { throw Self.unexpectedReply }
    return try RunCheck(plan: plan, outputs: RequestFile.all(outputs)).checked(report)
  }

  package func photo(
    _ plan: PhotoPlan, photo: OpenFile, outputs: [Role: Int32], deadline: Duration, cancellation: CancellationFlag
  ) throws(MediaFailure) -> PhotoReport {
    let roles = outputs.keys.sorted { $0.rawValue < $1.rawValue }
    let reply = try connection.exchange(
      .photo(plan: plan, outputs: roles), needing: plan.libraries(for: photo),
      descriptors: [photo.descriptor.number] + roles.compactMap { outputs[$0] }, deadline: deadline,
      cancellation: cancellation, progress: { _ in })
    guard case .photo(let report) = reply else { throw Self.unexpectedReply }
    return try PhotoCheck(
      plan: plan, bytes: RequestFile(photo.descriptor.number).count, outputs: RequestFile.all(outputs)
    ).checked(report)
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
  /// The libraries for this photo: HEIF and AVIF begin with a file type box (ISO/IEC 14496-12, 4.3).
  fileprivate func libraries(for photo: OpenFile) -> LibraryGroup {
    var head = [UInt8](repeating: 0, count: 8)
    let count = pread(photo.descriptor.number, &head, head.count, 0)
    let isBoxed = count == head.count && head[4...].elementsEqual("ftyp".utf8)
    return isBoxed || variants.values.contains { $0.format == .avif } ? .heif : .linked
  }
}
