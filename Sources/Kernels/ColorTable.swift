internal import CKernels

/// A conversion of 10-bit YUV colours to 8-bit ones, prepared once for any number of images.
package final class ColorTable: Sendable {
  /// A source colour with codes of 0 to 1023, or a target colour with codes of 0 to 255 and fractions.
  package struct Codes: Hashable, Sendable {
    package var y: Double
    package var u: Double
    package var v: Double

    package init(y: Double, u: Double, v: Double) {
      self.y = y
      self.u = u
      self.v = v
    }
  }

  private enum Method {
    /// A table that is interpolated between its nodes.
    case nodes(luma: [UInt16], chroma: [UInt16])
    /// A computation for each pixel.
    case gamut(GamutConversion)
  }

  private let method: Method

  private static let nodes = Int(CKERNELS_CHROMA_NODES)
  private static let lumaSteps = Int(CKERNELS_LUMA_STEPS)
  private static let chromaSteps = Int(CKERNELS_CHROMA_STEPS)

  /// Computes a table. `map` returns the target colour of a node.
  package init(_ map: (Codes) -> Codes) {
    var luma: [UInt16] = []
    var chroma: [UInt16] = []
    luma.reserveCapacity(Self.nodes * Self.nodes * Self.lumaSteps)
    chroma.reserveCapacity(Self.nodes * Self.nodes * Self.chromaSteps * 2)
    for u in 0..<Self.nodes {
      for v in 0..<Self.nodes {
        var last: Codes?
        for step in 0..<Self.chromaSteps {
          let codes = map(Codes(y: Double(step * 16), u: Double(u * 16), v: Double(v * 16)))
          chroma += [Self.entry(codes.u), Self.entry(codes.v)]
          // The steps of the luma table between two of these are interpolated.
          for part in last == nil ? 8...8 : 1...8 {
            let former = last?.y ?? codes.y
            luma.append(Self.entry(former + (codes.y - former) * Double(part) / 8))
          }
          last = codes
        }
      }
    }
    method = .nodes(luma: luma, chroma: chroma)
  }

  /// Creates a conversion that computes each pixel instead of interpolating a table.
  package init(_ gamut: GamutConversion) { method = .gamut(gamut) }

  private static func entry(_ code: Double) -> UInt16 { UInt16((min(max(code, 0), 255) * 256).rounded()) }

  /// The planes of a 10-bit 4:2:0 image in native 16-bit words, with strides in bytes.
  package struct Source {
    var planes: ckernels_planes10

    package init(
      y: (base: UnsafeRawPointer, stride: Int), u: (base: UnsafeRawPointer, stride: Int),
      v: (base: UnsafeRawPointer, stride: Int)
    ) {
      planes = ckernels_planes10(
        y: y.base.assumingMemoryBound(to: UInt16.self), u: u.base.assumingMemoryBound(to: UInt16.self),
        v: v.base.assumingMemoryBound(to: UInt16.self), y_stride: y.stride, u_stride: u.stride, v_stride: v.stride)
    }
  }

  /// Converts an image of the target's size, which must be even in both directions.
  package func map(_ source: Source, into target: MutableImagePlanes) {
    precondition(target.width % 2 == 0 && target.height % 2 == 0, "the size of the image is not even")
    var from = source.planes
    var to = ckernels_planes8(
      y: target.y.base.assumingMemoryBound(to: UInt8.self), u: target.u.base.assumingMemoryBound(to: UInt8.self),
      v: target.v.base.assumingMemoryBound(to: UInt8.self), y_stride: target.y.stride, u_stride: target.u.stride,
      v_stride: target.v.stride)
    switch method {
    case .nodes(let luma, let chroma): ckernels_map_colors(&from, &to, target.width, target.height, luma, chroma)
    case .gamut(let gamut): gamut.convert(from, into: to, width: target.width, height: target.height)
    }
  }
}

