import Definitions
import Glibc
import MediaFixtures
import MediaProcess
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

/// Media that refer to other files and to addresses, seen by a trace of system calls.
@Suite(
  "External references", .tags(.process), .serialized, .timeLimit(.minutes(60)),
  .enabled(if: geteuid() == 0, "only root can trace a media process"))
struct ExternalReferenceTests {
  /// One request with the media of a slot, as a worker makes it.
  private struct Requests {
    let slot: MediaProcess
    let definition: Definition
    let back: OpenFile
    let cancellation = CancellationFlag()

    init(_ slot: MediaProcess) throws {
      self.slot = slot
      definition = try Definitions.take5Post()
      back = try Clips.back.write()
    }

    func probe(_ file: OpenFile) async throws {
      _ = try await slot.process(
        [.clip: file], limits: definition.limits, deadline: .seconds(60), cancellation: cancellation
      ) { _ in nil }
    }

    /// Composes two valid clips, of which the front one has other content after the probe: the demuxer opens it without
    /// the checks of one.
    func run(_ content: [UInt8]) async throws {
      let (front, output) = (try Clips.front.write(), try TemporaryFile.make())
      let isPlanned = CancellationFlag()
      _ = try await slot.process(
        [.front: front, .back: back], limits: definition.limits, deadline: .seconds(60), cancellation: cancellation
      ) { [definition] facts in
        guard let first = facts[.front], let second = facts[.back] else { return nil }
        guard ftruncate(front.descriptor.number, 0) == 0 else { throw SystemError(call: "ftruncate") }
        try front.descriptor.write(content, at: 0)
        isPlanned.cancel()
        let plan = Planner(definition).plan(front: first, back: second, foreground: .front, roles: [.composed])
        return (plan, [.composed: output])
      }
      #expect(isPlanned.isCancelled)
    }

    func photo(_ file: OpenFile) async throws {
      let limits = try #require(try Definitions.photo("reaction")).limits
      _ = try await slot.photo(
        PhotoPlan(limits: limits, variants: [:]), photo: file, outputs: [:], deadline: .seconds(60),
        cancellation: cancellation)
    }
  }

