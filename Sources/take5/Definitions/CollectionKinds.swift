/// The kinds of collections of a service: the built-in ones, and the ones that a folder defines.
enum CollectionKinds {
  static let option = Option(
    "--collections", "DIR", variable: "TAKE5_COLLECTIONS",
    help: "folder with definitions of further kinds of collections, each a file *.json such as "
      + "'take5 definition show album' prints")
}
