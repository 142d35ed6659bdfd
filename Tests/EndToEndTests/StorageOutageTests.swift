import Glibc
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

/// Where root may mount: the folder of blobs is a file system of its own, which is full, read-only or gone for a while.
@Suite(
  "A storage that fails for a while", .tags(.process), .serialized, .timeLimit(.minutes(10)),
  .enabled("a file system can be mounted by root alone") { MountedFolder.isAllowed })
struct StorageOutageTests {
  enum Outage: CaseIterable {
    case full, readOnly, gone
  }

  @Test("what was accepted waits, pauses the queue, costs no attempt, and is ready once the storage is back", arguments: Outage.allCases)
  func waiting(_ outage: Outage) async throws {
    let service = try await Service(workers: 0, ["--least-free", "0"])
    let disk = try MountedFolder("\(service.data)/blobs", megabytes: 96)
    let front = try Clips.write(MarkedClip(.red, tone: .init(440)), "front.mp4", in: service.folder)
    let back = try Clips.write(MarkedClip(.blue, tone: .init(1000)), "back.mp4", in: service.folder)
    let post = try await service.submitted(front: front, back: back).id
    switch outage {
    case .full: try disk.fill()
    case .readOnly: try disk.forbidWriting()
    case .gone: try disk.hide()
    }
    let worker = try await service.worker()
    // More often than a job has attempts.
    for _ in 0..<6 { #expect(await worker.waitForLog("an attempt could not be made"), "\(worker.log)") }
    #expect(worker.log.contains("the queue is paused"))
    #expect(try await service.post(post).status == .processing)
    #expect(try await service.get("/readyz").status == 503)
    switch outage {
    case .full: disk.empty()
    case .readOnly: try disk.allowWriting()
    case .gone: try disk.show()
    }
    #expect(await worker.waitForLog("post published"), "\(worker.log)")
    #expect(await worker.waitForLog("the queue goes on"), "\(worker.log)")
    #expect(try await service.post(post).status == .ready)
    #expect(try await service.count("SELECT attempt::int FROM job_done") == 1)
    #expect(try await service.get("/readyz").status == 200)
    await worker.send(signal: SIGTERM)
    #expect(await worker.wait() == 0)
    try await service.stop()
  }
}

/// A folder that is a small file system of its own.
final class MountedFolder: Sendable {
  private let folder: String

  /// Whether this process may mount.
  static let isAllowed: Bool = {
    guard let folder = try? TemporaryFolder(prefix: "take5-mount") else { return false }
    return (try? MountedFolder(folder.path, megabytes: 1)) != nil
  }()

  /// Moves what lies in the folder onto the file system.
  init(_ folder: String, megabytes: Int) throws {
    self.folder = folder
    let aside = "\(folder).aside"
    guard rename(folder, aside) == 0 else { throw SystemError(call: "rename", subject: folder) }
    try Folder.make(folder, mode: 0o700)
    guard mount("tmpfs", folder, "tmpfs", 0, "size=\(megabytes)m,mode=0700") == 0 else {
      let error = SystemError(call: "mount", subject: folder)
      rmdir(folder)
      rename(aside, folder)
      throw error
    }
    let copy = try ChildProcess(.init(path: "/bin/cp", arguments: ["-a", "\(aside)/.", folder]))
    guard copy.wait() == .exited(0) else { throw SystemError(call: "cp", subject: folder) }
    try Folder.remove(aside)
  }

  deinit { umount2(folder, Int32(MNT_DETACH)) }

  /// Takes all the room that is left, but for what a check needs.
  func fill() throws {
    let ballast = try Descriptor(writing: "\(folder)/.ballast", replacing: true)
    let zeros = [UInt8](repeating: 0, count: 1 << 12)
    while (try? ballast.write(zeros)) != nil {}
  }

  func empty() { unlink("\(folder)/.ballast") }

  func forbidWriting() throws { try remount(UInt(MS_REMOUNT | MS_RDONLY)) }

  func allowWriting() throws { try remount(UInt(MS_REMOUNT)) }

  /// An empty file system lies over it, as if the right one were not mounted.
  func hide() throws {
    guard mount("tmpfs", folder, "tmpfs", 0, "size=1m,mode=0700") == 0 else {
      throw SystemError(call: "mount", subject: folder)
    }
  }

  func show() throws {
    guard umount2(folder, 0) == 0 else { throw SystemError(call: "umount", subject: folder) }
  }

  private func remount(_ flags: UInt) throws {
    guard mount("tmpfs", folder, nil, flags, nil) == 0 else { throw SystemError(call: "mount", subject: folder) }
  }
}
