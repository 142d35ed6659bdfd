import AV

/// The process-wide settings and the versions of the media libraries.
package enum MediaLibraries {
  /// Disables the libraries' log and limits single allocations; called once, before any other media work in the
  /// process.
  ///
  /// - Parameters:
  ///   - maxAllocation: in bytes; the libraries refuse larger ones, whatever a header claims.
  ///   - isPortable: whether SIMD code is disabled; the outputs are the same.
  package static func configure(maxAllocation: Int = 512 << 20, isPortable: Bool = false) {
    Library.configure(maxAllocation: maxAllocation, isPortable: isPortable)
  }

  /// The versions at run time, by library; they are part of the recipe.
  package static var versions: [String: String] { Library.versions }
}
