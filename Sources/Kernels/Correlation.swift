internal import CKernels

/// How alike two sounds are when one is moved against the other.
package struct Correlation: Sendable {
  /// Samples lie within these bounds, so that sums of products are exact.
  package static let bounds: ClosedRange<Int16> = -2048...2047

  private let a: [Int16]
  private let b: [Int16]
  // Sums of squares before each sample.
  private let energyOfA: [Int64]
  private let energyOfB: [Int64]

  /// - Parameters:
  ///   - a, b: samples within `bounds`, of one rate.
  package init(_ a: [Int16], _ b: [Int16]) {
    self.a = a
    self.b = b
    energyOfA = Self.energy(a)
    energyOfB = Self.energy(b)
  }

  /// The normalised correlation of `a` from sample `lag` on with `b`, -1 to 1; of `b` from `-lag` on where that is negative.
  ///
  /// It is 0 where less than a third of either sound's energy lies in what they share: there, a few samples prove nothing.
  package func value(atLag lag: Int) -> Double {
    let (startOfA, startOfB) = (max(lag, 0), max(-lag, 0))
    let count = min(a.count - startOfA, b.count - startOfB)
    guard count > 0 else { return 0 }
    let ofA = energyOfA[startOfA + count] - energyOfA[startOfA]
    let ofB = energyOfB[startOfB + count] - energyOfB[startOfB]
    guard ofA * 3 > energyOfA[a.count], ofB * 3 > energyOfB[b.count] else { return 0 }
    let product = a.withUnsafeBufferPointer { a in
      b.withUnsafeBufferPointer { b in
        guard let a = a.baseAddress, let b = b.baseAddress else { return Int64(0) }
        return ckernels_correlate(a + startOfA, b + startOfB, count)
      }
    }
    return Double(product) / (Double(ofA).squareRoot() * Double(ofB).squareRoot())
  }

  private static func energy(_ samples: [Int16]) -> [Int64] {
    precondition(samples.allSatisfy(bounds.contains), "a sample lies outside the bounds")
    var sum: Int64 = 0
    return [0]
      + samples.map { sample in
        sum += Int64(sample) * Int64(sample)
        return sum
      }
  }
}
