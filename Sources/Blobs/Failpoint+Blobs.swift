package import Platform

extension Failpoint {
  static let stage = Failpoint("blob.stage")
  static let synchronize = Failpoint("blob.synchronize")
  static let link = Failpoint("blob.link")
  static let replace = Failpoint("blob.replace")
  static let synchronizeFolder = Failpoint("blob.synchronize_folder")
  static let remove = Failpoint("blob.remove")

  /// What is done to files of a blob store.
  package static let blobs = [stage, synchronize, link, replace, synchronizeFolder, remove]
}
