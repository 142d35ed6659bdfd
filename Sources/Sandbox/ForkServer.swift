internal import CSandbox
import Glibc
package import MediaProcess
package import Platform

/// The server that forks a confined child for each job. It has one thread, and reads no media.
package struct ForkServer: ~Copyable {
  private let socket: MessageSocket
  private let confinement: Confinement
  private let job: @Sendable (consuming MessageSocket) -> Void

  /// Serves until the parent ends.
  ///
  /// - Parameters:
  ///   - load: loads the libraries before the walls stand; returns what it found.
  ///   - job: does the job of a child, whose parent is at the other end of the socket.
  package static func serve(
    load: (ServerSettings) -> ProgramFacts, job: @escaping @Sendable (consuming MessageSocket) -> Void
  ) throws {
    // The parent repeats lost jobs: the OOM killer should choose a child before its parent or any other.
    ThisProcess.raiseOutOfMemoryScore()
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_IGN) }
    let socket = MessageSocket(Descriptor(owning: MediaProcess.socketNumber))
    guard let first = try receive(from: socket) else { return }
    guard case .start(let settings) = first.request else {
      throw MediaFailure(.protocolViolation, "the first request does not start the server")
    }
    let program = load(settings)
    tzset()
    let confinement = Confinement(settings)
    try ThisProcess.denyDumps()
    try socket.send(Envelope<ServerReply>.encode(.ready(walls: confinement.reports, program: program)))
    try ForkServer(socket: socket, confinement: confinement, job: job).serve()
  }

  private borrowing func serve() throws {
    while let message = try Self.receive(from: socket) {
      guard case .fork(let limits) = message.request, let far = message.descriptor else {
        throw MediaFailure(.protocolViolation, "unexpected request")
      }
      try fork(limits, far)
    }
  }

  /// Forks a child, and waits for its end: there is one child at a time.
  private borrowing func fork(_ limits: MediaCrash.Limits, _ far: Int32) throws {
    let server = getpid()
    let child = csandbox_fork()
    if child == 0 { run(limits, far, server: server) }
    close(far)
    guard child > 0 else { return try send(.failed(SystemError(call: "fork").description)) }
    let handle = csandbox_open_process(child)
    guard handle >= 0 else {
      let error = SystemError(call: "pidfd_open")
      kill(child, SIGKILL)
      waitpid(child, nil, 0)
      return try send(.failed(error.description))
    }
    try send(.forked(process: child), descriptors: [handle])
    close(handle)
    var status: Int32 = 0
    var cpuSeconds = 0.0
    guard csandbox_wait(child, &status, &cpuSeconds) == 0 else { throw SystemError(call: "wait4") }
    try send(.ended(ChildEnd(status: status, cpuSeconds: cpuSeconds)))
  }

  /// The life of a child.
  private borrowing func run(_ limits: MediaCrash.Limits, _ far: Int32, server: Int32) -> Never {
    guard csandbox_place_descriptors(far, confinement.hasErrorOutput ? 1 : 0) == 0,
      confinement.enter(limits: limits, server: server)
    else { _exit(ChildEnd.unconfined) }
    // A thread caches its id for the locks of `Synchronization`: this one still has the id that it had in the server.
    let job = job
    do {
      try NamedThread(name: "take5-job") { job(MessageSocket(Descriptor(owning: MediaProcess.socketNumber))) }.join()
    } catch {
      _exit(ChildEnd.unconfined)
    }
    // No destructor of a library runs: the kernel frees everything.
    _exit(0)
  }

  private borrowing func send(_ reply: ServerReply, descriptors: [Int32] = []) throws {
    try socket.send(Envelope.encode(reply), descriptors: descriptors)
  }

  private static func receive(
    from socket: borrowing MessageSocket
  ) throws -> (request: ServerRequest, descriptor: Int32?)? {
    guard let message = try socket.receive() else { return nil }
    return (try Envelope<ServerRequest>.decode(message.bytes), message.descriptors.first)
  }
}
