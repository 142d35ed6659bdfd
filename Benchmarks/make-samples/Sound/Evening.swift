import Glibc
internal import SyntheticMedia

/// What is heard where the moment is filmed: a soft chord, a melody that is plucked over it, the lake, and a boat that
/// knocks at the jetty. Two microphones that hear it can be brought together by it: no part of it comes again.
struct Evening {
  /// A note that begins at a time of the moment, in seconds.
  struct Note {
    let frequency: Float
    let start: Float
    /// -1 for left to 1 for right.
    let place: Float
  }

  private static let water = Noise(seed: 91)
  private static let wood = Noise(seed: 92)

  /// A minor ninth, its notes one after another.
  private static let chord = [
    Note(frequency: 110.00, start: 0.0, place: 0.2), Note(frequency: 164.81, start: 0.3, place: -0.4),
    Note(frequency: 261.63, start: 0.8, place: 0.4), Note(frequency: 329.63, start: 1.5, place: -0.1),
    Note(frequency: 493.88, start: 2.4, place: 0.5),
  ]
  /// As it is played by hand: no two steps are of one length.
  private static let melody = [
    Note(frequency: 659.26, start: 0.36, place: -0.2), Note(frequency: 523.25, start: 0.83, place: 0.1),
    Note(frequency: 587.33, start: 1.11, place: 0.3), Note(frequency: 440.00, start: 1.72, place: -0.3),
    Note(frequency: 493.88, start: 2.27, place: 0.2), Note(frequency: 659.26, start: 2.49, place: -0.1),
    Note(frequency: 783.99, start: 3.06, place: 0.4), Note(frequency: 523.25, start: 3.61, place: -0.4),
    Note(frequency: 440.00, start: 3.94, place: 0.0), Note(frequency: 392.00, start: 4.58, place: 0.2),
  ]
  private static let knocks: [Float] = [0.21, 0.97, 1.44, 2.63, 2.78, 3.49, 4.27, 4.86]

  /// What is heard at a time of the moment, in seconds.
  func sample(at time: Float) -> (left: Float, right: Float) {
    var (left, right) = lapping(time)
    for (notes, tone, loudness) in [(Self.chord, swelling, Float(0.16)), (Self.melody, plucked, 0.20)] {
      for note in notes where time > note.start {
        let value = tone(note.frequency, time - note.start) * loudness
        left += value * (1 - note.place) * 0.5
        right += value * (1 + note.place) * 0.5
      }
    }
    let knock = knocking(time)
    return (left + 0.6 * knock, right + knock)
  }

  private func swelling(_ frequency: Float, _ age: Float) -> Float {
    let swell = smoothstep(0, 0.9, age) * exp(-0.32 * age)
    let vibrato = 0.0009 * sin(2 * .pi * 4.6 * age) * smoothstep(0.8, 2, age)
    let phase = 2 * Float.pi * frequency * (age + vibrato)
    // Odd harmonics make it a reed more than a string; a detuned twin makes it float.
    let reed = sin(phase) + 0.22 * sin(2 * phase) + 0.13 * sin(3 * phase) + 0.04 * sin(5 * phase)
    let twin = 0.7 * sin(phase * 1.0021 + 0.6) + 0.14 * sin(2.0042 * phase)
    return swell * (reed + twin) * 0.55
  }

  private func plucked(_ frequency: Float, _ age: Float) -> Float {
    let phase = 2 * Float.pi * frequency * age
    // A tongue of metal: its overtones are no harmonics, and are gone first.
    let tongue = sin(phase) * exp(-3.2 * age) + 0.20 * sin(5.4 * phase) * exp(-16 * age)
    return tongue * smoothstep(0, 0.004, age)
  }

  private func lapping(_ time: Float) -> (left: Float, right: Float) {
    let swell = 0.55 + 0.45 * sin(2 * .pi * 0.31 * time - 1.2)
    let place = time / 0.0015
    let left = Self.water.fractal(place, 0.5, octaves: 3) - 0.5
    let right = Self.water.fractal(place, 40.5, octaves: 3) - 0.5
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
