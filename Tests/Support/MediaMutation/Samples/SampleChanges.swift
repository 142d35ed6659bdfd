/// Changes of the samples of a clip, whose tables stay right.
struct SampleChanges {
  /// Another clip, for samples to exchange; nil: there is none.
  let other: SampledMovie?

  func apply(to movie: inout SampledMovie, _ choices: inout Choices) {
    switch choices.below(13) {
    case 0...4: changeUnits(&movie, &choices)
    case 12: changeConfiguration(&movie, &choices)
    case 5, 6: changeAudio(&movie, &choices)
    case 7, 8: changeOrder(&movie, &choices)
    case 9, 10: changeTimes(&movie, &choices)
    default: exchange(&movie, &choices)
    }
  }

  /// Changes the NAL units of one to three access units.
  private func changeUnits(_ movie: inout SampledMovie, _ choices: inout Choices) {
    guard let track = choices.element(of: movie.trackIndices(hasUnits: true)),
      let lengthBytes = movie.tracks[track].lengthBytes
    else { return changeAudio(&movie, &choices) }
    let isHEVC = movie.tracks[track].entry.hasPrefix("h")
    for _ in 0...choices.below(3) {
      // The first access unit decides what a probe sees.
      let count = movie.tracks[track].samples.count
      let index = choices.chance(percent: 25) ? 0 : choices.below(count)
      var unit = AccessUnit(movie.tracks[track].samples[index].bytes, lengthBytes: lengthBytes, isHEVC: isHEVC)
      unit.change(&choices)
      movie.tracks[track].samples[index].bytes = unit.bytes
    }
  }

  /// Changes the parameter sets of the decoder configuration, or of audio its descriptor.
  private func changeConfiguration(_ movie: inout SampledMovie, _ choices: inout Choices) {
    var tree = BoxTree(movie.header)
    let paths = ["avcC", "hvcC", "esds"].flatMap { tree.paths(to: $0) }
    guard let path = choices.element(of: paths) else { return changeTimes(&movie, &choices) }
    // The profile and the size of lengths stand in front.
    choices.flipBits(in: &tree[path].fields, min(5, tree[path].fields.count)..<tree[path].fields.count)
    movie.header = tree.boxes
  }

  /// Changes frames of audio, or of any format without NAL units.
  private func changeAudio(_ movie: inout SampledMovie, _ choices: inout Choices) {
    guard let track = choices.element(of: movie.trackIndices(hasUnits: false)) else { return }
    for _ in 0...choices.below(4) {
      guard let index = choices.index(in: movie.tracks[track].samples) else { return }
      var bytes = movie.tracks[track].samples[index].bytes
      switch choices.below(5) {
      // The first bytes have the elements and window sequences of a frame of AAC (ISO/IEC 14496-3, 4.4.2).
      case 0, 1: choices.flipBits(in: &bytes, 0..<8)
      case 2: choices.flipBits(in: &bytes, 0..<bytes.count)
      case 3: bytes.removeLast(choices.below(bytes.count))
      default: bytes = choices.bytes(1 + choices.below(200))
      }
      movie.tracks[track].samples[index].bytes = bytes
    }
  }

  /// Removes, repeats or moves samples.
  private func changeOrder(_ movie: inout SampledMovie, _ choices: inout Choices) {
    guard let track = choices.index(in: movie.tracks) else { return }
    var samples = movie.tracks[track].samples
    guard let index = choices.index(in: samples) else { return }
    switch choices.below(6) {
    case 0 where samples.count > 1: samples.remove(at: index)
    case 1: samples.insert(samples[index], at: choices.below(samples.count + 1))
    case 2: samples.swapAt(index, choices.below(samples.count))
    case 3: samples.removeLast(samples.count - index - 1)
    case 4: samples[index].isSync.toggle()
    default: samples[index...].reverse()
    }
    movie.tracks[track].samples = samples
  }

  private func changeTimes(_ movie: inout SampledMovie, _ choices: inout Choices) {
    guard let track = choices.index(in: movie.tracks) else { return }
    for _ in 0...choices.below(3) {
      guard let index = choices.index(in: movie.tracks[track].samples) else { return }
      var sample = movie.tracks[track].samples[index]
      if choices.chance(percent: 50) {
        sample.duration =
          choices.chance(percent: 70)
          ? Int64(choices.below(Int(2 * max(1, sample.duration))))
          : Int64(choices.wrongValue(for: UInt64(sample.duration), width: 4))
      } else {
        let delay = choices.wrongValue(for: UInt64(bitPattern: sample.delay), width: 4)
        sample.delay = Int64(Int32(truncatingIfNeeded: delay))
      }
      movie.tracks[track].samples[index] = sample
    }
  }

  /// Takes samples from the other clip, or all samples of a track: the front of one file with the media of another.
  private func exchange(_ movie: inout SampledMovie, _ choices: inout Choices) {
    guard let other, let track = choices.index(in: movie.tracks) else { return changeOrder(&movie, &choices) }
    let hasUnits = movie.tracks[track].lengthBytes != nil
    guard let source = choices.element(of: other.trackIndices(hasUnits: hasUnits)) else { return }
    let samples = other.tracks[source].samples
    if choices.chance(percent: 40) {
      movie.tracks[track].samples = samples
    } else {
      for _ in 0...choices.below(4) {
        guard let index = choices.index(in: movie.tracks[track].samples) else { return }
        movie.tracks[track].samples[index].bytes = samples[choices.below(samples.count)].bytes
      }
    }
  }
}
