import Definitions
import Glibc
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

private let namespaces: Testing.Comment = "a chroot permits no namespace of users, and no root of one's own"

private func permitsNamespaces() async throws -> Bool {
  try await Take5Command.run(["--user", "true"], program: "/usr/bin/unshare").status == 0
}

@Suite("Walls by user", .tags(.process), .serialized)
struct OrdinaryUserTests {
  private struct Report: Decodable {
    struct Result: Decodable {
      let check: String
      let subject: String
      let level: String
      let detail: String
    }
    let results: [Result]
  }

  /// Copies of the programs, two clips and a definition with few pixels in a folder that every user can read.
  private func folder() async throws -> TemporaryFolder {
    let folder = try TemporaryFolder(prefix: "take5-user")
    // By a process of its own: what this one has open for writing, a child of another test may have, too, and then it does not start.
    let copy = try await Take5Command.run(
      ["--mode=755", Take5Binary.path, Take5Binary.mediaPath, folder.path], program: "/usr/bin/install")
    try #require(copy.status == 0, "\(copy)")
    for (name, content, mode) in [
      ("front.mp4", try TemporaryFile.bytes(of: Clips.front.write()), UInt32(0o644)),
      ("back.mp4", try TemporaryFile.bytes(of: Clips.back.write()), 0o644),
      ("small.json", try JSON.encode(Definitions.small()), 0o644),
    ] {
      try Descriptor(writing: "\(folder.path)/\(name)", replacing: false, mode: mode).write(content)
    }
    chmod(folder.path, 0o777)
    return folder
  }

  private func run(as user: String?, _ folder: TemporaryFolder, _ arguments: [String]) async throws -> Take5Command {
    guard let user else { return try await Take5Command.run(arguments, program: "\(folder.path)/take5") }
    let identity = ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", "\(folder.path)/take5"]
    return try await Take5Command.run(identity + arguments, program: "/usr/bin/setpriv")
  }

