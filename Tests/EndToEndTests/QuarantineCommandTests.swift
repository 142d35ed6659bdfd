import Crypto
import Definitions
import FoundationEssentials
import Glibc
import HTTPClient
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("Quarantine commands", .tags(.process), .timeLimit(.minutes(60)))
struct QuarantineCommandTests {
  private func quarantine(_ service: Service, _ arguments: String...) async throws -> Take5Command {
    try await Take5Command.run(["quarantine"] + arguments + ["--data", service.data])
  }

  private func bytes(_ path: String) throws -> [UInt8] { try Descriptor(reading: path).contents() }

  @Test("media that crash the media process twice are shown, exported and refused, and accepted after the release")
  func life() async throws {
    let service = try await Service(workers: 1, EmptyStore.withoutLooks())
    #expect(try await quarantine(service, "list").output == "nothing is quarantined\n")
    // Large frames, so that composing takes long enough.
    let front = try Clips.write(
      MarkedClip(.red, width: 1080, height: 1920, tone: .init(440)), "front.mp4", in: service.folder)
    let back = try Clips.write(
      MarkedClip(.blue, width: 1080, height: 1920, tone: .init(1000)), "back.mp4", in: service.folder)
    let clips = try [front, back].map { SHA256.digest(of: try bytes($0)) }
    let hash = SHA256.digest(of: clips.flatMap(\.bytes)).hex
    await service.process.whenItLogs("composing", times: 2) { signalMedia(of: $0, SIGSEGV) }
    let post = try await service.submitted(front: front, back: back, foreground: .back).id
    #expect(await service.process.waitForLog("post rejected"), "\(service.process.log)")
    #expect(try await service.post(post).reasons.map(\.code) == [.decoderCrashed])

    let list = try await quarantine(service, "list")
    #expect(list.output.hasPrefix("HASH ") && list.output.contains("\(hash.prefix(12))  moment"), "\(list.output)")
    let json = try await quarantine(service, "list", "--json")
    let report = try JSONDecoder().decode(API.Value.self, from: Data(json.output.utf8))
    #expect(report["hash"]?.text == hash && report["code"]?.text == "decoder_crashed")
    #expect(report["foreground"]?.text == "back" && report["definition"]?["name"]?.text == "take5-post")
    let shown = try await quarantine(service, "show", String(hash.prefix(8)).uppercased())
    #expect(shown.status == 0 && shown.output.contains(hash) && shown.output.contains("take5 compose "), "\(shown)")
    for clip in clips { #expect(shown.output.contains(clip.hex)) }

    // The files stay in the store, and belong to the quarantine.
    #expect(try service.blobFiles() == 2)
    let verified = try await Take5Command.run(["verify", "--data", service.data])
    #expect(verified.status == 0, "\(verified.output)")
    let folder = "\(service.folder.path)/evil"
    let exported = try await quarantine(service, "export", String(hash.prefix(8)), "--to", folder)
    #expect(exported.status == 0, "\(exported.errors)")
    #expect(try bytes("\(folder)/front") == bytes(front) && bytes("\(folder)/back") == bytes(back))
    let definition = try JSON.decode(Definition.self, from: bytes("\(folder)/definition.json"))
    var expected = try Definitions.small()
    expected.look = .notMade
    #expect(definition == expected)
    #expect(String(decoding: try bytes("\(folder)/quarantine.json"), as: UTF8.self).contains(hash))
    let again = try await quarantine(service, "export", hash, "--to", folder)
    #expect(again.status == 74 && again.errors.contains("already exists"), "\(again.errors)")
    // The clips are intact: the signals came from the test.
    let words = exported.output.split(whereSeparator: \.isWhitespace).map(String.init)
    #expect(words.starts(with: ["take5", "compose"]) && words.contains("back"), "\(exported.output)")
    let composed = try await Take5Command.run(Array(words.dropFirst()))
    #expect(composed.status == 0, "\(composed.errors)")

    let refused = try await service.submit(front: front, back: back)
    #expect(refused.status == 422)
    #expect(try JSON.decode(ProblemResponse.self, from: refused.body).reasons?.map(\.code) == [.quarantined])
    let released = try await quarantine(service, "release", hash)
    #expect(released.status == 0 && released.output == "\(hash) is released\n", "\(released.errors)")
    #expect(try await quarantine(service, "release", hash).status == 66)
    _ = try await service.submitted(front: front, back: back)
    #expect(await service.process.waitForLog("post published"), "\(service.process.log)")
    #expect(try await service.count("SELECT count(*) FROM media_crash") == 0)
    #expect(try await service.stop() == 0)
  }

  @Test("a beginning of a hash that is too short or ambiguous is a usage error, which lists the matches")
  func prefixes() async throws {
    let service = try await Service(workers: 0)
    try await service.execute(
      """
      INSERT INTO definition (hash, name, version, body) VALUES (sha256('definition'), 'photo-post', 1, '{}');
      INSERT INTO media_crash (inputs, crashes, last_error, kind, code, definition, version, quarantined_at)
      SELECT decode(repeat('ab', 31) || ending, 'hex'), 2, 'by the test', 'photo', 'decoder_crashed',
        sha256('definition'), '0.1.0', now()
      FROM unnest(ARRAY['01', '02']) AS ending
      """)
    let hashes = ["01", "02"].map { String(repeating: "ab", count: 31) + $0 }
    let ambiguous = try await quarantine(service, "show", "abababab")
    #expect(ambiguous.status == 64 && hashes.allSatisfy { ambiguous.errors.contains($0) }, "\(ambiguous.errors)")
    for text in ["abababa", "abababax", hashes[0] + "0"] {
      #expect(try await quarantine(service, "show", text).status == 64, "\(text)")
    }
    #expect(try await quarantine(service, "show", "00000000").status == 66)
    #expect(try await quarantine(service, "export", hashes[0]).status == 64)
    #expect(try await quarantine(service, "release", hashes[0]).status == 0)
    #expect(try await quarantine(service, "show", "abababab").output.contains(hashes[1]))
    try await service.stop()
  }
}
