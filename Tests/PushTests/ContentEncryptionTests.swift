import Push
import Testing

@Suite("Encryption of Web Push messages")
struct ContentEncryptionTests {
  // RFC 8291, appendix A.
  private static let publicKey = bytes(
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
  private static let secret = bytes("BTBZMqHH6r4Tts7J_aSIgg")
  private static let salt = bytes("DGv6ra1nlYgDCS1FRnbzlw")
  private static let key = PrivateKey(scalar: bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))

  private static func bytes(_ text: String) -> [UInt8] { Base64URL.bytes(of: text) ?? [] }

  @Test("the example of RFC 8291 is encrypted to the bytes that stand there")
  func example() throws {
    let key = try #require(Self.key)
    let body = ContentEncryption.body(
      Array("When I grow up, I want to be a watermelon".utf8), publicKey: Self.publicKey, secret: Self.secret, key: key,
      salt: Self.salt)
    #expect(
      Base64URL.text(of: body ?? [])
        == "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl"
        + "7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
  }

  @Test("a body has at most 4,096 bytes")
  func bounds() throws {
    let key = try #require(Self.key)
    func count(_ length: Int) -> Int? {
      let message = [UInt8](repeating: 0x61, count: length)
      return ContentEncryption.body(
        message, publicKey: Self.publicKey, secret: Self.secret, key: key, salt: Self.salt)?.count
    }
    #expect(count(ContentEncryption.maxMessageBytes) == 4096)
    #expect(count(ContentEncryption.maxMessageBytes + 1) == nil)
  }

  @Test("a subscription has a point on the curve, 16 secret bytes and an https URL")
  func subscriptions() throws {
    let (point, auth) = (Base64URL.text(of: Self.publicKey), Base64URL.text(of: Self.secret))
    var offCurve = Self.publicKey
    offCurve[64] ^= 1
    #expect(throws: Never.self) {
      try Device.Subscription(endpoint: "https://push.example.net/a?b=1", p256dh: point + "=", auth: auth)
    }
    let refused = [
      ("http://push.example.net/a", point, auth), ("https://a@push.example.net/a", point, auth),
      ("https://push.example.net:0/", point, auth), ("https:///a", point, auth),
      ("https://push.example.net/a#b", point, auth),
      ("https://push.example.net/a", Base64URL.text(of: offCurve), auth), ("https://push.example.net/a", "", auth),
      ("https://push.example.net/a", String(point.dropLast(4)), auth), ("https://push.example.net/a", point, "AAAA"),
    ]
    for (endpoint, p256dh, auth) in refused {
      let error = #expect(throws: PushError.self) {
        try Device.Subscription(endpoint: endpoint, p256dh: p256dh, auth: auth)
      }
      #expect(error?.code == .invalidDevice)
    }
  }
}
