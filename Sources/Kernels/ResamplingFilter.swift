internal import CKernels
import Glibc
internal import Platform

/// A Lanczos filter with three lobes between rows of two lengths (Turkowski, "Filters for Common Resampling Tasks",
/// 1990).
///
/// To reduce a row, the filter is widened by the ratio, so that it is the low-pass filter too. At the edges the weights
/// of the existing samples are normalised to a sum of one.
package final class ResamplingFilter: Sendable {
  /// The number of source samples for each target sample.
  package let taps: Int
  /// The index of the first source sample for each target sample.
  package let starts: [UInt32]
  /// The weights as 14-bit fractions, `taps` for each target sample.
  package let weights: [Int16]

  /// The most recently computed filters: photos have few different sizes.
  private static let cache = Locked<[(source: Int, target: Int, filter: ResamplingFilter)]>([])
  private static let maxCached = 32

  /// The filter from one length to another, from the cache if possible.
  package static func shared(from source: Int, to target: Int) -> ResamplingFilter {
    let cached = cache.withLock { cache in cache.first { $0.source == source && $0.target == target }?.filter }
    if let cached { return cached }
    let filter = ResamplingFilter(from: source, to: target)
    cache.withLock { cache in
      if cache.count == maxCached { cache.removeFirst() }
      cache.append((source, target, filter))
    }
    return filter
  }

  private static let lobes = 3.0
  private static let one = 1 << 14

  /// - Parameters:
  ///   - source: the number of source samples.
  ///   - target: the number of target samples.
  package init(from source: Int, to target: Int) {
    precondition(target > 0 && source > 0, "the length of a row is not positive")
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
    precondition(taps <= CKERNELS_MAX_TAPS, "the reduction needs more taps than the kernel has")
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

  /// Rounds weights so that their sum is exactly one: the largest weight takes the rounding error.
  private static func fractions(_ values: [Double]) -> [Int16] {
    let sum = values.reduce(0, +)
    var fractions = values.map { Int(($0 / sum * Double(one)).rounded()) }
    let largest = fractions.indices.max { fractions[$0] < fractions[$1] } ?? 0
    fractions[largest] += one - fractions.reduce(0, +)
    return fractions.map { Int16($0) }
  }

  /// Resamples the columns of a strip of `width` columns.
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
