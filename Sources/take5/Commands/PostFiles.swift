import Model
import Postgres

extension Subcommand {
  static let postsFiles = Subcommand(
    "posts files",
    abstract: "List the stored files of a post or an image, also its sources, which no service sends.",
    operands: ["ID"], options: Option.storeAccess,
    example: "take5 posts files 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70"
  ) { arguments in
    let id = try postID(arguments.operands[0])
    let files = try await DatabaseAccess.use(arguments) { pool in
      try await storedFiles(of: id, pool)
    }
    let reports = files.map { StoredFileReport($0) }
    if arguments.has(Option.json.name) {
      for report in reports { try Console.print(try JSON.text(report)) }
    } else if reports.isEmpty {
      try Console.print("\(id) has no files")
    } else {
      for line in StoredFileReport.lines(reports) { try Console.print(line) }
    }
    return .success
  }

  static let postsExport = Subcommand(
    "posts export", abstract: "Copy the files of a post or an image out of the store, and compare each with its hash.",
    operands: ["ID"],
    options: [
      Option("--to", "DIR", help: "folder for the files, which replace no others; it is created if it does not exist"),
      Option("--sources", help: "also the files as they were submitted, which contain place and device"),
    ] + Option.storeAccess,
    example: "take5 posts export 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70 --to moment --sources"
  ) { arguments in
    let id = try postID(arguments.operands[0])
    guard let folder = arguments.value("--to") else {
      throw CommandFailure(.usage, "no output given", remedy: "name a folder with --to DIR")
    }
    let withSources = arguments.has("--sources")
    let reports = try await StoreIntegrity.use(arguments) { integrity in
      let files = try await storedFiles(of: id, integrity.pool)
      return try PostExport.write(files.filter { withSources || !$0.isSource }, from: integrity.blobs, to: folder)
    }
    if reports.isEmpty { Console.note("take5: \(id) has no files to export") }
    for report in reports {
      try Console.print(arguments.has(Option.json.name) ? try JSON.text(report) : report.path ?? report.name)
    }
    return .success
  }

  /// Reads the files of a post or an image; status 66 if there is none.
  private static func storedFiles(of id: PublicID, _ pool: Pool) async throws -> [StoredFile] {
    let files = try await pool.run { session in
      try session.snapshot { session in try StoredFile.all(of: id, session) }
    }
    guard let files else {
      throw CommandFailure(
        .inputMissing, "no post or image of this store has the id \(id)",
        remedy: "check the id, and that --data or --database names the store of its service")
    }
    return files
  }
}
