import Glibc
internal import SyntheticMedia

/// A point or a vector in frame widths; `y` points down.
typealias Point = SIMD2<Float>

/// The width of a soft edge: about one and a half pixels of a frame 1080 pixels wide.
let edgeWidth: Float = 0.0014

/// Returns the fraction of a pixel that a shape covers, from the signed distance to its edge: 1 inside, 0 outside.
func coverage(_ distance: Float, softness: Float = edgeWidth) -> Float { saturate(0.5 - distance / softness) }

func length(_ point: Point) -> Float { (point.x * point.x + point.y * point.y).squareRoot() }

/// Returns the point rotated about the origin, clockwise on the screen.
func rotated(_ point: Point, by angle: Float) -> Point {
  let (sine, cosine) = (sin(angle), cos(angle))
  return Point(cosine * point.x + sine * point.y, cosine * point.y - sine * point.x)
}

/// Returns the signed distance to a circle.
func circle(_ point: Point, _ center: Point, _ radius: Float) -> Float { length(point - center) - radius }

/// Returns an approximation of the signed distance to an ellipse, exact on its edge.
func ellipse(_ point: Point, _ center: Point, _ radii: Point) -> Float {
  let near = (point - center) / radii
  let far = near / radii
  let (scaled, slope) = (length(near), length(far))
  return slope == 0 ? -min(radii.x, radii.y) : scaled * (scaled - 1) / slope
}

/// Returns the signed distance to a stroke from `start` to `end` whose half width is interpolated between the ends.
func stroke(_ point: Point, _ start: Point, _ end: Point, _ startRadius: Float, _ endRadius: Float) -> Float {
  let (along, offset) = (end - start, point - start)
  let position = saturate((offset * along).sum() / (along * along).sum())
  return length(offset - along * position) - mix(startRadius, endRadius, position)
}

/// Returns the signed distance to a rectangle with rounded corners.
func box(_ point: Point, _ center: Point, _ half: Point, radius: Float) -> Float {
  let offset = point - center
  let (x, y) = (abs(offset.x) - half.x + radius, abs(offset.y) - half.y + radius)
  return length(Point(max(x, 0), max(y, 0))) + min(max(x, y), 0) - radius
}

/// Returns the signed distance to the union of two shapes, with a fillet of about `radius`.
func joined(_ first: Float, _ second: Float, radius: Float) -> Float {
  let blend = saturate(0.5 + 0.5 * (second - first) / radius)
  return mix(second, first, blend) - radius * blend * (1 - blend)
}

/// The colour of one point of a frame, composed of layers.
struct Paint {
  private(set) var color: Color

  init(over color: Color) { self.color = color }

  /// Paints the inside of a shape, given by the signed distance to its edge.
  mutating func fill(_ distance: Float, _ color: Color, opacity: Float = 1, softness: Float = edgeWidth) {
    let cover = coverage(distance, softness: softness) * opacity
    if cover > 0 { self.color = mix(self.color, color, cover) }
  }

  /// Adds light.
  mutating func light(_ color: Color, _ amount: Float) { self.color += color * amount }

  /// Darkens: 0 not at all, 1 completely.
  mutating func shade(_ amount: Float) {
    // Shadows at dusk are bluish from the light of the sky.
    self.color *= Color(1, 1, 1) - Color(1, 0.94, 0.78) * saturate(amount)
  }
}
