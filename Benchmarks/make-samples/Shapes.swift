import Glibc
internal import SyntheticMedia

/// A point or a distance between two, in picture widths; `y` runs downwards.
typealias Point = SIMD2<Float>

/// The width of a soft edge: about one pixel and a half of a picture 1080 pixels wide.
let edgeWidth: Float = 0.0014

/// How much of a pixel a shape covers, by the signed distance to its edge: 1 inside, 0 outside.
func coverage(_ distance: Float, softness: Float = edgeWidth) -> Float { saturate(0.5 - distance / softness) }

func length(_ point: Point) -> Float { (point.x * point.x + point.y * point.y).squareRoot() }

/// The point turned about the origin, clockwise on the screen.
func turned(_ point: Point, by angle: Float) -> Point {
  let (sine, cosine) = (sin(angle), cos(angle))
  return Point(cosine * point.x + sine * point.y, cosine * point.y - sine * point.x)
}

/// The signed distance to a circle.
func circle(_ point: Point, _ center: Point, _ radius: Float) -> Float { length(point - center) - radius }

/// Nearly the signed distance to an ellipse; exact on its edge.
func ellipse(_ point: Point, _ center: Point, _ radii: Point) -> Float {
  let near = (point - center) / radii
  let far = near / radii
  let (scaled, slope) = (length(near), length(far))
  return slope == 0 ? -min(radii.x, radii.y) : scaled * (scaled - 1) / slope
}

/// The signed distance to a stroke from `start` to `end` whose half width changes from one end to the other.
func stroke(_ point: Point, _ start: Point, _ end: Point, _ startRadius: Float, _ endRadius: Float) -> Float {
  let (along, offset) = (end - start, point - start)
  let position = saturate((offset * along).sum() / (along * along).sum())
  return length(offset - along * position) - mix(startRadius, endRadius, position)
}

/// The signed distance to a rectangle with round corners.
func box(_ point: Point, _ center: Point, _ half: Point, radius: Float) -> Float {
  let offset = point - center
  let (x, y) = (abs(offset.x) - half.x + radius, abs(offset.y) - half.y + radius)
  return length(Point(max(x, 0), max(y, 0))) + min(max(x, y), 0) - radius
}

/// The union of two shapes with a fillet of about `radius` where they meet.
func joined(_ first: Float, _ second: Float, radius: Float) -> Float {
  let blend = saturate(0.5 + 0.5 * (second - first) / radius)
  return mix(second, first, blend) - radius * blend * (1 - blend)
}