  @Test(
    "a child opens and connects to nothing, and ends with a reply, with and without walls",
    arguments: [SandboxMode.off, .available])
  func child(sandbox: SandboxMode) async throws {
    let folder = try TemporaryFolder()
    let bait = try Bait(in: folder)
    var configuration = MediaProcess.Configuration()
    configuration.sandbox = sandbox
    let slot = try MediaProcess(name: "traced", configuration: configuration)
    // Starts the server with all libraries.
    _ = try await slot.walls(loading: .clips)
    let trace = try await SystemCallTrace.attach(to: [try #require(await slot.processID)], in: folder.path)

    let requests = try Requests(slot)
    let media = try ReferencingMedia.all(referringTo: bait)
    for media in media {
      let file = try TemporaryFile.make(media.bytes)
      await #expect(throws: Never.self, "a probe of \(media.name)") { try await requests.probe(file) }
      await #expect(throws: Never.self, "a run of \(media.name)") { try await requests.run(media.bytes) }
      await #expect(throws: Never.self, "a photo: \(media.name)") { try await requests.photo(file) }
    }
    await slot.stop()
    let calls = try await trace.end()
    #expect(calls.count { $0.isRequest } == 4 * media.count)
    #expect(calls.filter { !$0.isOnOwnDescriptor } == [])
    #expect(!bait.wasReached)
  }

  @Test("a trace shows a child that opens a file or makes a socket")
  func attacks() async throws {
    let folder = try TemporaryFolder()
    var configuration = MediaProcess.Configuration(executable: try ThisProcess.folder() + "/hostile-media")
    configuration.sandbox = .off
    let slot = try MediaProcess(name: "hostile", configuration: configuration)
    _ = try await slot.walls(loading: .clips)
    let trace = try await SystemCallTrace.attach(to: [try #require(await slot.processID)], in: folder.path)
    let requests = try Requests(slot)
    for attack in ["openat", "socket", "connect"] {
      let file = try TemporaryFile.make(Array(attack.utf8))
      await #expect(throws: MediaFailure.self, "\(attack)") { try await requests.photo(file) }
    }
    await slot.stop()
    let calls = try await trace.end()
    #expect(calls.count { $0.isRequest } == 3)
    #expect(calls.filter { !$0.isOnOwnDescriptor }.map(\.name) == ["openat", "socket", "connect"])
  }

  @Test("a command opens and connects to nothing that its media name")
  func command() async throws {
    let folder = try TemporaryFolder()
    let (bait, traces) = (try Bait(in: folder), try TemporaryFolder())
    let media = try ReferencingMedia.all(referringTo: bait)
    let paths = try media.enumerated().map { index, media in
      try Clips.write(media.bytes, "\(index).mp4", in: folder)
    }
    let (command, calls) = try await SystemCallTrace.run(
      ["inspect", "--json", "--sandbox", "off"] + paths, in: traces.path)
    #expect(command.status == 65, "\(command)")
    #expect(command.output.split(separator: "\n").count == paths.count, "\(command)")
    #expect(paths.allSatisfy { path in calls.contains { $0.description.contains(path) } })
    #expect(calls.filter { $0.name == "connect" || bait.isNamed(in: $0) } == [])
    #expect(!bait.wasReached)
  }

  @Test("the service opens and connects to nothing that a submission names")
  func service() async throws {
    let service = try await Service(["--background-slots", "0"])
    let bait = try Bait(in: service.folder)
    let back = try TemporaryFile.bytes(of: Clips.back.write())
    let api = try service.api()
    let (moment, photo) = (#"{"author":"ada"}"#, #"{"kind":"photo","author":"ada"}"#)
    // Starts the media process, with all libraries.
    let valid = try await api.submit(
      "/v1/posts",
      [
        ("front", try TemporaryFile.bytes(of: Clips.front.write())), ("back", back), ("post", Array(moment.utf8)),
      ])
    #expect(valid["status"]?.text == "ready")
    let process = try #require(await service.process.process)
    let servers = RunningTake5.children(of: process, named: "take5-media")
    // That of the outputs, and that of first looks.
    #expect(servers.count == 2)
    let (serviceFolder, mediaFolder) = (try TemporaryFolder(), try TemporaryFolder())
    let serviceTrace = try await SystemCallTrace.attach(to: [process], in: serviceFolder.path)
    let mediaTrace = try await SystemCallTrace.attach(to: servers, in: mediaFolder.path)

    for media in try ReferencingMedia.all(referringTo: bait) {
      for parts in [
        [("front", media.bytes), ("back", back), ("post", Array(moment.utf8))],
        [("photo", media.bytes), ("post", Array(photo.utf8))],
      ] {
        let response = try await api.submit("/v1/posts", parts)
        let isDecided = response.status == 422 || ["ready", "rejected"].contains(response["status"]?.text)
        #expect(isDecided, "\(media.name): \(response.status) \(response["status"]?.text ?? "")")
      }
    }
    #expect(try await service.stop() == 0)
    let (serviceCalls, mediaCalls) = (try await serviceTrace.end(), try await mediaTrace.end())
    #expect(serviceCalls.contains { $0.name == "recvmsg" || $0.name == "openat" })
    #expect(serviceCalls.filter { bait.isNamed(in: $0) } == [])
    #expect(mediaCalls.contains { $0.isRequest })
    #expect(mediaCalls.filter { !$0.isOnOwnDescriptor } == [])
    #expect(!bait.wasReached)
  }
}

extension SystemCallTrace.Call {
  /// Whether a media process receives a request.
  fileprivate var isRequest: Bool {
    ["probe", "run", "photo"].contains { description.contains(#"{\"message\":{\"\#($0)\""#) } && name == "recvmsg"
  }

  /// Whether it concerns a descriptor that a media process was given: a message of its socket, the status of a file
  /// (newfstatat(2), by which fstat(3) of glibc 2.33 and later is made).
  fileprivate var isOnOwnDescriptor: Bool {
    switch name {
    case "recvmsg", "sendmsg": description.hasPrefix("\(name)(\(MediaProcess.socketNumber),")
    case "newfstatat":
      description.dropFirst(name.count + 1).first?.isNumber == true && description.contains(", \"\", ")
        && description.contains("AT_EMPTY_PATH")
    default: false
    }
  }
}
