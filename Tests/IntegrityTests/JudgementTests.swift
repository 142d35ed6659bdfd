import Crypto
import Definitions
import Integrity
import Model
import Store
import Testing

@Suite("Judgement of what was found")
struct JudgementTests {
  private let hash = SHA256.digest(of: [1, 2, 3])
  private let post = Subject.post(PublicID.now())

  private func use(_ role: Role = .composed, sources: Bool = true) -> BlobUse {
    BlobUse(role: role, subject: post, hasSources: sources)
  }

  private func codes(_ evidence: BlobEvidence, _ uses: BlobUse...) -> [String] {
    #expect(evidence.isSuspect == !evidence.findings(uses: uses).isEmpty)
    return evidence.findings(uses: uses).map { "\($0.code.rawValue) \($0.severity.rawValue)" }
  }

  @Test("bytes are right in one place: the file, or the row")
  func healthy() {
    #expect(codes(BlobEvidence(hash: hash, bytes: 3, inline: .absent, file: .whole(bytes: 3)), use()).isEmpty)
    #expect(codes(BlobEvidence(hash: hash, bytes: 3, inline: .whole(bytes: 3), file: .absent), use()).isEmpty)
  }

  @Test("an output that is damaged is made again if its sources are kept, and lost otherwise")
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

  @Test("where one of two places is right the other is put right by it")
  func bothPlaces() {
    let file = BlobEvidence(hash: hash, bytes: 3, inline: .whole(bytes: 3), file: .wrong("4 bytes"))
    #expect(codes(file, use(sources: false)) == ["blob_corrupt fault"])
    let inline = BlobEvidence(hash: hash, bytes: 3, inline: .wrong("4 bytes"), file: .whole(bytes: 3))
    #expect(codes(inline, use(sources: false)) == ["inline_corrupt fault"])
    let length = BlobEvidence(hash: hash, bytes: 9, inline: .absent, file: .whole(bytes: 3))
    #expect(codes(length, use()) == ["blob_size fault"])
  }

  @Test("a submission's file is lost when it is damaged, and must be a file wherever else its bytes lie")
  func sources() {
    let corrupt = BlobEvidence(hash: hash, bytes: 3, inline: .absent, file: .wrong("4 bytes"), isSource: true)
    #expect(codes(corrupt, use(.sourceFront)) == ["source_corrupt lost"])
    let missing = BlobEvidence(hash: hash, bytes: 3, inline: .whole(bytes: 3), file: .absent, isSource: true)
    #expect(codes(missing, use(.sourceFront)) == ["source_missing lost"])
  }

  @Test("what nothing names is litter, whatever its bytes are; what waits to be collected is no finding")
  func unreferenced() {
    let loose = BlobEvidence(hash: hash, bytes: 3, inline: .absent, file: .wrong("-"), isUnreferenced: true)
    #expect(codes(loose) == ["blob_unreferenced litter"])
    let released = BlobEvidence(
      hash: hash, bytes: 3, inline: .absent, file: .absent, isUnreferenced: true, isReleased: true)
    #expect(codes(released).isEmpty)
  }

  @Test("what would be made of lost sources is lost with them")
  func settling() {
    let finding = Finding(.blobMissing, .blob(hash), .damaged, detail: "-", subjects: [post])
    #expect(finding.settled(lost: [post]).severity == .lost)
    #expect(finding.settled(lost: [.image(post.id)]).severity == .damaged)
    let litter = Finding(.orphanFile, .file("-"), .litter, detail: "-", subjects: [post])
    #expect(litter.settled(lost: [post]).severity == .litter)
  }

  private func member(_ role: Role, place: Int = 0, bytes: Int64 = 3, blobBytes: Int64? = 3) -> SetMember {
    SetMember(id: PublicID.now(), role: role, place: place, blob: hash, bytes: bytes, blobBytes: blobBytes)
  }

  private func codes(_ evidence: SetEvidence) -> [String] {
    evidence.findings.map { "\($0.code.rawValue) \($0.severity.rawValue)" }
  }

  @Test("a set is somebody's, or replaced, or kept")
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
    let brought = SetReferrer(subject: post, isSource: true, isMoment: true)
    #expect(codes(SetEvidence(id: id, referrers: [brought], members: [])) == ["set_empty lost"])
    #expect(
      codes(SetEvidence(id: id, referrers: [brought], members: [member(.sourceFront)])) == ["asset_missing lost"])
  }

  @Test("an asset fits its blob")
  func members() {
    let current = SetReferrer(subject: post, isSource: false)
    let sized = SetEvidence(id: PublicID.now(), referrers: [current], members: [member(.composed, bytes: 4)])
    #expect(codes(sized) == ["asset_size fault"])
    let rowless = SetEvidence(id: PublicID.now(), referrers: [current], members: [member(.composed, blobBytes: nil)])
    #expect(codes(rowless) == ["blob_row_missing damaged"])
  }

  @Test("a set has all that its definition makes, of each photo")
  func expected() throws {
    let moment = try Definitions.take5Post()
    let current = SetReferrer(subject: post, isSource: false, photos: 2)
    let all = moment.madeRoles.map { member($0) }
    #expect(Set(moment.madeRoles).isSuperset(of: [.composed, .clipFront, .poster, .preview, .thumbnailBack]))
    let whole = SetEvidence(id: PublicID.now(), referrers: [current], members: all, expected: ExpectedAssets(moment))
    #expect(codes(whole).isEmpty)
    let less = SetEvidence(
      id: PublicID.now(), referrers: [current], members: all.filter { $0.role != .poster },
      expected: ExpectedAssets(moment))
    #expect(codes(less) == ["asset_missing damaged"])
    #expect(less.findings.first?.detail == "it lacks poster")

    let photos = try #require(try Definitions.photo("photo-post"))
    let variants = photos.plan.outputs.map { member($0) }
    let one = SetEvidence(
      id: PublicID.now(), referrers: [current], members: variants, expected: ExpectedAssets(photos))
    #expect(one.findings.first?.detail.contains("photo.large of photo 1") == true)
  }

  @Test("every built-in definition makes all the roles that it names")
  func madeRoles() throws {
    for definition in [try Definitions.take5Post(), try Definitions.markerVideo()] {
      #expect(definition.madeRoles == definition.outputs.roles, "\(definition.name)")
    }
  }

  @Test("properties differ by type, by size and by a length beyond the ticks of a container")
  func properties() {
    let told = MediaProperties(type: "video/mp4", width: 10, height: 20, duration: 5)
    #expect(MediaProperties(type: "video/mp4", width: 10, height: 20, duration: 5.03).differences(from: told).isEmpty)
    let found = MediaProperties(type: "image/jpeg", width: 20, height: 10, duration: 4)
    #expect(found.differences(from: told).count == 3)
    #expect(MediaProperties(type: "video/mp4").differences(from: told).isEmpty)
  }
}
