internal import CKernels

/// A mapping of all 10-bit YUV colours to 8-bit ones, prepared once and applied to any number of pictures.
package final class ColorTable: Sendable {
  /// A colour of either side: 0 to 1023 of a source, 0 to 255 with fractions of a target.
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

  private enum Way {
    /// Computed at its nodes.
    case nodes(luma: [UInt16], chroma: [UInt16])
    case gamut(GamutConversion)
  }

  private let way: Way

  private static let nodes = Int(CKERNELS_CHROMA_NODES)
  private static let lumaSteps = Int(CKERNELS_LUMA_STEPS)
  private static let chromaSteps = Int(CKERNELS_CHROMA_STEPS)

  /// Asks `map` for the colour of each node.
  package init(_ map: (Codes) -> Codes) {
    var luma: [UInt16] = []
    var chroma: [UInt16] = []
    luma.reserveCapacity(Self.nodes * Self.nodes * Self.lumaSteps)
    chroma.reserveCapacity(Self.nodes * Self.nodes * Self.chromaSteps * 2)
    for u in 0..<Self.nodes {
      for v in 0..<Self.nodes {
        for step in 0..<Self.lumaSteps {
          let codes = map(Codes(y: Double(step * 2), u: Double(u * 32), v: Double(v * 32)))
          luma.append(Self.entry(codes.y))
          if step % 8 == 0 { chroma += [Self.entry(codes.u), Self.entry(codes.v)] }
        }
      }
    }
    way = .nodes(luma: luma, chroma: chroma)
  }

  /// Leaves no colour to what lies between nodes.
  package init(_ gamut: GamutConversion) { way = .gamut(gamut) }

  private static func entry(_ code: Double) -> UInt16 { UInt16((min(max(code, 0), 255) * 256).rounded()) }

  /// The planes of a 10-bit 4:2:0 picture in 16-bit words of this machine; strides in bytes.
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

  /// Maps a picture of the target's size, which is even in both directions.
  package func map(_ source: Source, into target: MutableImagePlanes) {
    precondition(target.width % 2 == 0 && target.height % 2 == 0, "a mapped picture has an even size")
    var from = source.planes
    var to = ckernels_planes8(
      y: target.y.base.assumingMemoryBound(to: UInt8.self), u: target.u.base.assumingMemoryBound(to: UInt8.self),
      v: target.v.base.assumingMemoryBound(to: UInt8.self), y_stride: target.y.stride, u_stride: target.u.stride,
      v_stride: target.v.stride)
    switch way {
    case .nodes(let luma, let chroma): ckernels_map_colors(&from, &to, target.width, target.height, luma, chroma)
    case .gamut(let gamut): gamut.convert(from, into: to, width: target.width, height: target.height)
    }
  }
}

/// Tables are large: one is the same as itself only.
extension ColorTable: Hashable {
  package static func == (one: ColorTable, other: ColorTable) -> Bool { one === other }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