/// Tables are large, so they are compared by identity.
extension ColorTable: Hashable {
  package static func == (one: ColorTable, other: ColorTable) -> Bool { one === other }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A conversion of 10-bit YUV codes of one gamut to 8-bit BT.709 in limited range, computed for each pixel, with a tone
/// curve or without.
///
/// An interpolated table is too inaccurate for this: near the edge of a gamut one component of the light is close to
/// zero, where the transfer function is steepest.
package struct GamutConversion: Sendable {
  private let light: [Int32]
  private let dark: [UInt16]
  private let bright: [UInt16]
  /// Empty without a tone curve.
  private let factors: [UInt32]
  private let numbers: ckernels_gamut

  /// - Parameters:
  ///   - black: the luma code of black.
  ///   - signal: the R'G'B' signal, 0 to 1, that one code adds: luma to each component, V to red, U and V to green,
  ///     U to blue.
  ///   - light: returns the linear light, in which 1 is white, of a source signal, 0 to 1; at most 6.
  ///   - rows: the rows of the matrix from linear light of the source gamut to linear light of BT.709.
  ///   - shown: the tone curve for the brightest component, with which the others keep their proportions; nil without one.
  ///   - signals: returns the output signal, 0 to 1, of a linear light, 0 to 1.
  package init(
    black: Double, signal: (luma: Double, redV: Double, greenU: Double, greenV: Double, blueU: Double),
    light: (Double) -> Double, rows: (SIMD3<Double>, SIMD3<Double>, SIMD3<Double>),
    shown: ((Double) -> Double)? = nil, signals: (Double) -> Double
  ) {
    let nodes = Int(CKERNELS_LIGHT_NODES)
    let entries = Int(CKERNELS_SIGNAL_NODES)
    self.light = (0...nodes + 1).map { Int32((light(min(Double($0) / Double(nodes), 1)) * Self.fullLight).rounded()) }
    dark = (0...entries).map { UInt16((signals(Double($0) / Self.fullLight) * Self.fullSignal).rounded()) }
    bright = (0...entries).map { UInt16((signals(Double($0) / Double(entries)) * Self.fullSignal).rounded()) }
    factors =
      shown.map { shown in
        (0...Int(CKERNELS_FACTOR_NODES)).map { node in
          let light = max(Double(node), 1) / 256
          return UInt32((65_536 * shown(light) / light).rounded())
        }
      } ?? []
    func fixed(_ value: Double) -> Int32 { Int32((value * 65_536).rounded()) }
    var numbers = ckernels_gamut()
    numbers.black = Int32(black.rounded())
    numbers.luma = fixed(signal.luma * 256)
    numbers.red_v = fixed(signal.redV * 256)
    numbers.green_u = fixed(signal.greenU * 256)
    numbers.green_v = fixed(signal.greenV * 256)
    numbers.blue_u = fixed(signal.blueU * 256)
    numbers.rows = (
      fixed(rows.0.x), fixed(rows.0.y), fixed(rows.0.z), fixed(rows.1.x), fixed(rows.1.y), fixed(rows.1.z),
      fixed(rows.2.x), fixed(rows.2.y), fixed(rows.2.z)
    )
    // ITU-R BT.709-6, items 3.2 to 3.5. The three factors of each chroma component have a sum of 0: grey stays grey.
    let (red, green, blue) = (0.2126, 0.7152, 0.0722)
    numbers.to_y = (fixed(219 * red), fixed(219) - fixed(219 * red) - fixed(219 * blue), fixed(219 * blue))
    let (u, v) = (224 / 1.8556, 224 / 1.5748)
    numbers.to_u = (fixed(-u * red), -fixed(-u * red) - fixed(u * (red + green)), fixed(u * (red + green)))
    numbers.to_v = (fixed(v * (green + blue)), -fixed(v * (green + blue)) - fixed(-v * blue), fixed(-v * blue))
    self.numbers = numbers
  }

  private static let fullLight = Double(1 << 20)
  private static let fullSignal = Double(1 << 14)

  /// Converts an image of an even size.
  func convert(_ source: ckernels_planes10, into target: ckernels_planes8, width: Int, height: Int) {
    var (source, target, numbers) = (source, target, numbers)
    factors.withUnsafeBufferPointer { factors in
      ckernels_convert_gamut(
        &source, &target, width, height, &numbers, light, dark, bright, factors.isEmpty ? nil : factors.baseAddress)
    }
  }
}
