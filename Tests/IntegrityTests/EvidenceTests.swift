import Crypto
import Definitions
import Integrity
import Model
import Store
import Testing

@Suite("Findings about blobs and sets")
struct EvidenceTests {
  private let hash = SHA256.digest(of: [1, 2, 3])
  private let post = Subject.post(PublicID.now())

  private func use(_ role: Role = .composed, sources: Bool = true) -> BlobUse {
    BlobUse(role: role, subject: post, hasSources: sources)
  }

  private func codes(_ evidence: BlobEvidence, _ uses: BlobUse...) -> [String] {
    #expect(evidence.isSuspect == !evidence.findings(uses: uses).isEmpty)
    return evidence.findings(uses: uses).map { "\($0.code.rawValue) \($0.severity.rawValue)" }
  }

  @Test("a blob is healthy with intact content either in the file or in the row")
  func healthy() {
    #expect(codes(BlobEvidence(hash: hash, bytes: 3, inline: .absent, file: .intact(bytes: 3)), use()).isEmpty)
    #expect(codes(BlobEvidence(hash: hash, bytes: 3, inline: .intact(bytes: 3), file: .absent), use()).isEmpty)
  }

  @Test("a damaged output can be made again if its sources are kept, and is lost otherwise")
  func outputs() {
    let missing = BlobEvidence(hash: hash, bytes: 3, inline: .absent, file: .absent)
    #expect(codes(missing, use()) == ["blob_missing damaged"])
    #expect(codes(missing, use(sources: false)) == ["blob_missing lost"])
    #expect(codes(missing, use(), use(sources: false)) == ["blob_missing lost"])
    let corrupt = BlobEvidence(hash: hash, bytes: 3, inline: .absent, file: .wrong("4 bytes"))
    #expect(codes(corrupt, use()) == ["blob_corrupt damaged"])
    let inline = BlobEvidence(hash: hash, bytes: 3, inline: .wrong("4 bytes"), file: .absent)
    #expect(codes(inline, use()) == ["inline_corrupt damaged"])
    #expect(corrupt.findings(uses: [use()]).first?.subjects == [post])
  }

  @Test("if only one of file and row is intact, the other can be repaired")
  func bothLocations() {
    let file = BlobEvidence(hash: hash, bytes: 3, inline: .intact(bytes: 3), file: .wrong("4 bytes"))
    #expect(codes(file, use(sources: false)) == ["blob_corrupt fault"])
    let inline = BlobEvidence(hash: hash, bytes: 3, inline: .wrong("4 bytes"), file: .intact(bytes: 3))
    #expect(codes(inline, use(sources: false)) == ["inline_corrupt fault"])
    let length = BlobEvidence(hash: hash, bytes: 9, inline: .absent, file: .intact(bytes: 3))
    #expect(codes(length, use()) == ["blob_size fault"])
  }

  @Test("a damaged source is lost, unless its row has the content; it needs a file even then")
  func sources() {
    let corrupt = BlobEvidence(hash: hash, bytes: 3, inline: .absent, file: .wrong("4 bytes"), isSource: true)
    #expect(codes(corrupt, use(.sourceFront)) == ["source_corrupt lost"])
    let missing = BlobEvidence(hash: hash, bytes: 3, inline: .intact(bytes: 3), file: .absent, isSource: true)
    #expect(codes(missing, use(.sourceFront)) == ["source_missing fault"])
    let beside = BlobEvidence(hash: hash, bytes: 3, inline: .intact(bytes: 3), file: .wrong("4 bytes"), isSource: true)
    #expect(codes(beside, use(.sourceFront)) == ["source_corrupt fault"])
    let neither = BlobEvidence(hash: hash, bytes: 3, inline: .wrong("4 bytes"), file: .absent, isSource: true)
    #expect(codes(neither, use(.sourceFront)) == ["source_missing lost", "inline_corrupt lost"])
  }

  @Test("a damaged file that only the quarantine needs is lost, and the finding names the quarantined inputs")
  func quarantined() {
    let missing = BlobEvidence(hash: hash, bytes: 3, inline: .absent, file: .absent, isSource: true)
    let use = BlobUse(role: .sourcePhoto, quarantinedAs: hash)
    #expect(codes(missing, use) == ["source_missing lost"])
    let finding = missing.findings(uses: [use]).first
    #expect(finding?.detail == "its file does not exist; quarantined as \(hash.hex.prefix(12))")
    #expect(finding?.subjects == [])
  }

  @Test("an unreferenced blob is an orphan, intact or not; a released one gives no finding")
  func unreferenced() {
    let orphan = BlobEvidence(hash: hash, bytes: 3, inline: .absent, file: .wrong("-"), isUnreferenced: true)
    #expect(codes(orphan) == ["blob_unreferenced litter"])
    let released = BlobEvidence(
      hash: hash, bytes: 3, inline: .absent, file: .absent, isUnreferenced: true, isReleased: true)
    #expect(codes(released).isEmpty)
  }

