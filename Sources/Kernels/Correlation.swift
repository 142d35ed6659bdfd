internal import CKernels

/// The normalised cross-correlation of two audio signals.
package struct Correlation: Sendable {
  /// The bounds of samples, within which sums of products are exact.
  package static let bounds: ClosedRange<Int16> = -2048...2047

  private let a: [Int16]
  private let b: [Int16]
  // The sum of squares of all samples before each sample.
  private let energyOfA: [Int64]
  private let energyOfB: [Int64]

  /// - Parameters:
  ///   - a: samples within `bounds`.
  ///   - b: samples within `bounds`, of the same sample rate.
  package init(_ a: [Int16], _ b: [Int16]) {
    self.a = a
    self.b = b
    energyOfA = Self.energy(a)
    energyOfB = Self.energy(b)
  }

  /// The correlation, -1 to 1, of `a` from sample `lag` on with `b`; if `lag` is negative, of `a` with `b` from sample
  /// `-lag` on.
  ///
  /// The result is 0 if the overlap has less than a third of the energy of either signal, because a match of a few
  /// samples is not significant.
  package func value(atLag lag: Int) -> Double {
    let (startOfA, startOfB) = (max(lag, 0), max(-lag, 0))
    let count = min(a.count - startOfA, b.count - startOfB)
    guard count > 0 else { return 0 }
    let overlapOfA = energyOfA[startOfA + count] - energyOfA[startOfA]
    let overlapOfB = energyOfB[startOfB + count] - energyOfB[startOfB]
    guard overlapOfA * 3 > energyOfA[a.count], overlapOfB * 3 > energyOfB[b.count] else { return 0 }
    let product = a.withUnsafeBufferPointer { a in
      b.withUnsafeBufferPointer { b in
        guard let a = a.baseAddress, let b = b.baseAddress else { return Int64(0) }
        return ckernels_correlate(a + startOfA, b + startOfB, count)
      }
    }
    return Double(product) / (Double(overlapOfA).squareRoot() * Double(overlapOfB).squareRoot())
  }

  private static func energy(_ samples: [Int16]) -> [Int64] {
    precondition(samples.allSatisfy(bounds.contains), "a sample is out of bounds")
    var sum: Int64 = 0
    return [0]
      + samples.map { sample in
        sum += Int64(sample) * Int64(sample)
        return sum
      }
  }
}
