import Blobs
import Integrity
import Model
import Platform
import Postgres

extension Subcommand {
  static let restore = Subcommand(
    "restore", abstract: "Make a store from a backup, where there is none yet, and verify it.", operands: ["DIR"],
    options: [
      Option(
        "--revoke-keys", help: "revoke all API keys: otherwise keys that were revoked after the backup are valid again"),
      .parallelCopies,
    ] + Option.storeAccess + Option.listening,
    example: "take5 restore /var/backups/take5 --data restored"
  ) { arguments in
    let folder = BackupFolder(arguments.operands[0])
    let data = arguments.value(Option.data.name) ?? ""
    do {
      // A new store belongs to the user to whom the backup does.
      if let owner = StoreOwner.unlessRoot(of: data) ?? StoreOwner.unlessRoot(of: folder.path, creating: data) {
        try owner.takeEmpty(data)
        return try await owner.run()
      }
      let result = try await StoreRestore(folder, arguments).run()
      try Console.print(arguments.has(Option.json.name) ? try JSON.text(result) : result.text)
      return result.isWhole ? .success : .inconsistent
    } catch let refusal as BackupRefusal {
      throw CommandFailure(
        .io, "\(folder.path) cannot be restored: \(refusal)",
        remedy: "name another backup, or use the version of take5 that made it")
    } catch let error as UnreadableDump {
      throw CommandFailure(
        .io, "the dump in \(folder.path) cannot be read: \(error)", remedy: "name another backup")
    } catch let error as BlobError {
      throw CommandFailure(
        .io, "the blobs cannot be copied: \(error)", remedy: "run the command again: it copies the rest")
    } catch let error as SystemError {
      throw CommandFailure(
        .io, "the backup in \(folder.path) cannot be restored: \(error)",
        remedy: "make its files readable for user \(StoreOwner.current), and the data folder writable")
    }
  }
}