  @Test("damaged outputs are lost if their sources are lost")
  func escalation() {
    let finding = Finding(.blobMissing, .blob(hash), .damaged, detail: "-", subjects: [post])
    #expect(finding.escalated(lostSourcesOf: [post]).severity == .lost)
    #expect(finding.escalated(lostSourcesOf: [.image(post.id)]).severity == .damaged)
    let orphan = Finding(.orphanFile, .file("-"), .orphan, detail: "-", subjects: [post])
    #expect(orphan.escalated(lostSourcesOf: [post]).severity == .orphan)
  }

  private func member(_ role: Role, place: Int = 0, bytes: Int64 = 3, blobBytes: Int64? = 3) -> SetMember {
    SetMember(id: PublicID.now(), role: role, place: place, blob: hash, bytes: bytes, blobBytes: blobBytes)
  }

  private func codes(_ evidence: SetEvidence) -> [String] {
    evidence.findings.map { "\($0.code.rawValue) \($0.severity.rawValue)" }
  }

  @Test("a set must be referenced, replaced or kept")
  func sets() {
    let id = PublicID.now()
    let members = [member(.composed)]
    let current = SetReferrer(subject: post, isSource: false)
    #expect(codes(SetEvidence(id: id, referrers: [current], members: members)).isEmpty)
    #expect(codes(SetEvidence(id: id, isRetired: true, referrers: [], members: members)).isEmpty)
    #expect(codes(SetEvidence(id: id, isKept: true, referrers: [], members: members)).isEmpty)
    #expect(codes(SetEvidence(id: id, referrers: [], members: members)) == ["set_unreferenced litter"])
    #expect(
      codes(SetEvidence(id: id, isRetired: true, referrers: [current], members: members)) == [
        "set_retired_in_use fault"
      ])
    #expect(codes(SetEvidence(id: id, referrers: [current], members: [])) == ["set_empty damaged"])
    let sources = SetReferrer(subject: post, isSource: true, isMoment: true)
    #expect(codes(SetEvidence(id: id, referrers: [sources], members: [])) == ["set_empty lost"])
    #expect(
      codes(SetEvidence(id: id, referrers: [sources], members: [member(.sourceFront)])) == ["asset_missing lost"])
  }

  @Test("an asset and its blob have the same length")
  func members() {
    let current = SetReferrer(subject: post, isSource: false)
    let sized = SetEvidence(id: PublicID.now(), referrers: [current], members: [member(.composed, bytes: 4)])
    #expect(codes(sized) == ["asset_size fault"])
    let withoutRow = SetEvidence(id: PublicID.now(), referrers: [current], members: [member(.composed, blobBytes: nil)])
    #expect(codes(withoutRow) == ["blob_row_missing damaged"])
  }

  @Test("a set has all assets that its definition makes, for each photo")
  func expected() throws {
    let moment = try Definitions.take5Post()
    let current = SetReferrer(subject: post, isSource: false, photos: 2)
    let all = moment.madeRoles.map { member($0) }
    #expect(Set(moment.madeRoles).isSuperset(of: [.composed, .clipFront, .poster, .preview, .thumbnailBack]))
    let complete = SetEvidence(id: PublicID.now(), referrers: [current], members: all, expected: ExpectedAssets(moment))
    #expect(codes(complete).isEmpty)
    let incomplete = SetEvidence(
      id: PublicID.now(), referrers: [current], members: all.filter { $0.role != .poster },
      expected: ExpectedAssets(moment))
    #expect(codes(incomplete) == ["asset_missing damaged"])
    #expect(incomplete.findings.first?.detail == "it lacks poster")

    let photos = try #require(try Definitions.photo("photo-post"))
    let variants = photos.plan.outputs.map { member($0) }
    let one = SetEvidence(
      id: PublicID.now(), referrers: [current], members: variants, expected: ExpectedAssets(photos))
    #expect(one.findings.first?.detail.contains("photo.large of photo 1") == true)
    // Only an animation has a preview.
    var animated = photos
    animated.preview = PhotoPreview(longEdge: 480, quality: 60)
    #expect(animated.plan.outputs.count == variants.count + 1 && ExpectedAssets(animated) == ExpectedAssets(photos))
  }

  @Test("each built-in definition for clips makes all roles of its outputs")
  func madeRoles() throws {
    for definition in [try Definitions.take5Post(), try Definitions.markerVideo()] {
      #expect(definition.madeRoles == definition.outputs.roles, "\(definition.name)")
    }
  }

  @Test("properties differ by type, by size and by a duration beyond the tolerance")
  func properties() {
    let stored = MediaProperties(type: "video/mp4", width: 10, height: 20, duration: 5)
    #expect(MediaProperties(type: "video/mp4", width: 10, height: 20, duration: 5.03).differences(from: stored).isEmpty)
    let found = MediaProperties(type: "image/jpeg", width: 20, height: 10, duration: 4)
    #expect(found.differences(from: stored).count == 3)
    #expect(MediaProperties(type: "video/mp4").differences(from: stored).isEmpty)
  }
}
