internal import SyntheticMedia

/// One of the phone's microphones: what it makes of what is heard.
struct Microphone {
  /// How loud everything arrives.
  let gain: Float
  /// A camera that looks the other way hears left on the right.
  let isMirrored: Bool
  /// The hiss of its own.
  let hiss: Noise

  /// What it records from a time of the moment on, in seconds.
  func record(_ evening: Evening, from start: Float, seconds: Float) -> StereoAudio {
    StereoAudio(seconds: Double(seconds)) { time in
      let heard = evening.sample(at: start + time)
      let place = time / 0.0004
      let left = (isMirrored ? heard.right : heard.left) * gain + (hiss.smooth(place, 0.5) - 0.5) * 0.008
      let right = (isMirrored ? heard.left : heard.right) * gain + (hiss.smooth(place, 9.5) - 0.5) * 0.008
      // A cut without a click.
      let cut = smoothstep(0, 0.02, time) * smoothstep(seconds, seconds - 0.15, time)
      return (left * cut, right * cut)
    }
  }
}