  @Test(
    "root and an ordinary user each have all walls but the cgroup, and compose behind them",
    .enabled(if: geteuid() == 0, "only root can become another user"), .enabled(namespaces, permitsNamespaces),
    arguments: [nil, "65534"])
  func required(user: String?) async throws {
    let folder = try await folder()
    let doctor = try await run(
      as: user, folder,
      ["doctor", "--json", "--sandbox", "required", "--data", "\(folder.path)/none", "--listen", "127.0.0.1:0"])
    #expect(doctor.status == 0, "\(doctor)")
    let report = try JSON.decode(Report.self, from: Array(doctor.output.utf8))
    let walls = report.results.filter { $0.check == "walls" }
    #expect(walls.count == 13)
    #expect(
      walls.filter { $0.level != "ok" && $0.subject != "cgroup" && $0.subject != "landlock" }.map(\.subject) == [])
    let composed = try await run(
      as: user, folder,
      [
        "compose", "\(folder.path)/front.mp4", "\(folder.path)/back.mp4", "-o", "\(folder.path)/\(user ?? "root").mp4",
        "--sandbox", "required", "--definition", "\(folder.path)/small.json",
      ])
    #expect(composed.status == 0, "\(composed)")
  }

  @Test(
    "a user who may not use a store is refused with the name of its owner, and not sent to create another one",
    .enabled(if: geteuid() == 0, "only root can become another user"))
  func denied() async throws {
    let folder = try await folder()
    let data = "\(folder.path)/data"
    #expect(try await run(as: nil, folder, ["init", "--data", data]).status == 0)
    #expect(chmod(data, 0o700) == 0)
    for command in [
      ["jobs", "list"], ["keys", "list"], ["gc", "hold"], ["verify"], ["database", "--data", data, "--", "true"],
      ["database", "upgrade"], ["backup", "\(folder.path)/backup"], ["serve", "--listen", "127.0.0.1:0"],
    ] {
      let options = command.contains("--data") ? [] : ["--data", data]
      let refused = try await run(as: "65534", folder, command + options)
      #expect(refused.status == 74, "\(command): \(refused)")
      #expect(refused.errors.contains("belongs to user root") && refused.errors.contains("sudo -u root take5"))
      #expect(!refused.errors.contains("take5 init"), "\(refused)")
    }
    let doctor = try await run(as: "65534", folder, ["doctor", "--data", data, "--listen", "127.0.0.1:0"])
    #expect(doctor.status == 1 && doctor.output.contains("sudo -u root take5"), "\(doctor)")
    #expect(!doctor.output.contains("take5 init"), "\(doctor)")
  }

  @Test(
    "root writes nothing into a folder of another user, or one in which others may write",
    .enabled(if: geteuid() == 0, "only root can become another user"))
  func foreign() async throws {
    let folder = try await folder()
    let (data, target) = ("\(folder.path)/foreign", "\(folder.path)/target")
    try Folder.make(data, mode: 0o755)
    try Folder.make("\(target)/blobs")
    func isRefused(_ reason: String, _ remedy: String) async throws {
      for command in [["init"], ["serve", "--listen", "127.0.0.1:0"], ["keys", "list"], ["verify"]] {
        let refused = try await run(as: nil, folder, command + ["--data", data])
        #expect(refused.status == 74, "\(command): \(refused)")
        #expect(refused.errors.contains(reason) && refused.errors.contains(remedy), "\(refused)")
      }
      let written = try Folder.names(in: target) + Folder.names(in: "\(target)/blobs")
      #expect(written == ["blobs"])
    }
    let links = [
      ("postgres.lock", "lock"), ("postgres.service", "service"), ("postgres.log", "log"), ("postgres.id.tmp", "id"),
      ("postgres.url.tmp", "url"), ("blobs", "blobs"),
    ]
    for (name, file) in links { #expect(symlink("\(target)/\(file)", "\(data)/\(name)") == 0) }
    #expect(chown(data, 65534, 65534) == 0)
    let owner = "belongs to user \(String(cString: getpwuid(65534).pointee.pw_name))"
    try await isRefused(owner, "sudo -u \(String(cString: getpwuid(65534).pointee.pw_name)) take5")
    #expect(chown(data, 0, 0) == 0 && lchown("\(data)/blobs", 65534, 65534) == 0)
    try await isRefused(owner, "sudo -u")
    for (name, _) in links { #expect(unlink("\(data)/\(name)") == 0) }
    #expect(chmod(data, 0o777) == 0)
    try await isRefused("can be written by other users", "chmod go-w \(data)")
    #expect(chmod(data, 0o755) == 0)
    let made = try await run(as: nil, folder, ["init", "--data", data])
    #expect(made.status == 0, "\(made)")
  }

  @Test(
    "other processes of its user see neither the memory nor the descriptors of a service, which works and is found",
    .enabled(if: geteuid() == 0, "only root can become another user"), arguments: ["serve", "worker"])
  func hidden(command: String) async throws {
    let folder = try await folder()
    let data = "\(folder.path)/hidden"
    func start(_ arguments: [String]) async throws -> (process: RunningTake5, url: String) {
      let process = try RunningTake5()
      let identity = ["--reuid=65534", "--regid=65534", "--clear-groups", "\(folder.path)/take5"]
      let url = try await process.start(
        identity + arguments + ["--data", data, "--log-format", "text"], program: "/usr/bin/setpriv",
        printsFirstLine: arguments.first == "serve")
      return (process, url)
    }
    let slots = command == "serve" ? "1" : "0"
    let (service, url) = try await start(["serve", "--listen", "127.0.0.1:0", "--slots", slots])
    var hidden = service
    if command == "worker" {
      hidden = try await start(["worker"]).process
      #expect(await hidden.waitForLog("worker started"))
    }
    let id = try #require(await hidden.process)
    for name in ["fd", "environ", "maps"] {
      var status = stat()
      #expect(stat("/proc/\(id)/\(name)", &status) == 0 && status.st_uid == 0, "\(name)")
    }
    let limits = try Descriptor(reading: "/proc/\(id)/limits").bytes(count: 4096, at: 0)
    let core = String(decoding: limits, as: UTF8.self).split(separator: "\n").first {
      $0.hasPrefix("Max core file size")
    }
    #expect(core?.split(separator: " ").dropFirst(4).prefix(2) == ["0", "0"])
    let posted = try await run(
      as: "65534", folder,
      [
        "submit", "post", "\(folder.path)/front.mp4", "\(folder.path)/back.mp4", "--author", "ada", "--server", url,
        "--wait",
      ])
    #expect(posted.status == 0, "\(posted) \(hidden.log)")
    let address = String(url.dropFirst("http://".count))
    let doctor = try await run(as: "65534", folder, ["doctor", "--data", data, "--listen", address])
    #expect(doctor.output.contains("listens on \(address): take5, which is running"), "\(doctor)")
    for process in command == "serve" ? [service] : [hidden, service] {
      await process.send(signal: SIGTERM)
      #expect(await process.wait() == 0)
    }
  }

  @Test(
    "where the machine permits no user and no namespace, the default works with a warning, and required refuses",
    .enabled(if: geteuid() == 0, "only root can take the walls away"), .enabled(namespaces, permitsNamespaces))
  func missing() async throws {
    let folder = try await folder()
    func compose(_ mode: String) async throws -> Take5Command {
      // In a user namespace that maps no user, a process may make no other one.
      try await Take5Command.run(
        [
          "--user", "\(folder.path)/take5", "compose", "\(folder.path)/front.mp4", "\(folder.path)/back.mp4", "-o",
          "\(folder.path)/\(mode).mp4", "--sandbox", mode, "--definition", "\(folder.path)/small.json",
        ], program: "/usr/bin/unshare")
    }
    let refused = try await compose("required")
    #expect(refused.status == 78, "\(refused)")
    #expect(refused.errors.contains("mounts") && refused.errors.contains("user"), "\(refused)")
    let available = try await compose("available")
    #expect(available.status == 0, "\(available)")
  }
}
