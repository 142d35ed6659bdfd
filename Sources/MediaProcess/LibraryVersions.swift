import Media

/// The media libraries at run time, by name: they are a part of what decides about the bytes of an output.
package enum LibraryVersions {
  package static var current: [String: String] { MediaLibraries.versions }
}
