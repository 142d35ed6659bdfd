import Kernels
import Model

/// A photo decoded to the size of its largest variant: upright, sRGB, on white.
struct DecodedPhoto {
  let facts: PhotoFacts
  /// The upright size at which the photo was decoded, from which the sizes of the variants follow.
  let decoded: Size
  let image: PlanarImage
  /// The choices that were made during decoding.
  let decisions: [Decision]

  /// The size and chroma subsampling to decode to, known once the header is read.
  struct Target {
    let size: Size
    let halvesChroma: Bool

    /// The smallest image from which all variants can be made; without variants, one for hash and colour.
    ///
    /// - Parameter decoded: the upright size at which the photo is decoded.
    init(_ variants: some Collection<PhotoVariant>, of decoded: Size) {
      let reduction = variants.map { $0.geometry(of: decoded).reduction }.min()
      halvesChroma = variants.allSatisfy(\.halvesChroma)
      let scale = reduction ?? Double(max(decoded.width, decoded.height)) / 100
      func reduced(_ edge: Int) -> Int { scale <= 1 ? edge : max(1, Int((Double(edge) / scale).rounded())) }
      size = Size(width: reduced(decoded.width), height: reduced(decoded.height))
    }
  }
}
