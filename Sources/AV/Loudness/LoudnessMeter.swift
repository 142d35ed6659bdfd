internal import CEBUR128
import Glibc
import Platform

/// Measures the loudness and the true peak of two channels at 48 kHz (ITU-R BS.1770-4, EBU R 128; libebur128).
package struct LoudnessMeter: ~Copyable {
  private let state: UnsafeMutablePointer<ebur128_state>

  /// The sample rate, in hertz.
  package static let sampleRate = 48_000
  package static let channels = 2

  private static let isLoaded: Void = SharedLibraries.open("libebur128.so.1")

  /// Loads the library. Call this before a process can open no more files.
  package static func load() { isLoaded }

  /// The run-time version of the library.
  package static var version: String {
    load()
    var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
    ebur128_get_version(&major, &minor, &patch)
    return "\(major).\(minor).\(patch)"
  }

  package init() throws(AVError) {
    Self.load()
    let mode = Int32(bitPattern: EBUR128_MODE_I.rawValue | EBUR128_MODE_TRUE_PEAK.rawValue)
    guard let state = ebur128_init(2, 48_000, mode) else { throw .outOfMemory("ebur128_init") }
    self.state = state
  }

  deinit {
    var state: UnsafeMutablePointer<ebur128_state>? = state
    ebur128_destroy(&state)
  }

  // 48 dB above full scale.
  private static let maxSample: Float = 256

  /// Measures the first samples of a frame of planar floats. What is no audio, as damage decodes to it, counts as silence.
  package func add(_ frame: borrowing Frame, count: Int) throws(AVError) {
    guard count > 0, let left = frame.samples(ofChannel: 0), let right = frame.samples(ofChannel: 1),
      count <= left.count, count <= right.count
    else { return }
    let status = withUnsafeTemporaryAllocation(of: Float.self, capacity: Self.channels * count) { samples in
      for index in 0..<count {
        samples.initializeElement(at: 2 * index, to: Self.audible(left[index]))
        samples.initializeElement(at: 2 * index + 1, to: Self.audible(right[index]))
      }
      return ebur128_add_frames_float(state, samples.baseAddress, count)
    }
    guard status == 0 else { throw .outOfMemory("ebur128_add_frames_float") }
  }

  private static func audible(_ sample: Float) -> Float { abs(sample) <= maxSample ? sample : 0 }

  /// The integrated loudness in LUFS; nil of silence, and of less than 0.4 s.
  package var loudness: Double? {
    var loudness = 0.0
    guard ebur128_loudness_global(state, &loudness) == 0, loudness.isFinite else { return nil }
    return loudness
  }

  /// The largest magnitude between samples, of both channels, in dB of full scale; nil of silence.
  package var truePeak: Double? {
    var (left, right) = (0.0, 0.0)
    guard ebur128_true_peak(state, 0, &left) == 0, ebur128_true_peak(state, 1, &right) == 0, max(left, right) > 0
    else { return nil }
    return 20 * log10(max(left, right))
  }
}
