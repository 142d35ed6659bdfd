package import Model

/// The definitions that are built in, so that no verb depends on the current folder.
package enum Definitions {
  /// A post of both clips of one moment.
  package static func take5Post() throws -> Definition {
    try JSON.decode(Definition.self, from: PackageResources.take5_post_json)
  }
}
