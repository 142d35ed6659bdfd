import Glibc
internal import SyntheticMedia

/// The audio of the moment: a soft chord, a plucked melody, the lake, and a boat that knocks at the jetty.
///
/// No part of it repeats, so the recordings of two microphones can be aligned.
struct Evening {
  /// A note with its start in seconds of the moment.
  struct Note {
    let frequency: Float
    let start: Float
    /// From -1 for left to 1 for right.
    let pan: Float
  }

  private static let water = Noise(seed: 91)
  private static let wood = Noise(seed: 92)

  /// A minor ninth, one note after another.
  private static let chord = [
    Note(frequency: 110.00, start: 0.0, pan: 0.2), Note(frequency: 164.81, start: 0.3, pan: -0.4),
    Note(frequency: 261.63, start: 0.8, pan: 0.4), Note(frequency: 329.63, start: 1.5, pan: -0.1),
    Note(frequency: 493.88, start: 2.4, pan: 0.5),
  ]
  /// Intervals of different lengths, as if played by hand.
  private static let melody = [
    Note(frequency: 659.26, start: 0.36, pan: -0.2), Note(frequency: 523.25, start: 0.83, pan: 0.1),
    Note(frequency: 587.33, start: 1.11, pan: 0.3), Note(frequency: 440.00, start: 1.72, pan: -0.3),
    Note(frequency: 493.88, start: 2.27, pan: 0.2), Note(frequency: 659.26, start: 2.49, pan: -0.1),
    Note(frequency: 783.99, start: 3.06, pan: 0.4), Note(frequency: 523.25, start: 3.61, pan: -0.4),
    Note(frequency: 440.00, start: 3.94, pan: 0.0), Note(frequency: 392.00, start: 4.58, pan: 0.2),
  ]
  private static let knocks: [Float] = [0.21, 0.97, 1.44, 2.63, 2.78, 3.49, 4.27, 4.86]

  /// Returns the samples at a time of the moment, in seconds.
  func sample(at time: Float) -> (left: Float, right: Float) {
    var (left, right) = lapping(time)
    for (notes, tone, loudness) in [(Self.chord, swelling, Float(0.16)), (Self.melody, plucked, 0.20)] {
      for note in notes where time > note.start {
        let value = tone(note.frequency, time - note.start) * loudness
        left += value * (1 - note.pan) * 0.5
        right += value * (1 + note.pan) * 0.5
      }
    }
    let knock = knocking(time)
    return (left + 0.6 * knock, right + knock)
  }

  private func swelling(_ frequency: Float, _ age: Float) -> Float {
    let swell = smoothstep(0, 0.9, age) * exp(-0.32 * age)
    let vibrato = 0.0009 * sin(2 * .pi * 4.6 * age) * smoothstep(0.8, 2, age)
    let phase = 2 * Float.pi * frequency * (age + vibrato)
    // Odd harmonics sound like a reed instrument; a detuned second voice varies the loudness.
    let reed = sin(phase) + 0.22 * sin(2 * phase) + 0.13 * sin(3 * phase) + 0.04 * sin(5 * phase)
    let twin = 0.7 * sin(phase * 1.0021 + 0.6) + 0.14 * sin(2.0042 * phase)
    return swell * (reed + twin) * 0.55
  }

  private func plucked(_ frequency: Float, _ age: Float) -> Float {
    let phase = 2 * Float.pi * frequency * age
    // A metal tongue: its overtones are inharmonic and decay first.
    let tongue = sin(phase) * exp(-3.2 * age) + 0.20 * sin(5.4 * phase) * exp(-16 * age)
    return tongue * smoothstep(0, 0.004, age)
  }

  private func lapping(_ time: Float) -> (left: Float, right: Float) {
    let swell = 0.55 + 0.45 * sin(2 * .pi * 0.31 * time - 1.2)
    let position = time / 0.0015
    let left = Self.water.fractal(position, 0.5, octaves: 3) - 0.5
    let right = Self.water.fractal(position, 40.5, octaves: 3) - 0.5
    return (left * swell * 0.5, right * swell * 0.5)
  }

  private func knocking(_ time: Float) -> Float {
    Self.knocks.reduce(0) { sum, start in
      let age = time - start
      guard 0..<0.25 ~= age else { return sum }
      let hollow = sin(2 * .pi * 176 * age) + (Self.wood.smooth(time / 0.0012, start) - 0.5) * 2.4
      return sum + 0.22 * hollow * exp(-34 * age) * smoothstep(0, 0.002, age)
    }
  }
}

/// One of the phone's microphones.
struct Microphone {
  let gain: Float
  /// Whether left and right are swapped, as for the front camera.
  let isMirrored: Bool
  /// The microphone's own noise.
  let hiss: Noise

  /// Returns the recording from a time of the moment on, in seconds.
  func record(_ evening: Evening, from start: Float, seconds: Float) -> StereoAudio {
    StereoAudio(seconds: Double(seconds)) { time in
      let sound = evening.sample(at: start + time)
      let position = time / 0.0004
      let left = (isMirrored ? sound.right : sound.left) * gain + (hiss.smooth(position, 0.5) - 0.5) * 0.008
      let right = (isMirrored ? sound.left : sound.right) * gain + (hiss.smooth(position, 9.5) - 0.5) * 0.008
      // Fades in and out, so that the cuts do not click.
      let cut = smoothstep(0, 0.02, time) * smoothstep(seconds, seconds - 0.15, time)
      return (left * cut, right * cut)
    }
  }
}
