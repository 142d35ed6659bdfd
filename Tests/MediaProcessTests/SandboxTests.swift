import Definitions
import Glibc
import MediaFixtures
import MediaProcess
import Model
import Platform
import Testing
import WaitTesting

/// The walls, tested from inside by children that attack (`Tests/Support/hostile-media`).
@Suite("The sandbox", .serialized)
struct SandboxTests {
  private static func slot(memory: UInt64 = 1 << 30, sandbox: SandboxMode = .available) throws -> MediaProcess {
    var configuration = MediaProcess.Configuration(
      executable: try ThisProcess.folder() + "/hostile-media", memoryLimit: memory)
    configuration.sandbox = sandbox
    configuration.fileSizeLimit = 4 << 20
    return try MediaProcess(name: "hostile", configuration: configuration)
  }

  /// Lets a child attack, and returns the failure of its job.
  private func failure(
    of attack: String, in slot: MediaProcess, deadline: Duration = .seconds(20)
  ) async throws -> MediaFailure? {
    let photo = OpenFile(try Descriptor(unnamedIn: "/tmp"))
    try photo.descriptor.write(Array(attack.utf8))
    let output = OpenFile(try Descriptor(unnamedIn: "/tmp"))
    let definition = try #require(try Definitions.photo("reaction"))
    let role = try #require(definition.plan.outputs.first)
    let plan = PhotoPlan(limits: definition.limits, variants: [role: try #require(definition.plan.variants[role])])
    return await #expect(throws: MediaFailure.self, "\(attack)") {
      _ = try await slot.photo(
        plan, photo: photo, outputs: [role: output], deadline: deadline,
        cancellation: CancellationFlag())
    }
  }

  @Test(
    "a system call that could leave the sandbox ends the child with SIGSYS",
    arguments: [
      "openat", "environ", "socket", "connect", "execve", "fork", "vfork", "ptrace", "kill", "kill-all", "tgkill",
      "pidfd", "prctl", "mmap", "mprotect", "unshare", "mount", "ioctl", "process_vm_readv", "memfd_create", "bpf",
      "keyctl", "io_uring_setup", "perf_event_open", "setuid", "setrlimit", "tgkill-other", "setpriority-other",
      "getpriority-other",
    ])
  func forbidden(_ call: String) async throws {
    let slot = try Self.slot()
    let failure = try await failure(of: call, in: slot)
    #expect(failure?.kind == .crashed, "\(String(describing: failure))")
    #expect(failure?.crash?.signal == "SIGSYS")
    #expect(failure?.refusalCode == .decoderCrashed)
    await slot.stop()
  }

  @Test(
    "calls whose flags or paths a filter cannot read are not available: glibc does without them",
    arguments: ["clone3", "newfstatat"])
  func unavailable(_ call: String) async throws {
    let slot = try Self.slot()
    #expect(try await failure(of: call, in: slot)?.detail == "\(call) returned \(-ENOSYS)")
    await slot.stop()
  }

  @Test(
    "a fault or a limit of a child has the code and the signal of its cause",
    arguments: [
      ("segfault", MediaFailure.Kind.crashed, "SIGSEGV"), ("abort", .crashed, "SIGABRT"), ("trap", .crashed, "SIGILL"),
      ("file", .crashed, "SIGXFSZ"), ("exit", .internal, nil), ("sleep", .deadlineExceeded, nil),
    ] as [(String, MediaFailure.Kind, String?)])
  func faults(_ attack: String, _ kind: MediaFailure.Kind, _ signal: String?) async throws {
    let slot = try Self.slot()
    let failure = try await failure(
      of: attack, in: slot, deadline: kind == .deadlineExceeded ? .seconds(1) : .seconds(20))
    #expect(failure?.kind == kind, "\(String(describing: failure))")
    if kind == .crashed { #expect(failure?.crash?.signal == signal) }
    #expect(failure?.crash?.stage == (kind == .internal ? nil : .photo))
    await slot.stop()
  }

  @Test("an endless loop ends at its deadline")
  func loop() async throws {
    let slot = try Self.slot()
    let failure = try await failure(of: "loop", in: slot, deadline: .seconds(2))
    // Next to busy tests the child may get too little processor time to be blamed.
    #expect(failure?.kind == .deadlineExceeded || failure?.kind == .interrupted, "\(String(describing: failure))")
    await slot.stop()
  }

  @Test("a child gets no more memory than its limit")
  func memory() async throws {
    let slot = try Self.slot(memory: 512 << 20)
    let detail = try #require(try await failure(of: "memory", in: slot)?.detail)
    let allocated = try #require(detail.split(separator: " ").first.flatMap { Int($0) })
    #expect(allocated > 64 && allocated < 512, "\(detail)")
    await slot.stop()
  }

  @Test(
    "a child that does not follow the protocol fails its job with a code",
    arguments: [
      ("silence", "ended without a reply"), ("late", "kept running after its reply"),
      ("thousand", "sent a message after its reply"), ("empty", "closed its socket and kept running"),
      ("malformed", "could not be decoded"), ("probed", "unexpected reply"), ("progress", "progress of a photo"),
      ("role", "refused: "), ("claim", "which it cannot know"),
    ])
  func lies(_ attack: String, _ reason: String) async throws {
    let slot = try Self.slot()
    let failure = try await failure(of: attack, in: slot)
    #expect(failure?.kind == .protocolViolation, "\(String(describing: failure))")
    #expect(failure?.detail.contains(reason) == true, "\(String(describing: failure))")
    #expect(failure?.refusalCode == nil)
    await slot.stop()
  }

  @Test("a reply of 100 MB cannot be sent, and a claimed outage is not believed")
  func refused() async throws {
    let slot = try Self.slot()
    #expect(try await failure(of: "100mb", in: slot)?.detail == "refused")
    #expect(try await failure(of: "outage", in: slot)?.kind == .internal)
    await slot.stop()
  }

  @Test("the server goes on after each attack, and a job next to it notices nothing")
  func neighbours() async throws {
    let (hostile, honest) = (try Self.slot(), try MediaProcess(name: "honest", configuration: .init()))
    let limits = try #require(try Definitions.photo("reaction")).limits
    let photo = OpenFile(try Descriptor(unnamedIn: "/tmp"))
    try photo.descriptor.write(PhotoFixture.jpeg(PhotoFixture.quarters(width: 64, height: 48)))
    var server: Int32?
    for attack in ["segfault", "kill-all", "thousand", "role"] {
      async let report = honest.photo(
        PhotoPlan(limits: limits, variants: [:]), photo: photo, outputs: [:], deadline: .seconds(60),
        cancellation: CancellationFlag())
      _ = try await failure(of: attack, in: hostile)
      #expect(try await report.facts?.display == Size(width: 64, height: 48))
      if let server { #expect(await hostile.processID == server) }
      server = await hostile.processID
    }
    await hostile.stop()
    await honest.stop()
  }
}

/// The walls as the kernel sees them.
@Suite("Walls", .serialized)
struct WallTests {
  @Test("a server reports the walls that the kernel's status of its child has")
  func status() async throws {
    let slot = try MediaProcess(
      name: "walls", configuration: .init(executable: try ThisProcess.folder() + "/hostile-media"))
    let walls = Dictionary(uniqueKeysWithValues: try await slot.walls(loading: .clips).map { ($0.wall, $0) })
    #expect(Set(walls.keys) == Set(Wall.allCases))
    let server = try #require(await slot.processID)
    let photo = OpenFile(try Descriptor(unnamedIn: "/tmp"))
    try photo.descriptor.write(Array("sleep".utf8))
    let cancellation = CancellationFlag()
    let limits = try #require(try Definitions.photo("reaction")).limits
    async let report = slot.photo(
      PhotoPlan(limits: limits, variants: [:]), photo: photo, outputs: [:], deadline: .seconds(60),
      cancellation: cancellation)
    var status: [String: String] = [:]
    var child: Int32 = 0
    // The filter is the last of the walls.
    let deadline = Deadline("all walls of the child")
    while status["Seccomp"] != "2" && (status.isEmpty || walls[.seccomp]?.isUp == true) {
      try deadline.check()
      await Task.yield()
      guard let found = MediaChildren.job(of: server), let text = KernelFile.read("/proc/\(found)/status") else {
        continue
      }
      child = found
      let lines = text.split(separator: "\n").compactMap { line -> (String, String)? in
        let parts = line.split(separator: ":", maxSplits: 1)
        return parts.count == 2
          ? (String(parts[0]), parts[1].split(whereSeparator: \.isWhitespace).joined(separator: " ")) : nil
      }
      status = Dictionary(lines) { $1 }
    }
    #expect((status["CapEff"] == "0000000000000000") == walls[.capabilities]?.isUp)
    #expect(status["CapPrm"] == status["CapEff"])
    // An ordinary user without namespaces may not empty the bounding set, of which no_new_privs leaves nothing to gain.
    if geteuid() == 0 || walls[.mounts]?.isUp == true { #expect(status["CapBnd"] == status["CapEff"]) }
    #expect((status["NoNewPrivs"] == "1") == walls[.noNewPrivileges]?.isUp)
    #expect((status["Seccomp"] == "2") == walls[.seccomp]?.isUp)
    if geteuid() == 0 {
      let links: [(Wall, String)] = [
        (.mounts, "mnt"), (.network, "net"), (.ipc, "ipc"), (.hostname, "uts"), (.processes, "pid"),
      ]
      for (wall, file) in links {
        let (mine, its) = (link("/proc/self/ns/\(file)"), link("/proc/\(child)/ns/\(file)"))
        let isUp = walls[wall]?.isUp == true
        // Where the root cannot be changed, as in a chroot whose folder is no mount point, a namespace of mounts is no wall.
        if isUp || wall != .mounts { #expect((mine != its) == isUp, "\(file)") }
        if isUp && wall != .processes { #expect(walls[wall]?.detail == its) }
      }
      #expect(((try? Folder.names(in: "/proc/\(child)/root")) == []) == walls[.mounts]?.isUp)
      let user = try #require(walls[.user])
      if user.isUp {
        #expect(
          user.detail == "uid \(status["Uid"]?.split(separator: " ").first ?? "")" || user.detail.hasPrefix("user:"))
      }
      if walls[.cgroup]?.isUp == true { #expect(MemoryCgroup(of: child)?.folder == walls[.cgroup]?.detail) }
    }
    cancellation.cancel()
    do {
      _ = try await report
      Issue.record("the job was not cancelled")
    } catch {}
    await slot.stop()
  }

  private func link(_ path: String) -> String {
    var text = [CChar](repeating: 0, count: 64)
    let count = readlink(path, &text, text.count - 1)
    return String(decoding: text.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  @Test("with the sandbox switched off, only the limits stand")
  func off() async throws {
    var configuration = MediaProcess.Configuration()
    configuration.sandbox = .off
    let slot = try MediaProcess(name: "open", configuration: configuration)
    #expect(try await slot.walls(loading: .clips).filter(\.isUp).map(\.wall) == [.limits])
    await slot.stop()
  }
}
