import AV

/// The libraries under the media work, as far as a whole process is concerned.
package enum MediaLibraries {
  /// Silences them and bounds one allocation; call once, before any other media work in the process.
  ///
  /// - Parameter largestAllocation: in bytes; no header can make them ask for more in one piece.
  package static func configure(largestAllocation: Int = 512 << 20) {
    Library.configure(largestAllocation: largestAllocation)
  }

  /// Their versions at run time, by name: a part of what decides about the bytes of an output.
  package static var versions: [String: String] { Library.versions }
}
