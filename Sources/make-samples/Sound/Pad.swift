import Glibc
internal import SyntheticMedia

/// A soft chord that swells and fades, one note after another, with the wind or the water behind it.
struct Pad {
  /// A note that begins at a time in seconds.
  struct Note {
    let frequency: Float
    let start: Float
    /// -1 for left to 1 for right.
    let place: Float
  }

  private static let noise = Noise(seed: 91)

  /// The notes of the chord.
  let notes: [Note]
  /// How loud the noise behind it is, and how dark: the step between two of its values in seconds.
  let breeze: (strength: Float, step: Float)
  /// The length in seconds; the sound fades out towards it.
  let seconds: Float

  /// The sound as samples.
  var sound: StereoSound {
    StereoSound(seconds: Double(seconds)) { time in
      var (left, right) = breath(time)
      for note in notes {
        let value = tone(note, time) * 0.26
        left += value * (1 - note.place) * 0.5
        right += value * (1 + note.place) * 0.5
      }
      let fade = smoothstep(0, 0.08, time) * smoothstep(seconds, seconds - 0.5, time)
      return (left * fade, right * fade)
    }
  }

  private func tone(_ note: Note, _ time: Float) -> Float {
    let age = time - note.start
    guard age > 0 else { return 0 }
    let swell = smoothstep(0, 0.9, age) * exp(-0.32 * age)
    let vibrato = 0.0009 * sin(2 * .pi * 4.6 * age) * smoothstep(0.8, 2, age)
    let phase = 2 * Float.pi * note.frequency * (age + vibrato)
    // Odd harmonics make it a reed more than a string; a detuned twin makes it float.
    let reed = sin(phase) + 0.22 * sin(2 * phase) + 0.13 * sin(3 * phase) + 0.04 * sin(5 * phase)
    let twin = 0.7 * sin(phase * 1.0021 + 0.6) + 0.14 * sin(2.0042 * phase)
    return swell * (reed + twin) * 0.55
  }

  private func breath(_ time: Float) -> (left: Float, right: Float) {
    let swell = 0.55 + 0.45 * sin(2 * .pi * 0.31 * time - 1.2)
    let place = time / breeze.step
    let left = Self.noise.fractal(place, 0.5, octaves: 3) - 0.5
    let right = Self.noise.fractal(place, 40.5, octaves: 3) - 0.5
    return (left * swell * breeze.strength, right * swell * breeze.strength)
  }
}
