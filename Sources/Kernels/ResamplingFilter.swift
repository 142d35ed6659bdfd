internal import CKernels
import Glibc
import Synchronization

/// Which samples of a row make each sample of another, and with which weights: Lanczos with three lobes, for a shorter
/// row widened by the ratio so that it is the low pass too (Turkowski, "Filters for Common Resampling Tasks", 1990).
///
/// At the edges the weights of the samples that are there are scaled up to one.
package final class ResamplingFilter: Sendable {
  /// Samples that each sample is made of.
  package let taps: Int
  /// The first of them, for each sample of the target.
  package let starts: [UInt32]
  /// 14-bit fractions, `taps` for each sample of the target.
  package let weights: [Int16]

  /// The filters that were computed last: photos have few sizes.
  private static let known = Mutex<[(source: Int, target: Int, filter: ResamplingFilter)]>([])
  private static let maxKnown = 32

  /// The filter from one length to another, computed where it is not known yet.
  package static func shared(from source: Int, to target: Int) -> ResamplingFilter {
    let found = known.withLock { known in known.first { $0.source == source && $0.target == target }?.filter }
    if let found { return found }
    let filter = ResamplingFilter(from: source, to: target)
    known.withLock { known in
      if known.count == maxKnown { known.removeFirst() }
      known.append((source, target, filter))
    }
    return filter
  }

  private static let lobes = 3.0
  private static let one = 1 << 14

  /// - Parameters:
  ///   - source: samples that there are.
  ///   - target: samples that are wanted.
  package init(from source: Int, to target: Int) {
    precondition(target > 0 && source > 0, "no row has this length")
    guard target != source else {
      taps = 1
      starts = (0..<UInt32(source)).map(\.self)
      weights = [Int16](repeating: Int16(Self.one), count: source)
      return
    }
    let scale = Double(source) / Double(target)
    let width = max(1, scale)
    let reach = Self.lobes * width
    let taps = min(source, Int((2 * reach).rounded(.up)) + 1)
    precondition(taps <= CKERNELS_MOST_TAPS, "a picture is not reduced so much in one step")
    var starts: [UInt32] = []
    var weights: [Int16] = []
    starts.reserveCapacity(target)
    weights.reserveCapacity(target * taps)
    for index in 0..<target {
      let center = (Double(index) + 0.5) * scale - 0.5
      let start = min(max(Int((center - reach).rounded(.up)), 0), source - taps)
      starts.append(UInt32(start))
      weights += Self.fractions((0..<taps).map { Self.lanczos((Double(start + $0) - center) / width) })
    }
    self.taps = taps
    self.starts = starts
    self.weights = weights
  }

  private static func lanczos(_ distance: Double) -> Double {
    guard distance != 0 else { return 1 }
    guard abs(distance) < lobes else { return 0 }
    let angle = Double.pi * distance
    return lobes * sin(angle) * sin(angle / lobes) / (angle * angle)
  }

  /// Rounded so that they add up to one exactly: what rounding leaves goes to the largest.
  private static func fractions(_ values: [Double]) -> [Int16] {
    let sum = values.reduce(0, +)
    var fractions = values.map { Int(($0 / sum * Double(one)).rounded()) }
    let largest = fractions.indices.max { fractions[$0] < fractions[$1] } ?? 0
    fractions[largest] += one - fractions.reduce(0, +)
    return fractions.map { Int16($0) }
  }

  /// Resamples the rows of a strip.
  func resample(
    _ source: UnsafePointer<UInt8>, stride: Int, into target: UnsafeMutablePointer<UInt8>, targetStride: Int,
    width: Int, portable: Bool
  ) {
    starts.withUnsafeBufferPointer { starts in
      weights.withUnsafeBufferPointer { weights in
        var filter = ckernels_filter(
          starts: starts.baseAddress, weights: weights.baseAddress, taps: taps, count: starts.count)
        ckernels_resample_strip(source, stride, target, targetStride, width, &filter, portable ? 1 : 0)
      }
    }
  }
}
