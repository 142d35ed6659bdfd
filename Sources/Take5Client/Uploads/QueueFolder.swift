import Foundation

/// The folder of a queue: a folder for each submission, with its record and its files. It appears and disappears by a rename.
struct QueueFolder: Sendable {
  let url: URL

  /// The folder for a service in Application Support, which the system does not clear.
  static func standard(for service: URL) -> URL {
    let places = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
    let name = "\(service.host ?? "service")-\(service.port ?? 443)"
    return (places.first ?? FileManager.default.temporaryDirectory).appending(path: "take5/\(name)")
  }

  private func folder(_ id: UUID) -> URL { url.appending(path: id.uuidString) }
  func file(_ file: UploadRecord.File, of id: UUID) -> URL { folder(id).appending(path: file.name) }
  private func record(_ id: UUID) -> URL { folder(id).appending(path: "record.json") }

  /// Adds a submission with its files, or nothing at all.
  ///
  /// A file becomes a second name of the same bytes, so that the app may delete its own; where that is not possible it is copied.
  func add(_ record: UploadRecord, files: [URL]) throws(Take5Error) {
    let building = url.appending(path: ".\(record.id.uuidString)")
    do {
      try FileManager.default.createDirectory(at: building, withIntermediateDirectories: true)
      for (file, source) in zip(record.files, files) {
        let name = building.appending(path: file.name)
        do {
          try FileManager.default.linkItem(at: source, to: name)
        } catch {
          try FileManager.default.copyItem(at: source, to: name)
        }
      }
      try AtomicFile.write(JSONEncoder().encode(record), to: building.appending(path: "record.json"))
      try AtomicFile.rename(building, to: folder(record.id))
    } catch {
      AtomicFile.remove(building)
      throw .file("The submission cannot be stored: \(error.localizedDescription)")
    }
  }

  /// Stores a change of a record.
  func save(_ record: UploadRecord) throws(Take5Error) {
    do {
      try AtomicFile.write(JSONEncoder().encode(record), to: self.record(record.id))
    } catch {
      throw .file("The queue cannot be stored: \(error.localizedDescription)")
    }
  }

  /// The record of a submission, or nil if it is not there any more, or cannot be read.
  func read(_ id: UUID) -> UploadRecord? {
    do {
      let record = try JSONDecoder().decode(UploadRecord.self, from: Data(contentsOf: self.record(id)))
      return record.id == id && record.isSound ? record : nil
    } catch {
      return nil
    }
  }

  /// All submissions, the oldest first.
  func records() -> [UploadRecord] {
    let names: [String]
    do { names = try FileManager.default.contentsOfDirectory(atPath: url.path) } catch { return [] }
    return names.compactMap(UUID.init(uuidString:)).compactMap(read).sorted { $0.createdAt < $1.createdAt }
  }

  func contains(_ id: UUID) -> Bool { FileManager.default.fileExists(atPath: record(id).path) }

  /// Removes a submission.
  func remove(_ id: UUID) {
    let removed = url.appending(path: ".\(UUID().uuidString)")
    do { try AtomicFile.rename(folder(id), to: removed) } catch { return }
    AtomicFile.remove(removed)
  }

  /// Removes what a process left behind that ended while it added or removed a submission.
  func removeRemains() {
    let names: [String]
    do { names = try FileManager.default.contentsOfDirectory(atPath: url.path) } catch { return }
    for name in names where name.utf8.first == UInt8(ascii: ".") {
      let remains = url.appending(path: name)
      // A young one may belong to another process which is still at it.
      let values: URLResourceValues
      do { values = try remains.resourceValues(forKeys: [.contentModificationDateKey]) } catch { continue }
      if let date = values.contentModificationDate, date.timeIntervalSinceNow < -3600 { AtomicFile.remove(remains) }
    }
  }

  /// Makes the caller the one who sends a submission; nil while another queue or process does.
  func claim(_ id: UUID) -> Claim? { Claim(path: folder(id).path) }

  /// The right to send a submission, which the system takes back when the process ends.
  final class Claim: Sendable {
    private let descriptor: Int32

    fileprivate init?(path: String) {
      descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return nil }
      if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
        close(descriptor)
        return nil
      }
    }

    deinit { close(descriptor) }
  }
}
