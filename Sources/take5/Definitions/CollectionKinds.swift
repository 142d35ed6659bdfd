/// The kinds of collections of a service: those that are built in, and those of a folder.
enum CollectionKinds {
  static let option = Option(
    "--collections", "DIR", variable: "TAKE5_COLLECTIONS",
    help: "folder with definitions of further kinds of collections, each a file *.json such as that of "
      + "'take5 definition show album'")
}
