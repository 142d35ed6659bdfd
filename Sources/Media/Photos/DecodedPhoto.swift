import Kernels
import Model

/// A photo decoded to the size of its largest variant: upright, sRGB, on white.
struct DecodedPhoto {
  let facts: PhotoFacts
  let picture: PlanarImage
  /// What was chosen on the way.
  let decisions: [Decision]

  /// What a decoder is asked for once the header is read.
  struct Target {
    let size: Size
    let halvesChroma: Bool

    /// The smallest picture that all variants can be made of; where there are none, one to look at.
    init(_ variants: some Collection<PhotoVariant>, of display: Size) {
      let reduction = variants.map { $0.geometry(of: display).reduction }.min()
      halvesChroma = variants.allSatisfy(\.halvesChroma)
      let scale = reduction ?? Double(max(display.width, display.height)) / 100
      func reduced(_ edge: Int) -> Int { scale <= 1 ? edge : max(1, Int((Double(edge) / scale).rounded())) }
      size = Size(width: reduced(display.width), height: reduced(display.height))
    }
  }
}
