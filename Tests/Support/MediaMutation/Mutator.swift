import BoxTesting

/// Makes mutations of a corpus: files that are a function of the seed and of the corpus.
package struct Mutator: Sendable {
  private let corpus: Corpus
  /// The share of mutations that start from field media, in percent.
  private let fieldPercent: Int

  package init(_ corpus: Corpus, fieldPercent: Int = 10) {
    self.corpus = corpus
    self.fieldPercent = fieldPercent
  }

  /// The mutation for a parser.
  package func file(seed: UInt64) -> (bytes: [UInt8], isPhoto: Bool) {
    var choices = Choices(seed: seed)
    let isPhoto = choices.chance(percent: 45)
    return (isPhoto ? photo(&choices) : clip(&choices), isPhoto)
  }

  /// The mutation for the media process.
  package func job(seed: UInt64) -> MutatedJob {
    var choices = Choices(seed: seed)
    switch choices.below(100) {
    case 0..<50:
      var clips = [clip(&choices), choices.chance(percent: 30) ? clip(&choices) : original(&choices).bytes]
      if choices.chance(percent: 50) { clips.swapAt(0, 1) }
      return .moment(front: clips[0], back: clips[1], isFrontForeground: choices.chance(percent: 50))
    case 50..<65: return .clip(clip(&choices))
    default: return .photo(photo(&choices), definition: choices.below(5))
    }
  }

  private func original(_ choices: inout Choices) -> Source {
    choices.element(of: corpus.clips) ?? Source("", [])
  }

  private func source(_ synthetic: [Source], _ field: [Source], _ choices: inout Choices) -> Source {
    let isField = choices.chance(percent: fieldPercent) && !field.isEmpty
    return choices.element(of: isField ? field : synthetic) ?? Source("", [])
  }
}

extension Mutator {
  private func clip(_ choices: inout Choices) -> [UInt8] {
    let source = source(corpus.clips, corpus.fieldClips, &choices)
    let other = self.source(corpus.clips, corpus.fieldClips, &choices)
    let level = choices.below(100)
    if level < 88, var elements = source.elements {
      for _ in 0...choices.below(2) { ElementChanges(other: other.elements).apply(to: &elements, &choices) }
      return elements.bytes
    }
    if level < 45, var movie = source.movie {
      for _ in 0...choices.below(2) { SampleChanges(other: other.movie).apply(to: &movie, &choices) }
      guard choices.chance(percent: 12) else { return movie.bytes }
      return movie.fragmented(samplesPerFragment: 1 + choices.below(8))
    }
    if level < 88, var tree = source.tree {
      for _ in 0...choices.below(2) { BoxChanges(other: other.tree).apply(to: &tree, &choices) }
      return tree.bytes
    }
    var bytes = source.bytes
    BlindChanges.apply(to: &bytes, &choices)
    return bytes
  }

  private func photo(_ choices: inout Choices) -> [UInt8] {
    let source = source(corpus.photos, corpus.fieldPhotos, &choices)
    let other = self.source(corpus.photos, corpus.fieldPhotos, &choices)
    if choices.chance(percent: 85) {
      let changes = 1 + choices.below(2)
      if var jpeg = source.jpeg {
        for _ in 0..<changes { jpeg.change(&choices, other: other.jpeg) }
        return jpeg.bytes
      }
      if var chunks = source.chunks {
        for _ in 0..<changes { chunks.change(&choices, other: other.chunks) }
        return chunks.bytes
      }
      if var gif = source.gif {
        for _ in 0..<changes { gif.change(&choices, other: other.gif) }
        return gif.bytes
      }
      if var tree = source.tree {
        for _ in 0..<changes { HEIFChanges(other: other.tree).apply(to: &tree, &choices) }
        return tree.bytes
      }
    }
    var bytes = source.bytes
    BlindChanges.apply(to: &bytes, &choices)
    return bytes
  }
}

/// The submission of one mutation.
package enum MutatedJob: Sendable, Hashable {
  case moment(front: [UInt8], back: [UInt8], isFrontForeground: Bool)
  case clip([UInt8])
  /// - Parameter definition: the index of a definition of photos.
  case photo([UInt8], definition: Int)

  /// The files by the names under which they are kept.
  package var files: [(name: String, bytes: [UInt8])] {
    switch self {
    case .moment(let front, let back, _): [("front", front), ("back", back)]
    case .clip(let bytes): [("clip", bytes)]
    case .photo(let bytes, _): [("photo", bytes)]
    }
  }
}
