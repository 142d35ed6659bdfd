import AV
import Model

/// The process-wide settings and the versions of the media libraries.
package enum MediaLibraries {
  /// The maximum size of one allocation of the libraries, in bytes, whatever a header claims.
  package static let maxAllocation = 512 << 20

  /// Disables the libraries' log and limits single allocations; called once, before any other media work in the
  /// process.
  ///
  /// - Parameter isPortable: whether SIMD code is disabled; the outputs are the same.
  package static func configure(isPortable: Bool = false) {
    Library.configure(maxAllocation: maxAllocation, isPortable: isPortable)
    LoudnessMeter.load()
  }

  /// The versions at run time, by library; they are part of the recipe.
  package static var versions: [String: String] {
    var versions = Library.versions
    versions[AudioPlan.loudnessLibrary] = LoudnessMeter.version
    return versions
  }

  /// The decoders of the allowed codecs, and the encoders of the outputs, that the libraries lack.
  package static var missingCodecs: [String] {
    Library.missing(
      decodersOf: AllowedCodecs.video + AllowedCodecs.audio + AllowedCodecs.namedAudio + [GIFFrame.codec],
      encoders: [VideoTrack.encoderName, PreviewWriter.encoderName, AudioEncoder.defaultName])
  }
}
