import Glibc
import Platform

/// The parent's side of a fork server: the process that has the media libraries loaded and forks a confined child for
/// each job.
///
/// The server receives a signal when the thread that started it ends: that thread must live as long as the server. It and
/// its child end with this object.
final class MediaServer {
  private let process: ChildProcess
  private let socket: MessageSocket
  private let settings: ServerSettings
  private var cgroup: OwnedCgroup?
  private let memoryLimit: UInt64
  /// The walls around its children.
  let walls: [WallReport]
  let program: ProgramFacts

  /// The time in which a server replies unless the machine is unable to run it.
  private static let timeout = Duration.seconds(60)

  /// Starts a server, and waits until it has loaded the libraries and has its walls.
  static func start(
    _ configuration: MediaProcess.Configuration, libraries: LibraryGroup
  ) throws(MediaFailure) -> MediaServer {
    let settings = ServerSettings(
      libraries: libraries, isPortable: configuration.isPortable,
      isConfined: configuration.sandbox != .off, user: unusedUser())
    do {
      let pair = try MessageSocket.pair()
      let process = try spawn(configuration, socket: pair.far.number)
      let socket = pair.keepNear()
      try socket.send(Envelope<ServerRequest>.encode(.start(settings)))
      guard case .ready(var walls, let program) = try receive(from: socket, within: timeout)?.reply else {
        throw MediaFailure(.unavailable, "it did not start")
      }
      var cgroup: OwnedCgroup?
      if settings.isConfined {
        do {
          let owned = try makeCgroup(configuration.memoryLimit, of: process.id)
          walls.append(WallReport(.cgroup, isUp: true, detail: owned.memory.folder))
          cgroup = consume owned
        } catch {
          walls.append(WallReport(.cgroup, isUp: false, detail: "\(error)"))
        }
      } else {
        walls.append(WallReport(.cgroup, isUp: false, detail: WallReport.switchedOff))
      }
      let order = Wall.allCases
      walls.sort { order.firstIndex(of: $0.wall) ?? 0 < order.firstIndex(of: $1.wall) ?? 0 }
      return MediaServer(
        process: process, socket: socket, settings: settings, cgroup: cgroup, memoryLimit: configuration.memoryLimit,
        walls: walls, program: program)
    } catch {
      throw MediaFailure(.unavailable, "the media process could not be started: \(error)")
    }
  }

  private init(
    process: consuming ChildProcess, socket: consuming MessageSocket, settings: ServerSettings,
    cgroup: consuming OwnedCgroup?, memoryLimit: UInt64, walls: [WallReport], program: ProgramFacts
  ) {
    self.process = process
    self.socket = socket
    self.settings = settings
    self.cgroup = cgroup
    self.memoryLimit = memoryLimit
    self.walls = walls
    self.program = program
  }

  private static func spawn(
    _ configuration: MediaProcess.Configuration, socket: Int32
  ) throws(SystemError) -> ChildProcess {
    let path = if let path = configuration.executable { path } else { try MediaProgram.path() }
    var child = ChildProcess.Configuration(path: path, arguments: [])
    child.name = MediaProgram.name
    child.descriptors = [nil, nil, 2, socket]
    child.directory = "/"
    // Frames are allocated and freed by the megabyte: freed memory is kept in the process, as the kernel would clear it
    // for every new frame (glibc manual, "Memory Allocation Tunables"). The process is short-lived.
    child.environment = [
      "GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=\(1 << 30):glibc.malloc.trim_threshold=\(1 << 30)",
      // A library that asks for the time reads no file of time zones.
      "TZ": "UTC",
      // A crash ends the process at once by its signal, without a backtrace.
      "SWIFT_BACKTRACE": "enable=no",
    ]
    // In a session of its own the process does not receive signals to the parent's group, such as SIGINT by Ctrl-C: the
    // parent decides whether the job ends.
    child.newSession = true
    child.priority = configuration.priority
    return try Failpoint.spawn.around { () throws(SystemError) in try ChildProcess(child) }
  }

  // An id of the range that systemd's table of user ids leaves unused ("Users, Groups, UIDs and GIDs on systemd
  // Systems"), by chance, so that no two servers of a machine have the same.
  private static func unusedUser() -> UInt32 { UInt32.random(in: 1_900_000_000..<2_100_000_000) }

  private static let cgroups = Locked(0)

  private static func makeCgroup(_ memoryLimit: UInt64, of process: Int32) throws(SystemError) -> OwnedCgroup {
    let number = cgroups.withLock { number in
      number += 1
      return number
    }
    return try OwnedCgroup.make(name: "\(number)", memoryLimit: memoryLimit, process: process)
  }

  var processID: Int32 { process.id }

  /// Whether it has not ended.
  var isRunning: Bool { !process.waitForEnd(atMost: .zero) }

  /// The libraries that it has loaded.
  var libraries: LibraryGroup { settings.libraries }

  /// The cgroup that holds only the server and its child, if there is one.
  var memory: MemoryCgroup? { cgroup?.memory }

  /// Forks a child that has a socket to this process and nothing else.
  func fork(_ limits: MediaCrash.Limits) throws -> JobChild {
    // Files that children wrote to a file system in memory are charged to the cgroup; the files of a removed one are not.
    if let memory, let usage = memory.usage, usage > memoryLimit / 2 {
      cgroup = try Self.makeCgroup(memoryLimit, of: process.id)
    }
    let pair = try MessageSocket.pair()
    try socket.send(Envelope<ServerRequest>.encode(.fork(limits)), descriptors: [pair.far.number])
    guard let message = try Self.receive(from: socket, within: Self.timeout) else {
      throw MediaFailure(.unavailable, "it did not fork a child")
    }
    switch (message.reply, message.descriptor) {
    case (.forked(let process), let descriptor?):
      return JobChild(process: process, handle: ProcessDescriptor(owning: descriptor), socket: pair.keepNear())
    case (.failed(let reason), _): throw MediaFailure(.unavailable, reason)
    default: throw MediaFailure(.unavailable, "unexpected reply")
    }
  }

  /// Waits until the child has ended and its descriptors are closed; nil if it still runs then.
  func waitForEnd(atMost timeout: Duration) throws -> ChildEnd? {
    switch try Self.receive(from: socket, within: timeout)?.reply {
    case nil: return nil
    case .ended(let end): return end
    default: throw MediaFailure(.unavailable, "unexpected reply")
    }
  }

  /// Kills the child, and waits until it has ended.
  func kill(_ child: borrowing JobChild) throws -> ChildEnd {
    child.handle.kill()
    guard let end = try waitForEnd(atMost: Self.timeout) else {
      throw MediaFailure(.unavailable, "a killed child does not end: it waits for a device")
    }
    return end
  }

  private static func receive(
    from socket: borrowing MessageSocket, within timeout: Duration
  ) throws -> (reply: ServerReply, descriptor: Int32?)? {
    guard try socket.waitReadable(milliseconds: Int32(timeout / .milliseconds(1))) else { return nil }
    guard let message = try socket.receive() else { throw MediaFailure(.interrupted, "the media process has ended") }
    return (try Envelope<ServerReply>.decode(message.bytes), message.descriptors.first)
  }
}

/// A child of a fork server, which does one job.
struct JobChild: ~Copyable {
  let process: Int32
  let handle: ProcessDescriptor
  let socket: MessageSocket
}
