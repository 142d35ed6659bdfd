import Glibc
internal import SyntheticMedia

/// A textured background filmed by hand while an object passes in front of it, with the noise of a small sensor.
struct PhoneScene: Scene {
  /// The size of the frames in pixels.
  static let width: Float = 1080
  private static let height: Float = 1920

  /// The background, larger than a frame so that the camera can move.
  let background: Texture
  /// The texture of the passing object.
  let foreground: Texture
  /// The phase of the camera's motion, which differs between the clips.
  let phase: Float
  /// The amplitudes of the camera's pan and of the foreground's swing, in pixels.
  let pan: Float
  let swing: Float

  func shot(at time: Float) -> PhoneShot {
    let angle = 0.012 * sin(2 * .pi * time * 0.7 + phase) + 0.006 * sin(2 * .pi * time * 2.3)
    let zoom = 1 / (1 + 0.02 * time)
    let drift = SIMD2<Float>(
      pan * time * 12 + 18 * sin(2 * .pi * time * 0.9 + phase) + 3 * sin(2 * .pi * time * 4.1),
      pan * time * 7 + 22 * sin(2 * .pi * time * 0.6) + 4 * sin(2 * .pi * time * 3.3 + phase))
    let middle = SIMD2(Float(background.width), Float(background.height)) * 0.5
    let passing = SIMD2(
      Self.width * 0.5 + swing * sin(2 * .pi * time * 0.45 + phase),
      Self.height - Float(foreground.height) * 0.4 + 40 * cos(2 * .pi * time * 0.8))
    return PhoneShot(
      background: background, foreground: foreground, noise: Noise(seed: UInt32(time * 1000)),
      across: SIMD2(cos(angle), sin(angle)) * zoom, origin: middle + drift,
      screenMiddle: SIMD2(Self.width, Self.height) * 0.5, passing: passing)
  }
}

/// One frame of a `PhoneScene`.
struct PhoneShot: Shot {
  let background: Texture
  let foreground: Texture
  let noise: Noise
  /// The step in the background for one pixel to the right.
  let across: SIMD2<Float>
  /// The point of the background in the middle of the frame.
  let origin: SIMD2<Float>
  let screenMiddle: SIMD2<Float>
  /// The middle of the passing object.
  let passing: SIMD2<Float>

  func color(_ x: Float, _ y: Float) -> Color {
    let pixel = SIMD2(x, y) * PhoneScene.width
    let offset = pixel - screenMiddle
    let position = origin + across * offset.x + SIMD2(-across.y, across.x) * offset.y
    var color = background.color(position.x, position.y)
    let half = SIMD2(Float(foreground.width), Float(foreground.height)) * 0.5
    let near = (pixel - passing) / half
    let distance = (near * near).sum().squareRoot()
    if distance < 1 {
      let spot = pixel - passing + half
      color = mix(color, foreground.color(spot.x, spot.y), saturate(8 * (1 - distance)))
    }
    return color + sensorNoise(Int32(pixel.x), Int32(pixel.y))
  }

  /// Noise mostly in brightness, a little in colour. The sum of two uniform distributions is nearly normal.
  private func sensorNoise(_ x: Int32, _ y: Int32) -> Color {
    let luma = noise.value(x, y) + noise.value(x + 4096, y) - 1
    let tint = Color(noise.value(x, y + 4096), noise.value(x + 4096, y + 4096), noise.value(x + 8192, y)) - 0.5
    return tint * (5 / 255) + luma * (5 / 255)
  }
}
