import AV

/// The libraries under the media work, as far as a whole process is concerned.
package enum MediaLibraries {
  /// Silences them and bounds one allocation; call once, before any other media work in the process.
  ///
  /// - Parameters:
  ///   - largestAllocation: in bytes; no header can make them ask for more in one piece.
  ///   - isPortable: whether the processor's vector units are left unused; the outputs are the same.
  package static func configure(largestAllocation: Int = 512 << 20, isPortable: Bool = false) {
    Library.configure(largestAllocation: largestAllocation, isPortable: isPortable)
  }

  /// Their versions at run time, by name: a part of what decides about the bytes of an output.
  package static var versions: [String: String] { Library.versions }
}
